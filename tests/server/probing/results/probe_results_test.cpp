#include "server/probing/results/comparison_store.hpp"
#include "server/probing/results/probe_results.hpp"
#include "server/probing/tasks/probe_planning.hpp"
#include "tests/server/probing/probing_fixture.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using test::right_result;
using testing::HasSubstr;

/// One queued run of {op1, op3} on unit type u1.
class ProbeResultsTest : public ProbingFixture {
  protected:
    ProbeResultsTest() : ProbingFixture({"op1", "op3"})
    {
        test::add_center(store_, "alpha", test::golden_catalog());
        const RunOrder order = order_on("alpha/u1", {"op1", "op3"});
        run_ = io_.run(service_.create_runs(expert_, order)).value().runs.front();
        task_ = parse_probe_task(io_.run(service_.get_run(run_.id.value)).value().document).value();
    }

    void end(bool succeeded, const std::string& reason, const std::string& output)
    {
        store_
            .run([&](pqxx::work& transaction) {
                EndedProbeJob ended;
                ended.job = run_.job_id;
                ended.succeeded = succeeded;
                ended.reason = reason;
                ended.stdout_text = output;
                return results_.probe_job_ended(transaction, ended);
            })
            .value();
    }
    ProbeRunRecord run() { return io_.run(service_.get_run(run_.id.value)).value(); }

    /// The center, its units with two cores each, runs its jobs on this host.
    void set_host(const std::string& host)
    {
        store_.sql("UPDATE center SET host_id = '" + host + "' WHERE id = '" + run_.center_id.value + "'");
        store_.sql("UPDATE unit_type SET cores_per_unit = 2 WHERE id = '" + run_.unit_type_id.value + "'");
    }
    /// An attempt of the job from so many seconds ago to so many; it runs still where `until_s` is 0.
    void add_attempt(const std::string& job, int unit_count, int from_s, int until_s)
    {
        const std::string attempt = AttemptId::make().value;
        const auto ago = [](int seconds) { return "now() - interval '" + std::to_string(seconds) + " seconds'"; };
        store_.sql(
            "INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, decided_by, started_at, "
            "state, ended_at) VALUES ('" +
            attempt + "', '" + job + "', 1, '" + run_.center_id.value + "', '" + run_.unit_type_id.value + "', " +
            std::to_string(unit_count) + ", 'rep', " + ago(from_s) + ", " +
            (until_s > 0 ? "'ended', " + ago(until_s) : std::string("'running', NULL")) + ")");
        if (until_s == 0 || job == run_.job_id.value) return;
        store_.sql("INSERT INTO prediction (attempt_id, job_id, job_type, unit_type_id, unit_count, ended_at, "
                   "outcome) VALUES ('" +
                   attempt + "', '" + job + "', 't', '" + run_.unit_type_id.value + "', 1, " + ago(until_s) +
                   ", 'succeeded')");
    }
    std::string add_job()
    {
        const std::string job = JobId::make().value;
        store_.sql("INSERT INTO job (id, name, project, spec, submitted_by) VALUES ('" + job +
                   "', 'j', 'p', '{}', 't')");
        return job;
    }

    Metrics metrics_;
    ProbeResults results_{operators_, writer_, metrics_, {}};
    ProbeRunRecord run_;
    ProbeTask task_;
};

TEST_F(ProbeResultsTest, AGoodResultBecomesMeasurements)
{
    end(true, "", to_json(right_result(task_)).dump());

    EXPECT_EQ(run().state, "succeeded");
    EXPECT_EQ(run().result["operators"][0]["samples_s"].size(), 3U) << "every sample is kept";
    EXPECT_EQ(store_.sql("SELECT string_agg(operator_id || '@' || operator_version || '(' || parameters_key || ')=' || "
                         "median_s || '/' || sample_count, ' ' ORDER BY operator_id) FROM measurement"),
              "op1@1(n=10)=0.2/3 op3@1(n=10)=0.2/3");
    EXPECT_EQ(store_.sql("SELECT count(*) FROM measurement WHERE unit_type_id = '" + run_.unit_type_id.value + "'"),
              "2");
}

