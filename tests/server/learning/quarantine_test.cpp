#include "server/learning/health_store.hpp"
#include "server/learning/quarantine_watch.hpp"
#include "tests/server/centers/support/network_data.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using test::TestStore;
using ::testing::HasSubstr;

/// A quarantined center with two unit types of one unit each, which may be probed at once.
class Quarantine : public testing::Test {
  protected:
    Quarantine()
    {
        operators_.seed({test::simple_operator("op1")}).value();
        test::add_center(store_, "alpha", {{test::unit_type("u1", 1, {"op1"}), test::unit_type("u2", 1, {"op1"})}, {}});
        store_.sql(
            "UPDATE center SET quarantined_at = now() - interval '3 hours', quarantine_reason = '5 of 5 failed'");
    }
    ~Quarantine() override { store_.database().stop(); }

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
    std::string obstacle() const { return store_.sql("SELECT quarantine_obstacle FROM center"); }

    static QuarantineRule rule()
    {
        QuarantineRule rule;
        rule.least_failures = 0; // nobody is judged
        rule.probe_pause = 0s;
        return rule;
    }

    TestStore store_;
    OperatorsService operators_{store_.database()};
    test::FakeJobWriter writer_;
    SystemClock clock_;
    Metrics metrics_;
    HealthProbes probes_{operators_, writer_};
    QuarantineWatch watch_{probes_, rule(), clock_, metrics_, "fathom"};
};

TEST_F(Quarantine, AProbeHasAnHourAndThenItIsAnothersTurn)
{
    look();
    look();

    EXPECT_EQ(probed(), "u1");
    ASSERT_EQ(writer_.jobs.size(), 1U);
    const std::optional<Timestamp> deadline = writer_.jobs[0].second.deadline;
    ASSERT_TRUE(deadline);
    EXPECT_GT(*deadline, clock_.now() + 59min);
    EXPECT_LE(*deadline, clock_.now() + 60min);

    store_.sql("UPDATE probe_run SET state = 'failed', ended_at = now()");
    look();

    EXPECT_EQ(probed(), "u2");
}

TEST_F(Quarantine, AProbeThatWasPreemptedCountsNeitherWay)
{
    const auto select = [](pqxx::work& transaction) -> Result<std::vector<QuarantinedCenter>> {
        return select_quarantined(transaction);
    };
    look();
    store_.sql("UPDATE probe_run SET state = 'lost', ended_at = now()");
    store_.sql(
        "INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, decided_by, state, outcome) "
        "SELECT 'att_1', job_id, 1, center_id, unit_type_id, 1, 'rep', 'ended', 'node_failure' FROM probe_run");
    const QuarantinedCenter failed = store_.run(select).value().at(0);

    store_.sql("UPDATE attempt SET outcome = 'preempted'");
    const QuarantinedCenter preempted = store_.run(select).value().at(0);

    EXPECT_EQ(failed.bad_probes, 1);
    EXPECT_EQ(preempted.bad_probes, 0);
    EXPECT_EQ(preempted.good_probes, 0);
    EXPECT_EQ(preempted.probe_count, 1) << "the next is another's turn";
    EXPECT_EQ(preempted.last_word_at, failed.last_word_at);
}

TEST_F(Quarantine, AProbeOfOthersIsWaitedForButNoLongerThanAnHour)
{
    look();
    store_.sql("UPDATE probe_run SET cause = 'schedule'");
    look();
    EXPECT_EQ(probed(), "u1");

    store_.sql("UPDATE probe_run SET created_at = now() - interval '61 minutes'");
    look();
    look();

    EXPECT_EQ(probed(), "u1 u2") << "the same probe again would wait as long";
}

TEST_F(Quarantine, UnitTypesThatAreNotToBeHadArePassedOver)
{
    store_.sql(
        "INSERT INTO advance_reservation (id, project, center_id, unit_type_id, unit_count, starts_at, ends_at, "
        "created_by) SELECT 'res_1', 'p', center_id, id, 1, now() - interval '1 hour', now() + interval '1 day', "
        "'t' FROM unit_type WHERE name = 'u1'");
    look();
    EXPECT_EQ(probed(), "u2");

    store_.sql("UPDATE probe_run SET state = 'failed', ended_at = now()");
    store_.sql("INSERT INTO maintenance_window (id, center_id, unit_type_id, starts_at, ends_at, created_by) "
               "SELECT 'mnt_1', center_id, id, now() - interval '1 hour', now() + interval '1 day', 't' "
               "FROM unit_type WHERE name = 'u2'");
    look();

    EXPECT_EQ(probed(), "");
    EXPECT_THAT(obstacle(), HasSubstr("none of its units can be probed now"));
}

TEST_F(Quarantine, SaysOnceThatItsBudgetHasNoRoom)
{
    store_.sql("UPDATE center SET probe_share = 0, version = 1");
    look();
    look();

    EXPECT_EQ(probed(), "");
    EXPECT_THAT(obstacle(), HasSubstr("raise its probe share, or release it"));
    EXPECT_EQ(store_.sql("SELECT version FROM center"), "2");

    store_.sql("UPDATE center SET probe_share = 0.01");
    look();

    EXPECT_EQ(probed(), "u1");
    EXPECT_EQ(obstacle(), "");
}

} // namespace
} // namespace fathom::server
