#include "server/billing/billing_api.hpp"
#include "server/billing/export_stream.hpp"
#include "server/billing/ledger_service.hpp"
#include "server/billing/price_books_api.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <pqxx/pqxx>

#include <array>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>

namespace fathom::server {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class Billing : public JobsFixture {
  protected:
    Billing()
    {
        // Jobs of tests began before they were submitted.
        sql("INSERT INTO price_book (document, valid_from, created_by) VALUES ('" + book().dump() +
            "', '2020-01-01', 'test')");
        add_center("alpha", 100);
        add_billing_routes(api_, ledger_, database_, compute_, catalog_, "Ocean, Inc.");
        add_price_books_routes(api_, books_, database_, clock_);
    }

    /// 3.60 EUR a score-hour: a milli-EUR a second on a unit of 1000 points, which is what nobody has measured.
    static Json book()
    {
        return {{"currency", "EUR"}, {"entries", {{{"center", "*"}, {"unit_type", "*"}, {"per_score_hour", "3.60"}}}}};
    }
    static AttemptEnd exited(double run_s)
    {
        AttemptEnd end;
        end.outcome = AttemptOutcome::kExited;
        end.exit_code = 0;
        end.started_at = SystemClock().now();
        end.run_s = run_s;
        end.cpu_s = run_s / 2;
        return end;
    }
    JobId ended_job(double run_s)
    {
        const JobId job = job_in("running");
        EXPECT_TRUE(report_end(job, exited(run_s)));
        return job;
    }
    void meter()
    {
        while (run(ledger_.meter_next()).value() > 0) {
        }
    }
    void work_off()
    {
        meter();
        while (run(ledger_.post_next()).value() > 0) {
        }
    }
    std::vector<std::string> faults() { return run(ledger_.verify("")).value().faults; }
    std::string balance_of(const std::string& account) const
    {
        return sql("SELECT coalesce(sum(amount_micros), 0) FROM posting WHERE account = '" + account + "'");
    }
    std::string last_month() const
    {
        return sql("SELECT to_char((date_trunc('month', now(), 'UTC') - interval '10 days') AT TIME ZONE 'UTC', "
                   "'YYYY-MM')");
    }
    /// Works off what has ended as if that had been ten days before the end of last month.
    void work_off_in_last_month()
    {
        const std::string back = " - (now() - date_trunc('month', now(), 'UTC') + interval '10 days')";
        sql("UPDATE attempt SET created_at = created_at" + back + ", dispatched_at = dispatched_at" + back +
            ", started_at = started_at" + back + ", ended_at = ended_at" + back + ", closed_at = closed_at" + back +
            " WHERE NOT metered");
        work_off();
    }

    UsageMeter meter_{catalog_, {}};
    LedgerService ledger_{database_, meter_, compute_, metrics_};
    PriceBooksService books_{database_, compute_};

