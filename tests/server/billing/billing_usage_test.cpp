#include "tests/server/jobs/billing_fixture.hpp"

#include <pqxx/pqxx>

#include <string>

namespace fathom::server {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(Billing, AJobOwesWhatItsUnitsComputed)
{
    const JobId job = ended_job(100);

    work_off();

    EXPECT_EQ(sql("SELECT kind || ' ' || payer || ' ' || center || ' ' || unit_count || ' ' || score_milli || ' ' || "
                  "extract(epoch FROM until_at - from_at)::int || ' ' || cpu_us FROM usage_record WHERE job_id = '" +
                  job.value + "'"),
              "compute project alpha 1 1000000 100 50000000");
    EXPECT_EQ(balance_of("project:default"), "100000");
    EXPECT_EQ(balance_of("center:alpha"), "-100000");
    EXPECT_EQ(sql("SELECT billed_micros FROM project_bill"), "100000");
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Billing, WhatIsDueIsScoredWithoutTheLockOfMetering)
{
    ended_job(100);
    pqxx::connection elsewhere(url_);
    pqxx::work closing(elsewhere);
    closing.exec("SELECT pg_advisory_xact_lock(7233018)"); // a month is closed
    pqxx::connection own(url_);
    pqxx::work transaction(own);
    transaction.exec("SET LOCAL lock_timeout = '1s'");

    const UsageMeter::Judged judged = meter_.judge(meter_.find_due(transaction));

    EXPECT_EQ(judged.unit_types.size() + judged.gone.size(), 1U);
}

TEST_F(Billing, TheEvidenceOfAScoreNamesAllResultsThatMadeIt)
{
    add_operators();
    const std::string alpha = sql("SELECT id FROM unit_type");
    add_measurement(alpha, 0.0101, "now() - interval '2 hours'");
    add_measurement(alpha, 0.0099, "now() - interval '1 hour'");
    const MetricPolicy policy = parse_metric_policy(Json::parse(R"({"id": "r", "kind": "relative",
        "reference_machine": "m", "reference": [{"operator": "dgemm", "parameters": {"m": 1024, "n": 1024, "k": 1024},
        "operations": 2147483648, "bytes": 25165824, "median_s": 0.01}]})"))
                                    .value();
    const UsageMeter meter(catalog_, [&policy](pqxx::work&) -> std::optional<MetricPolicy> { return policy; });
    ended_job(100);
    pqxx::connection own(url_);
    pqxx::work transaction(own);

    const UsageMeter::Judged judged = meter.judge(meter.find_due(transaction));

    ASSERT_EQ(judged.unit_types.size(), 1U);
    EXPECT_NEAR(static_cast<double>(judged.unit_types[0].score_milli), 1000050, 1);
    const Json part = Json::parse(judged.unit_types[0].evidence)["parts"].at(0);
    EXPECT_EQ(part["probe_run_ids"],
              Json::parse(sql("SELECT json_agg(probe_run_id ORDER BY measured_at DESC) FROM measurement")));
    EXPECT_EQ(part["probe_run_id"], part["probe_run_ids"].at(0));
}

TEST_F(Billing, NoJobsFiguresAreTooLargeToBeMetered)
{
    const JobId huge = ended_job(100);
    const JobId other = ended_job(100);
    sql("UPDATE job SET spec = jsonb_set(spec, '{data}', jsonb_build_object('in', (SELECT jsonb_agg('{\"bytes\": "
        "1e18}'::jsonb) FROM generate_series(1, 20)), 'out_bytes', 1e18)) WHERE id = '" +
        huge.value + "'");
    sql("UPDATE attempt SET cpu_s = 1e300 WHERE job_id = '" + huge.value + "'");

    work_off();

    EXPECT_EQ(sql("SELECT count(*) FROM usage_record WHERE job_id IN ('" + huge.value + "', '" + other.value + "')"),
              "2");
    EXPECT_EQ(sql("SELECT moved_bytes FROM usage_record WHERE job_id = '" + huge.value + "'"), "1000000000000000000");
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Billing, ProbesArePaidByTheNetworkAndLostAttemptsByNobody)
{
    const JobId probe = ended_job(100);
    sql("UPDATE job SET label = 'probe' WHERE id = '" + probe.value + "'");
    const JobId lost = job_in("running");
    AttemptEnd end;
    end.outcome = AttemptOutcome::kLost;
    ASSERT_TRUE(report_end(lost, end));

    work_off();

    EXPECT_EQ(sql("SELECT string_agg(payer, ' ' ORDER BY id) FROM usage_record"), "network nobody");
    EXPECT_EQ(balance_of("network"), "100000");
    EXPECT_EQ(balance_of("project:default"), "0");
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Billing, WhatACenterEndedIsRecordedAndNobodyPaysForIt)
{
    for (const AttemptOutcome outcome :
         {AttemptOutcome::kNodeFailure, AttemptOutcome::kPreempted, AttemptOutcome::kOutOfMemory}) {
        AttemptEnd end = exited(100);
        end.exit_code.reset();
        end.outcome = outcome;
        ASSERT_TRUE(report_end(job_in("running"), end));
        work_off();
    }

    EXPECT_EQ(sql("SELECT string_agg(concat_ws(' ', outcome, payer, round(extract(epoch FROM until_at - from_at))), "
                  "', ' ORDER BY id) FROM usage_record"),
              "node_failure nobody 100, preempted nobody 100, out_of_memory project 100");
    EXPECT_EQ(balance_of("project:default"), "100000");
    const std::string lines = download("/exports/sacct");
    for (const char* state : {"|NODE_FAIL|", "|PREEMPTED|", "|OUT_OF_MEMORY|"})
        EXPECT_THAT(lines, HasSubstr(state));
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Billing, ALateReportCorrectsWhatWasGivenUp)
{
    const JobId job = job_in("running");
    AttemptEnd given_up;
    given_up.outcome = AttemptOutcome::kCancelled;
    given_up.started_at = clock_.now();
    given_up.run_s = 10;
    ASSERT_TRUE(report_end(job, given_up));
    work_off();
    ASSERT_EQ(balance_of("project:default"), "10000");

    ASSERT_TRUE(report_end(job, exited(100)));
    ASSERT_TRUE(report_end(job, exited(100))) << "it comes at least once";
    work_off();

    EXPECT_EQ(balance_of("project:default"), "100000");
    EXPECT_EQ(sql("SELECT string_agg(kind || ' ' || coalesce(corrects, 0), ', ' ORDER BY seq) FROM ledger_entry"),
              "usage 0, reversal 1, correction 1");
    EXPECT_EQ(sql("SELECT count(*) FROM usage_record"), "2");
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Billing, AttemptsOfAJobDoNotOverlap)
{
    const JobId job = job_in("running");
    AttemptEnd end = exited(100);
    end.run_s = 1e6; // says its center
    end.attempt_id = attempt_of(job);
    end.ended_at = clock_.now() + std::chrono::hours(5);
    ASSERT_TRUE(run(report(attempts_, center_of(job), link::AttemptEnded{end})));

    work_off();

    EXPECT_EQ(sql("SELECT u.from_at >= a.created_at AND u.until_at <= a.closed_at FROM usage_record u JOIN attempt a "
                  "ON a.id = u.attempt_id"),
              "t");
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Billing, AJobThatEndedAfterTheClockWentBackOwesWhatItRan)
{
    const JobId job = ended_job(100);
    const JobId other = ended_job(100);
    sql("UPDATE attempt SET created_at = closed_at + interval '1 hour', dispatched_at = closed_at + interval '1 hour', "
        "started_at = closed_at + interval '1 hour' WHERE job_id = '" +
        job.value + "'");

    work_off();

    EXPECT_EQ(sql("SELECT string_agg(extract(epoch FROM until_at - from_at)::int::text, ' ') FROM usage_record "
                  "WHERE job_id IN ('" +
                  job.value + "', '" + other.value + "')"),
              "100 100");
    EXPECT_EQ(balance_of("project:default"), "200000");
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Billing, StorageAndIdleReservationsAreMetered)
{
    sql("INSERT INTO stored_use VALUES ('tok', 'materials', 5000000000)");
    sql("UPDATE ledger_head SET storage_until = date_trunc('hour', now(), 'UTC') - interval '2 hours'");
    const std::string center = center_id("alpha");
    sql("INSERT INTO advance_reservation (id, project, center_id, unit_type_id, unit_count, starts_at, ends_at, "
        "created_by) "
        "SELECT 'rsv_1', 'default', '" +
        center + "', id, 3, now() - interval '80 minutes', now() - interval '20 minutes', 'tok' FROM unit_type");
    ended_job(600);
    sql("UPDATE attempt SET started_at = now() - interval '50 minutes', ended_at = now() - interval '40 minutes'");

    meter();

    EXPECT_EQ(sql("SELECT source = 'storage/materials/' || to_char((now() - interval '2 hours') AT TIME ZONE 'UTC', "
                  "'YYYY-MM-DD\"T\"HH24') AND stored_bytes = 5000000000 AND until_at - from_at = interval '2 hours' "
                  "FROM usage_record WHERE kind = 'storage' AND project = 'materials'"),
              "t");
    // 3 units for an hour, of which one ran for ten minutes.
    EXPECT_EQ(sql("SELECT idle_unit_us FROM usage_record WHERE kind = 'reservation'"),
              std::to_string((3LL * 3600 - 600) * 1'000'000));
    meter();
    EXPECT_EQ(sql("SELECT count(*) FROM usage_record WHERE kind = 'reservation' OR project = 'materials'"), "2");
}

} // namespace
} // namespace fathom::server