TEST_F(ProbeResultsTest, CopiesSideBySideAreKeptApartFromMeasurements)
{
    store_.sql("UPDATE probe_run SET mode = 'throughput', unit_count = 2");
    ProbeResult result = right_result(task_);
    result.copies = {right_result(task_)};
    for (OperatorResult& item : result.operators) {
        const double alone_s = item.median_s / 2;
        item.alone = SampledTimes{{alone_s}, {1}, alone_s, alone_s, alone_s};
    }
    const std::string changes = "SELECT coalesce(sum(version), 0) FROM measurement_change";
    const std::string before = store_.sql(changes);

    end(true, "", to_json(result).dump());

    EXPECT_EQ(run().state, "succeeded") << run().error;
    EXPECT_EQ(store_.sql("SELECT count(*) FROM measurement"), "0");
    EXPECT_EQ(store_.sql("SELECT string_agg(operator_id || ' ' || copy || '/' || copies || ' ' || median_s || ' ' || "
                         "alone_s, ', ' ORDER BY operator_id, copy) FROM copy_measurement"),
              "op1 1/2 0.2 0.1, op1 2/2 0.2 0.1, op3 1/2 0.2 0.1, op3 2/2 0.2 0.1");
    EXPECT_EQ(store_.sql("SELECT DISTINCT slowdown || ' ' || slowdown_deviation FROM copy_measurement"), "2 0")
        << "of medians, of so few samples";
    EXPECT_NE(store_.sql(changes), before) << "replicas read them";
    EXPECT_EQ(run().result["copies"].size(), 1U) << "every sample is kept";
    store_
        .run([&](pqxx::work& transaction) -> Result<void> {
            EXPECT_TRUE(select_task_report(transaction, run_.probe_task_id.value).runs.empty())
                << "they hide no run on as many units";
            return {};
        })
        .value();
}

TEST_F(ProbeResultsTest, WhatCopiesToldInTurnWithBubblesIsKeptWithTheFirst)
{
    store_.sql("UPDATE probe_run SET mode = 'throughput', unit_count = 2");
    const auto times = [](double s) { return SampledTimes{{s}, {1}, s, s, s}; };
    ProbeResult result = right_result(task_);
    result.copies = {right_result(task_)};
    result.reporter = ReporterTimes{times(1), times(2)};
    for (OperatorResult& item : result.operators)
        item.alone = times(0.1);
    result.operators.front().pressure = PressureTimes{times(0.15), times(1.25)};

    end(true, "", to_json(result).dump());

    EXPECT_EQ(run().state, "succeeded") << run().error;
    EXPECT_EQ(store_.sql("SELECT string_agg(concat_ws(' ', operator_id, copy, round(beside_bubbles::numeric, 3), "
                         "reporter_beside, reporter_beside_bubbles), ', ' ORDER BY operator_id, copy) "
                         "FROM copy_measurement"),
              "op1 1 1.500 1.25 2, op1 2, op3 1, op3 2");
}

TEST_F(ProbeResultsTest, ABurstDuringOneSampleOfACopyCountsAsAJobPaysIt)
{
    store_.sql("UPDATE probe_run SET mode = 'throughput', unit_count = 2");
    const auto times = [](double s) { return SampledTimes{std::vector<double>(10, s), {}, s, s, s}; };
    const auto copy_of = [&](const std::vector<double>& samples_s) {
        ProbeResult result = right_result(task_);
        for (OperatorResult& item : result.operators) {
            item.samples_s = samples_s;
            item.median_s = item.ci_low_s = item.ci_high_s = 0.02;
            item.spread = 0;
        }
        return result;
    };
    const std::vector<double> steady(10, 0.02);
    std::vector<double> with_burst = steady;
    with_burst[3] = 0.04;
    ProbeResult result = copy_of(with_burst);
    result.copies = {copy_of(steady)};
    result.reporter = ReporterTimes{times(0.01), times(0.02)};
    for (OperatorResult& item : result.operators) {
        item.alone = times(0.02);
        item.outliers = {3};
    }
    result.operators.front().pressure = PressureTimes{times(0.03), times(0.0125)};

    end(true, "", to_json(result).dump());

    EXPECT_EQ(run().state, "succeeded") << run().error;
    EXPECT_EQ(store_.sql("SELECT string_agg(concat_ws(' ', operator_id, copy, round(slowdown::numeric, 3), "
                         "round(slowdown_deviation::numeric, 3), round(beside_bubbles::numeric, 3)), ', ' "
                         "ORDER BY operator_id, copy) FROM copy_measurement"),
              "op1 1 1.100 0.091 1.650, op1 2 1.000 0.000, op3 1 1.100 0.091, op3 2 1.000 0.000")
        << "beside bubbles, too";
}

