#include "tests/server/jobs/billing_fixture.hpp"

#include <array>
#include <csignal>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace fathom::server {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

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

} // namespace
} // namespace fathom::server