    Json get(const std::string& target)
    {
        const net::Response answer = call(net::Method::kGet, target);
        EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
        return Json::parse(answer.body);
    }
    /// The whole body of a streamed answer.
    std::string download(const std::string& target)
    {
        const net::Response answer = call(net::Method::kGet, target);
        EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
        const auto writer = std::make_shared<FakeWriter>();
        auto done = asio::co_spawn(io_.context(), answer.stream(writer), asio::use_future);
        done.get();
        return writer->text();
    }
    std::string this_month() const { return sql("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')"); }
};

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

TEST_F(Billing, WhatWasPostedIsPostedOnce)
{
    ended_job(100);
    work_off();

    work_off();
    sql("UPDATE ledger_head SET usage_id = 0");
    EXPECT_EQ(run(ledger_.post_next()).error().code, Errc::kConflict) << "the same usage cannot be posted again";

    EXPECT_EQ(balance_of("project:default"), "100000");
    sql("UPDATE ledger_head SET usage_id = 1");
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

TEST_F(Billing, RowsAreFinal)
{
    ended_job(100);
    work_off();

    for (const char* change : {"UPDATE charge SET billed_micros = 0", "DELETE FROM ledger_entry", "TRUNCATE posting",
                               "UPDATE usage_record SET project = 'other'", "DELETE FROM score_evidence",
                               "UPDATE price_book SET valid_from = now()"})
        EXPECT_THROW(sql(change), std::runtime_error) << change;
}

TEST_F(Billing, AChangedLedgerIsFound)
{
    ended_job(100);
    ended_job(200);
    work_off();
    ASSERT_THAT(faults(), IsEmpty());

    sql("ALTER TABLE charge DISABLE TRIGGER ALL; UPDATE charge SET billed_micros = 1 WHERE seq = 1");
    EXPECT_THAT(faults(), Contains("entry 1 has been changed"));
    sql("UPDATE charge SET billed_micros = 100000 WHERE seq = 1");
    ASSERT_THAT(faults(), IsEmpty());

    sql("ALTER TABLE usage_record DISABLE TRIGGER ALL; UPDATE usage_record SET unit_count = 7 WHERE id = 2");
    EXPECT_THAT(faults(), Contains("entry 2 has other charges than its usage rates to"));
}

TEST_F(Billing, AClosedMonthIsFrozenAndLateUsageGoesToTheNext)
{
    ended_job(100);
    work_off_in_last_month();
    const std::string month = last_month();
    ASSERT_EQ(sql("SELECT to_char(period, 'YYYY-MM') FROM ledger_entry"), month);

    ASSERT_TRUE(run(ledger_.close({"tok_a", "req_1"}, month)));
    ended_job(50);
    work_off_in_last_month();

    EXPECT_EQ(run(ledger_.close({"tok_a", "req_1"}, month)).error().code, Errc::kConflict);
    EXPECT_EQ(sql("SELECT to_char(period, 'YYYY-MM') = to_char(now(), 'YYYY-MM') AND kind = 'correction' "
                  "FROM ledger_entry ORDER BY seq DESC LIMIT 1"),
              "t");
    EXPECT_THROW(
        sql("INSERT INTO ledger_entry SELECT 99, period, 'usage', 'usage/99', NULL, NULL, now(), '', '', sha256, "
            "sha256 FROM ledger_entry WHERE seq = 1"),
        std::runtime_error);
    EXPECT_EQ(sql("SELECT count(*) FROM audit_log WHERE action = 'billing_period.close'"), "1");
    EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(Billing, AMonthThatHasNotEndedCannotBeClosed)
{
    const std::string month = sql("SELECT to_char(now(), 'YYYY-MM')");

    EXPECT_THAT(run(ledger_.close({"tok_a", ""}, month)).error().detail, HasSubstr("has not ended"));
    EXPECT_EQ(run(ledger_.close({"tok_a", ""}, "2026-13")).error().code, Errc::kInvalid);
}

TEST_F(Billing, ReplicasThatRateAtOncePostOnce)
{
    for (int i = 0; i < 40; ++i)
        ended_job(10);
    constexpr std::size_t kReplicas = 3;
    std::vector<std::thread> replicas;
    for (std::size_t i = 0; i < kReplicas; ++i)
        replicas.emplace_back([this] {
            Metrics metrics;
            Database database({.url = url_, .connections = 2}, metrics);
            ComputePool compute;
            LedgerService ledger(database, meter_, compute, metrics);
            test::TestIo io;
            for (int turn = 0; turn < 20; ++turn) {
                EXPECT_TRUE(io.run(ledger.meter_next()));
                EXPECT_TRUE(io.run(ledger.post_next()));
            }
            database.stop();
        });
    for (std::thread& replica : replicas)
        replica.join();

    EXPECT_EQ(balance_of("project:default"), "400000");
    EXPECT_EQ(sql("SELECT count(*) FROM ledger_entry"), "40");
    EXPECT_THAT(faults(), IsEmpty());
}

/// Runs the program that meters, rates, posts and closes, and ends it with SIGKILL at a step of that.
int die_at(const std::string& url, const std::string& step, const std::string& month)
{
    std::string program = FATHOM_BILLING_STEPS;
    std::string url_argument = url;
    std::string step_argument = step;
    std::string month_argument = month;
    std::array<char*, 5> arguments{program.data(), url_argument.data(), step_argument.data(), month_argument.data(),
                                   nullptr};
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ), 0);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_F(Billing, AKillAtAnyStepLosesNothingAndDoublesNothing)
{
    std::int64_t owed = 0;
    for (const char* step : {"metering", "metered", "rated", "posting", "posted"}) {
        ended_job(10);
        ended_job(10);
        owed += 20'000;
        ASSERT_EQ(die_at(url_, step, ""), SIGKILL) << step;

        work_off();

        EXPECT_EQ(balance_of("project:default"), std::to_string(owed)) << step;
        EXPECT_THAT(faults(), IsEmpty()) << step;
    }
    ended_job(10);
    work_off_in_last_month();
    const std::string month = last_month();
    ASSERT_EQ(die_at(url_, "closing", month), SIGKILL);
    EXPECT_EQ(sql("SELECT count(*) FROM billing_period"), "0");
    ASSERT_EQ(die_at(url_, "closed", month), SIGKILL);
    EXPECT_EQ(sql("SELECT count(*) FROM billing_period"), "1");
    EXPECT_EQ(run(ledger_.close({"tok_a", ""}, month)).error().code, Errc::kConflict);
    EXPECT_EQ(sql("SELECT count(*) FROM ledger_entry WHERE kind = 'close'"), "1");
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

TEST_F(Billing, AStatementLeadsBackToTheJobAndItsScore)
{
    const JobId job = ended_job(100);
    work_off();

    const Json usage = get("/usage?job_id=" + job.value)["items"].at(0);
    EXPECT_EQ(usage["paid_by"], "project");
    EXPECT_EQ(usage["score"], 1000.0);
    const Json evidence = get("/score-evidence/" + usage["score_evidence_id"].get<std::string>());
    EXPECT_EQ(evidence["is_assumed"], true);
    const Json cost = get("/jobs/" + job.value + "/cost");
    EXPECT_EQ(cost["is_final"], true);
    EXPECT_EQ(cost["billed"], Json::parse(R"([{"amount": "0.1", "currency": "EUR"}])"));
    EXPECT_EQ(cost["charges"].at(0)["score_evidence_id"], usage["score_evidence_id"]);
    const Json statement = get("/statements?project=default&period=" + this_month());
    EXPECT_EQ(statement["totals"].at(0)["amount"], "0.1");
    EXPECT_EQ(statement["lines"].at(0)["quantity"], "0.027777778");
    EXPECT_EQ(get("/statements?center=alpha&period=" + this_month())["totals"].at(0)["amount"], "0.1");
    const net::Response page =
        call(net::Method::kGet, "/statements?project=default&format=html&period=" + this_month());
    EXPECT_THAT(page.body, HasSubstr("Statement of project default"));
}

TEST_F(Billing, ARunningJobSaysWhatItCostsByNow)
{
    const JobId job = job_in("running");
    sql("UPDATE attempt SET started_at = now() - interval '1000 s'");

    const Json cost = get("/jobs/" + job.value + "/cost");

    EXPECT_EQ(cost["is_final"], false);
    EXPECT_NEAR(std::stod(cost["running"].at(0)["amount"].get<std::string>()), 1.0, 0.1);
}

TEST_F(Billing, OnlyThoseWhoMayReadTheBooks)
{
    add_token("uma", Role::kUser);
    add_token("eve", Role::kExpert);
    const JobId job = ended_job(1);

    EXPECT_EQ(call(net::Method::kGet, "/usage", "", {}, "uma").status, 403);
    EXPECT_EQ(call(net::Method::kGet, "/exports/focus", "", {}, "uma").status, 403);
    EXPECT_EQ(call(net::Method::kGet, "/jobs/" + job.value + "/cost", "", {}, "uma").status, 404) << "not hers";
    EXPECT_EQ(call(net::Method::kGet, "/usage", "", {}, "eve").status, 200);
    EXPECT_EQ(call(net::Method::kPost, "/billing-periods/2026-01/close", "{}", {}, "eve").status, 403);
}

TEST_F(Billing, BadQuestionsNameTheirField)
{
    for (const char* target :
         {"/usage?from=yesterday", "/statements?period=2026-11", "/statements?project=a&center=b&period=2026-11",
          "/statements?project=a", "/statements?project=a&period=2026-13",
          "/statements?project=a&period=2026-11&format=pdf", "/exports/focus?version=9",
          "/exports/apel?service_level_type=own", "/exports/focus?last_entry=-1", "/exports/focus?colour=red"})
        EXPECT_EQ(call(net::Method::kGet, target).status, 400) << target;
    EXPECT_EQ(call(net::Method::kGet, "/exports/pdf").status, 404);
    EXPECT_EQ(call(net::Method::kGet, "/score-evidence/none").status, 404);
}

TEST_F(Billing, ExportsAreTheSameToTheByte)
{
    ended_job(100);
    work_off();
    const std::string first = download("/exports/focus");
    const std::string last = sql("SELECT seq FROM ledger_head");

    ended_job(50);
    work_off();

    EXPECT_EQ(download("/exports/focus?last_entry=" + last), first);
    EXPECT_NE(download("/exports/focus"), first);
    EXPECT_THAT(first, HasSubstr("\"Ocean, Inc.\"")) << "names are quoted";
    EXPECT_THAT(first, HasSubstr(",0.027777778,Score-Hours,"));
    EXPECT_THAT(download("/exports/jsonl?last_entry=" + last), HasSubstr("\"billed_cost\":\"0.1\""));
    EXPECT_EQ(download("/exports/focus?project=other"), focus_head({FocusVersion::k1_2, "Ocean, Inc."}));
    EXPECT_THAT(download("/exports/apel"), HasSubstr("WallDuration: 100\n"));
    EXPECT_THAT(download("/exports/apel-summary"), HasSubstr("NumberOfJobs: 2\n"));
    EXPECT_THAT(download("/exports/sacct"), HasSubstr("|00:01:40|0:0|COMPLETED|1|1|1|"));
}

TEST_F(Billing, PricesCanBeTriedOnWhatWasUsed)
{
    ended_job(100);
    work_off();
    Json dearer = book();
    dearer["entries"][0]["per_score_hour"] = "7.20";
    const Json order = {{"document", dearer}, {"from", "2020-01-01T00:00:00Z"}};

    const net::Response answer = call(net::Method::kPost, "/price-books:try", order.dump());

    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(Json::parse(answer.body)["projects"],
              Json::parse(R"([{"project": "default", "trial_cost": "0.2", "billed": {"EUR": "0.1"}}])"));
    EXPECT_EQ(sql("SELECT count(*) FROM price_book"), "1");
}

TEST_F(Billing, AUsedUpBudgetAlertsAndRefuses)
{
    Json limited = book();
    limited["budgets"] = {
        {{"project", "default"}, {"per_month", "0.15"}, {"action", "refuse"}, {"alerts_percent", {50, 100}}}};
    sql("INSERT INTO price_book (document, valid_from, created_by) VALUES ('" + limited.dump() +
        "', '2020-01-02', 'test')");
    reload_catalog();
    ended_job(100);
    work_off();
    EXPECT_EQ(sql("SELECT string_agg(percent::text, ' ') FROM budget_alert"), "50");
    ended_job(100);
    work_off();
    EXPECT_EQ(sql("SELECT string_agg(percent::text, ' ' ORDER BY percent) FROM budget_alert"), "50 100");
    reload_catalog();

    const net::Response refused = call(net::Method::kPost, "/jobs", spec().dump());

    EXPECT_EQ(refused.status, 422) << refused.body;
    EXPECT_THAT(refused.body, HasSubstr("has been billed 0.2 EUR this month"));
    EXPECT_EQ(call(net::Method::kPost, "/jobs", spec({{"project", "other"}}).dump()).status, 201);
}

} // namespace
} // namespace fathom::server