TEST_F(ProbeResultsTest, FewerCopiesThanWereOrderedAreNoResult)
{
    store_.sql("UPDATE probe_run SET mode = 'throughput', unit_count = 3");

    end(true, "", to_json(right_result(task_)).dump());

    EXPECT_EQ(run().state, "failed");
    EXPECT_THAT(run().error, HasSubstr("copies are 1, ordered were 3"));
    EXPECT_EQ(store_.sql("SELECT count(*) FROM copy_measurement"), "0");
}

TEST_F(ProbeResultsTest, ATaskThatCannotBeReadFailsItsRunAndNothingElse)
{
    for (const char* table : {"probe_task", "probe_run"})
        store_.sql("UPDATE " + std::string(table) + R"( SET document = '{"written": "by a newer release"}')");

    end(true, "", to_json(right_result(task_)).dump());

    EXPECT_EQ(store_.sql("SELECT state FROM probe_run"), "failed");
    EXPECT_EQ(store_.sql("SELECT count(*) FROM measurement"), "0");
}

TEST_F(ProbeResultsTest, GarbageFailsTheRunWithTheReason)
{
    end(true, "", "Illegal instruction (core dumped)");

    EXPECT_EQ(run().state, "failed");
    EXPECT_THAT(run().error, HasSubstr("not valid JSON"));
    EXPECT_EQ(store_.sql("SELECT count(*) FROM measurement"), "0");
}

TEST_F(ProbeResultsTest, AFailedJobFailsTheRun)
{
    end(false, "exited with 3", "");

    EXPECT_EQ(run().state, "failed");
    EXPECT_EQ(run().error, "exited with 3");
}

/// Of a full benchmark, as a slow machine ends it.
TEST_F(ProbeResultsTest, AFullBenchmarkThatReachesItsLimitIsDividedUntilOneOperatorIsLeft)
{
    store_.sql("UPDATE probe_run SET state = 'cancelled'");
    RunOrder order;
    order.places.selection = RunSelection::kUser;
    order.places.unit_types = {"alpha/u1"};
    const ProbeRunRecord benchmark = io_.run(service_.create_runs({"tok_expert", "req"}, order)).value().runs.front();
    const auto reach_limit = [&](const std::string& job) {
        store_
            .run([&](pqxx::work& transaction) {
                EndedProbeJob ended;
                ended.job = {job};
                ended.reason = "exit code 3";
                ended.stderr_text = "fathom-probe: the task took longer than its limit of 60 s: stopped after 60.01 s";
                return results_.probe_job_ended(transaction, ended);
            })
            .value();
    };
    const auto queued = [&] {
        return store_.sql("SELECT string_agg(t.document -> 'operators' -> 0 ->> 'id', ' ' ORDER BY r.id) "
                          "FROM probe_run r JOIN probe_task t ON t.id = r.probe_task_id "
                          "WHERE r.state = 'queued' AND jsonb_array_length(t.document -> 'operators') = 1");
    };

    reach_limit(benchmark.job_id.value);
    EXPECT_THAT(io_.run(service_.get_run(benchmark.id.value)).value().error, HasSubstr("measured in two parts"));
    EXPECT_EQ(queued(), "op1 op3");
    EXPECT_EQ(store_.sql("SELECT string_agg(DISTINCT order_id, ' ') FROM probe_run WHERE state = 'queued'"),
              benchmark.order_id);
    EXPECT_EQ(store_.sql("SELECT string_agg(DISTINCT divides_run_id, ' ') FROM probe_run WHERE state = 'queued'"),
              benchmark.id.value);

    reach_limit(store_.sql("SELECT job_id FROM probe_run WHERE state = 'queued' ORDER BY id LIMIT 1"));
    EXPECT_EQ(queued(), "op3");
    EXPECT_EQ(store_.sql("SELECT count(*) FROM probe_run WHERE state = 'failed'"), "2");
}

