#include "server/learning/quarantine_watch.hpp"
#include "tests/server/centers/support/network_data.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using test::TestStore;
using ::testing::HasSubstr;

/// Two centers, of which alpha has two unit types. Jobs of type "t" succeed at beta.
class SuspectedCenter : public testing::Test {
  protected:
    SuspectedCenter()
    {
        operators_.seed({test::simple_operator("op1")}).value();
        test::add_center(store_, "alpha", {{test::unit_type("u1", 1, {"op1"}), test::unit_type("u2", 1, {"op1"})}, {}});
        test::add_center(store_, "beta", {{test::unit_type("b1", 1, {"op1"})}, {}});
        end_jobs(1, {.unit_type = "b1", .submitter = "ann", .outcome = "succeeded"});
    }
    ~SuspectedCenter() override { store_.database().stop(); }

    struct Ended {
        std::string unit_type;
        std::string submitter;
        std::string outcome{"failed"};
    };
    /// Jobs that ended a second after their start.
    void end_jobs(std::int64_t count, const Ended& ended)
    {
        store_
            .run([&](pqxx::work& transaction) -> Result<void> {
                for (std::int64_t i = 0; i < count; ++i) {
                    const std::string job = JobId::make().value;
                    const std::string attempt = AttemptId::make().value;
                    transaction.exec_params("INSERT INTO job (id, name, project, job_type, spec, submitted_by) "
                                            "VALUES ($1, 'j', 'p', 't', '{}', $2)",
                                            job, ended.submitter);
                    transaction.exec_params(
                        "INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, state, "
                        "decided_by, dispatched_at, started_at, ended_at, outcome, run_s) "
                        "SELECT $1, $2, 1, center_id, id, 1, 'ended', 'r', now(), now(), now(), $4, 1 "
                        "FROM unit_type WHERE name = $3",
                        attempt, job, ended.unit_type, ended.outcome == "lost" ? "lost" : "exited");
                    transaction.exec_params(
                        "INSERT INTO prediction (attempt_id, job_id, job_type, unit_type_id, unit_count, "
                        "ended_at, outcome) SELECT $1, $2, 't', id, 1, now() - interval '5 seconds', $4 "
                        "FROM unit_type WHERE name = $3",
                        attempt, job, ended.unit_type, ended.outcome);
                }
                return {};
            })
            .value();
    }
    void look()
    {
        store_.run([&](pqxx::work& transaction) { return watch_.look(transaction); }).value();
    }
    /// Unit types with a probe that waits.
    std::string probed() const
    {
        return store_.sql("SELECT coalesce(string_agg(u.name, ' ' ORDER BY u.name), '') FROM probe_run r "
                          "JOIN unit_type u ON u.id = r.unit_type_id WHERE r.state = 'queued'");
    }
    std::string probe_count() const { return store_.sql("SELECT count(*) FROM probe_run"); }
    /// Ends the probe that waits, after it ran at its center.
    void end_probe(const std::string& state)
    {
        store_.sql("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, state, decided_by, "
                   "dispatched_at, ended_at) SELECT 'att_' || id, job_id, 1, center_id, unit_type_id, 1, 'ended', "
                   "'r', now(), now() FROM probe_run WHERE state = 'queued'");
        end_probe_unsent(state);
    }
    void end_probe_unsent(const std::string& state)
    {
        store_.sql("UPDATE probe_run SET state = '" + state + "', ended_at = now() WHERE state = 'queued'");
    }
    std::string quarantined() const
    {
        return store_.sql("SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') FROM center "
                          "WHERE quarantined_at IS NOT NULL");
    }

    TestStore store_;
    OperatorsService operators_{store_.database()};
    test::FakeJobWriter writer_;
    SystemClock clock_;
    Metrics metrics_;
    HealthProbes probes_{operators_, writer_};
    QuarantineWatch watch_{probes_, QuarantineRule{}, clock_, metrics_, "fathom"};
};

TEST_F(SuspectedCenter, IsProbedOnceWhereTheJobsFailed)
{
    end_jobs(5, {.unit_type = "u2", .submitter = "ann"});

    look();
    look();

    EXPECT_EQ(quarantined(), "") << "one submitter alone";
    EXPECT_EQ(probed(), "u2");
    EXPECT_EQ(probe_count(), "1");
    EXPECT_EQ(store_.sql("SELECT cause || ' ' || created_by FROM probe_run"), "quarantine fathom");
    EXPECT_TRUE(writer_.jobs[0].second.deadline);
}