TEST_F(ProbeResultsTest, WhatItsCenterEndedIsLostAndNotFailed)
{
    const std::map<AttemptOutcome, std::string> states{{AttemptOutcome::kNodeFailure, "lost"},
                                                       {AttemptOutcome::kPreempted, "lost"},
                                                       {AttemptOutcome::kLost, "lost"},
                                                       {AttemptOutcome::kOutOfMemory, "failed"}};
    for (const auto& [outcome, state] : states) {
        SCOPED_TRACE(to_string(outcome));
        store_.sql("UPDATE probe_run SET state = 'queued', ended_at = NULL, error = ''");
        EndedProbeJob ended;
        ended.job = run_.job_id;
        ended.reason = "why";
        ended.outcome = outcome;

        store_.run([&](pqxx::work& transaction) { return results_.probe_job_ended(transaction, ended); }).value();

        EXPECT_EQ(run().state, state);
        EXPECT_EQ(run().error, "why");
    }
}

TEST_F(ProbeResultsTest, ACancelledJobCancelsTheRun)
{
    store_.sql("UPDATE job SET state = 'cancelled'");
    end(false, "cancelled", "");

    EXPECT_EQ(run().state, "cancelled");
}

TEST_F(ProbeResultsTest, TheFirstEndCounts)
{
    end(true, "", to_json(right_result(task_)).dump());
    end(false, "lost", "");

    EXPECT_EQ(run().state, "succeeded");
    EXPECT_EQ(store_.sql("SELECT count(*) FROM measurement"), "2");
}

TEST_F(ProbeResultsTest, TheUnitTypeThatTheCenterTookIsWritten)
{
    const std::string u2 = store_.sql("SELECT id FROM unit_type WHERE name = 'u2'");
    store_.sql("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, decided_by) VALUES ('" +
               AttemptId::make().value + "', '" + run_.job_id.value + "', 1, '" + run_.center_id.value + "', '" + u2 +
               "', 1, 'rep')");

    end(true, "", to_json(right_result(task_)).dump());

    EXPECT_EQ(run().unit_type, "u2");
    EXPECT_EQ(store_.sql("SELECT DISTINCT unit_type_id FROM measurement"), u2);
}

TEST_F(ProbeResultsTest, ItIsKnownHowManyCoresOtherJobsHeldMeanwhile)
{
    set_host("h1");
    add_attempt(run_.job_id.value, 1, 100, 60); // the probe's 40 s
    add_attempt(add_job(), 3, 200, 0);          // 6 cores all the time
    add_attempt(add_job(), 1, 90, 70);          // 2 cores for 20 s of it
    add_attempt(add_job(), 4, 300, 110);        // before it
    add_attempt(add_job(), 4, 50, 0);           // after it

    end(true, "", to_json(right_result(task_)).dump());

    ASSERT_TRUE(run().busy_cores);
    EXPECT_NEAR(*run().busy_cores, 6 + 2 * 20.0 / 40, 0.1);
    EXPECT_NEAR(to_json(run())["busy_cores"].get<double>(), 7, 0.1);
}

TEST_F(ProbeResultsTest, AloneAtItsHostNoneAreHeld)
{
    set_host("h1");
    add_attempt(run_.job_id.value, 1, 100, 60);

    end(true, "", to_json(right_result(task_)).dump());

    EXPECT_EQ(run().busy_cores, 0.0);
}

TEST_F(ProbeResultsTest, WhereTheHostIsNotKnownNeitherAreTheCoresHeldThere)
{
    add_attempt(run_.job_id.value, 1, 100, 60);
    add_attempt(add_job(), 3, 200, 0);

    end(true, "", to_json(right_result(task_)).dump());

    EXPECT_EQ(run().state, "succeeded");
    EXPECT_EQ(run().busy_cores, std::nullopt);
    EXPECT_TRUE(to_json(run())["busy_cores"].is_null());
}

TEST_F(ProbeResultsTest, JobsThatAreNoProbesAreNotOurs)
{
    EndedProbeJob ended;
    ended.job = JobId::make();
    ended.succeeded = true;
    const auto outcome =
        store_.run([&](pqxx::work& transaction) { return results_.probe_job_ended(transaction, ended); });
    EXPECT_TRUE(outcome);
}

} // namespace
} // namespace fathom::server