TEST_F(SuspectedCenter, IsClosedWhenItsProbeFails)
{
    end_jobs(5, {.unit_type = "u2", .submitter = "ann"});
    look();

    end_probe("failed");
    look();

    EXPECT_EQ(quarantined(), "alpha");
    EXPECT_THAT(store_.sql("SELECT quarantine_reason FROM center WHERE name = 'alpha'"),
                HasSubstr("5 of 5 attempts failed by its fault within 10 min, and so did a probe"));
}

TEST_F(SuspectedCenter, IsClosedWhenItLosesItsProbe)
{
    end_jobs(5, {.unit_type = "u2", .submitter = "ann", .outcome = "lost"});
    look();

    EXPECT_EQ(quarantined(), "") << "a job may cancel itself in Slurm";
    EXPECT_EQ(probed(), "u2");

    end_probe("lost");
    look();

    EXPECT_EQ(quarantined(), "alpha");
}

TEST_F(SuspectedCenter, NeedsNoProbeWhenJobsWereLostBeforeTheirStart)
{
    end_jobs(5, {.unit_type = "u2", .submitter = "ann", .outcome = "lost"});
    store_.sql("UPDATE attempt SET started_at = NULL WHERE outcome = 'lost'");

    look();

    EXPECT_EQ(quarantined(), "alpha");
}

TEST_F(SuspectedCenter, StaysOpenWithAGoodProbeAndIsProbedAgainLater)
{
    end_jobs(5, {.unit_type = "u2", .submitter = "ann"});
    look();

    end_probe("succeeded");
    look();

    EXPECT_EQ(quarantined(), "");
    EXPECT_EQ(probed(), "") << "two minutes have not passed";

    store_.sql("UPDATE probe_run SET ended_at = now() - interval '3 minutes'");
    look();

    EXPECT_EQ(probed(), "u2");
    EXPECT_EQ(quarantined(), "");

    end_probe("succeeded");
    store_.sql("UPDATE probe_run SET ended_at = now() - interval '3 minutes'");
    look();

    EXPECT_EQ(probed(), "") << "after two good ones it is four minutes";
}

TEST_F(SuspectedCenter, IsNotClosedByAProbeThatFoundNoUnits)
{
    end_jobs(5, {.unit_type = "u2", .submitter = "ann"});
    look();

    end_probe_unsent("failed");
    look();

    EXPECT_EQ(quarantined(), "");
}

TEST_F(SuspectedCenter, IsNotClosedByAProbeOfBeforeTheWindowOrItsRelease)
{
    end_jobs(5, {.unit_type = "u2", .submitter = "ann"});
    look();
    end_probe("failed");
    store_.sql("UPDATE probe_run SET ended_at = now() - interval '11 minutes'");

    look();

    EXPECT_EQ(quarantined(), "");
    EXPECT_EQ(probed(), "u2") << "the suspicion is looked into again";

    end_probe("failed");
    store_.sql("UPDATE probe_run SET created_at = now() - interval '1 minute'");
    store_.sql("UPDATE center SET quarantine_lifted_at = now() - interval '30 seconds'");
    look();

    EXPECT_EQ(quarantined(), "");
}

TEST_F(SuspectedCenter, NeedsNoProbeWhenAllSubmittersMeetTheFailures)
{
    end_jobs(4, {.unit_type = "u2", .submitter = "ann"});
    end_jobs(1, {.unit_type = "u1", .submitter = "bob"});

    look();

    EXPECT_EQ(quarantined(), "alpha");
    EXPECT_EQ(probe_count(), "0");
}

TEST_F(SuspectedCenter, IsNotProbedWhileItIsDrained)
{
    end_jobs(5, {.unit_type = "u2", .submitter = "ann"});
    store_.sql("UPDATE center SET drained = true WHERE name = 'alpha'");

    look();

    EXPECT_EQ(probed(), "");
    EXPECT_EQ(quarantined(), "");
}

} // namespace
} // namespace fathom::server
