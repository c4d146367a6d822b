#include "server/probing/schedules/schedule_runner.hpp"
#include "server/probing/schedules/schedule_service.hpp"
#include "tests/server/probing/probing_fixture.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

#include <future>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

const ScheduleService::VersionCheck kAnyVersion = [](std::int64_t) { return true; };

class FakeClock final : public Clock {
  public:
    Timestamp now() const override { return now_; }
    void set(const std::string& time) { now_ = parse_rfc3339(time).value(); }

  private:
    Timestamp now_ = parse_rfc3339("2026-11-21T13:00:00Z").value();
};

class Schedule : public ProbingFixture {
  protected:
    Schedule() : ProbingFixture({"op1", "op2"})
    {
        test::add_center(store_, "alpha", {{test::unit_type("u1", 10, {"op1", "op2"})}, {}});
    }

    Result<ProbeSchedule> add(const std::string& name, const std::string& cron, Json order = Json::object())
    {
        return io_.run(schedules_.create(expert_, {.name = name, .cron = cron, .order = std::move(order)}));
    }
    ProbeSchedule get(const std::string& key) { return io_.run(schedules_.get(key)).value(); }
    std::int64_t run_due() { return io_.run(task_.run_due()).value(); }
    std::string runs() const { return store_.sql("SELECT count(*) FROM probe_run"); }
    /// So that the next runs are not joined to these.
    void end_runs() { store_.sql("UPDATE probe_run SET state = 'succeeded', ended_at = now()"); }

    FakeClock clock_;
    Metrics metrics_;
    ScheduleService schedules_{store_.database(), operators_, clock_};
    ScheduleRunner task_{store_.database(), service_, clock_, metrics_};
};

TEST_F(Schedule, RunsWhenItsTimeHasComeAndSaysWhoWantedIt)
{
    const ProbeSchedule schedule = add("nightly", "30 13 * * *", {{"operators", {{{"id", "op1"}}}}}).value();
    EXPECT_EQ(run_due(), 0);

    clock_.set("2026-11-21T13:30:00Z");
    EXPECT_EQ(run_due(), 1);
    EXPECT_EQ(run_due(), 0);

    EXPECT_EQ(store_.sql("SELECT cause || ' ' || created_by FROM probe_run"), "schedule " + schedule.id.value);
    const ProbeSchedule after = get("nightly");
    EXPECT_EQ(after.last_error, "");
    EXPECT_EQ(after.last_run_at, clock_.now());
    EXPECT_EQ(format_rfc3339(after.next_run_at.value()), "2026-11-22T13:30:00.000000Z");
    EXPECT_EQ(after.version, schedule.version) << "only people's changes make versions";
}

TEST_F(Schedule, AfterADowntimeAMissedScheduleRunsOnce)
{
    add("often", "*/10 * * * *").value();

    clock_.set("2026-11-23T08:03:00Z");
    EXPECT_EQ(run_due(), 1);
    end_runs();
    EXPECT_EQ(run_due(), 0);

    EXPECT_EQ(runs(), "1");
    EXPECT_EQ(format_rfc3339(get("often").next_run_at.value()), "2026-11-23T08:10:00.000000Z");
}

TEST_F(Schedule, AClockThatIsSetBackRepeatsNothing)
{
    add("hourly", "@hourly").value();
    clock_.set("2026-11-21T14:00:00Z");
    EXPECT_EQ(run_due(), 1);
    end_runs();

    clock_.set("2026-11-21T13:59:59Z");
    EXPECT_EQ(run_due(), 0);
    clock_.set("2026-11-21T14:00:01Z");
    EXPECT_EQ(run_due(), 0);
    clock_.set("2026-11-21T15:00:00Z");
    EXPECT_EQ(run_due(), 1);
    EXPECT_EQ(runs(), "2");
}

TEST_F(Schedule, ReplicasShareTheWork)
{
    for (int i = 0; i < 5; ++i)
        add("s" + std::to_string(i), "@hourly", {{"operators", {{{"id", "op1"}, {"parameters", {{"n", 10 + i}}}}}}})
            .value();
    clock_.set("2026-11-21T14:00:00Z");
    ScheduleRunner other(store_.database(), service_, clock_, metrics_);

    std::future<Result<std::int64_t>> here = io_.spawn(task_.run_due());
    std::future<Result<std::int64_t>> there = io_.spawn(other.run_due());
    const std::int64_t ran =
        fathom::test::TestIo::get(std::move(here)).value() + fathom::test::TestIo::get(std::move(there)).value();

    EXPECT_EQ(ran, 5);
    EXPECT_EQ(runs(), "5");
}

TEST_F(Schedule, AReplicaThatDiedOverAScheduleCostsADelay)
{
    add("hourly", "@hourly").value();
    clock_.set("2026-11-21T14:00:00Z");
    store_.sql("UPDATE probe_schedule SET claimed_until = '2026-11-21T14:05:00Z'");
    EXPECT_EQ(run_due(), 0);

    clock_.set("2026-11-21T14:05:00Z");
    EXPECT_EQ(run_due(), 1);
}

TEST_F(Schedule, WhatDidNotWorkIsKept)
{
    add("broken", "@every 60", {{"job_type", "solver"}}).value();
    clock_.set("2026-11-21T13:01:00Z");

    EXPECT_EQ(run_due(), 1);

    EXPECT_THAT(get("broken").last_error, HasSubstr("job_type"));
    EXPECT_THAT(get("broken").last_error, HasSubstr("has no released probe task"));
    EXPECT_EQ(format_rfc3339(get("broken").next_run_at.value()), "2026-11-21T13:02:00.000000Z");
}

TEST_F(Schedule, ACenterWithoutBudgetIsLeftOutAndNamed)
{
    test::add_center(store_, "beta", {{test::unit_type("u9", 1, {"op1"})}, {}});
    store_.sql("UPDATE center SET probe_share = 0 WHERE name = 'beta'");
    add("all", "@every 60").value();
    clock_.set("2026-11-21T13:01:00Z");

    EXPECT_EQ(run_due(), 1);

    EXPECT_EQ(runs(), "1");
    EXPECT_THAT(get("all").last_error, StartsWith("left out beta/u9: center beta takes no probes"));
}

TEST_F(Schedule, OneThatIsNotEnabledHasNoNextTime)
{
    const ProbeSchedule schedule = add("hourly", "@hourly").value();
    const ProbeSchedule disabled =
        io_.run(schedules_.change(expert_, schedule.id.value, {.enabled = false}, kAnyVersion)).value().value();
    EXPECT_FALSE(disabled.next_run_at);
    EXPECT_EQ(disabled.version, 2);
    clock_.set("2026-11-21T14:00:00Z");
    EXPECT_EQ(run_due(), 0);

    const ProbeSchedule enabled =
        io_.run(schedules_.change(expert_, "hourly", {.enabled = true}, kAnyVersion)).value().value();
    EXPECT_EQ(format_rfc3339(enabled.next_run_at.value()), "2026-11-21T15:00:00.000000Z") << "nothing is made up for";
}

TEST_F(Schedule, OrdersAndNamesAreChecked)
{
    const Error error = add("x", "@hourly", {{"operators", {{{"id", "op1"}}, {{"id", "nothing"}}}}}).error();
    ASSERT_EQ(error.fields.size(), 1U);
    EXPECT_EQ(error.fields[0].field, "order.operators[1].id");
    EXPECT_EQ(add("x", "@hourly", {{"probe_task_id", "ptk_x"}}).error().fields.at(0).field, "order.probe_task_id");
    add("a", "@hourly").value();
    add("b", "@hourly").value();
    EXPECT_EQ(add("a", "@daily").error().code, Errc::kConflict);
    EXPECT_EQ(io_.run(schedules_.change(expert_, "b", {.name = "a"}, kAnyVersion)).error().code, Errc::kConflict);
    EXPECT_EQ(io_.run(schedules_.get("c")).error().code, Errc::kNotFound);
}

TEST_F(Schedule, ChangesNeedTheVersionThatWasSeenAndAreAudited)
{
    add("a", "@hourly").value();
    const ScheduleService::VersionCheck stale = [](std::int64_t version) { return version == 7; };
    EXPECT_FALSE(io_.run(schedules_.change(expert_, "a", {.cron = "@daily"}, stale)).value());
    EXPECT_FALSE(io_.run(schedules_.remove(expert_, "a", stale)).value());

    EXPECT_TRUE(io_.run(schedules_.change(expert_, "a", {.cron = "@daily"}, kAnyVersion)).value());
    EXPECT_TRUE(io_.run(schedules_.remove(expert_, "a", kAnyVersion)).value());

    EXPECT_EQ(store_.sql("SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log"),
              "probe_schedule.create probe_schedule.change probe_schedule.remove");
    EXPECT_EQ(io_.run(schedules_.remove(expert_, "a", kAnyVersion)).error().code, Errc::kNotFound);
}

TEST_F(Schedule, GaugesShowBudgetsAndWaitingProbes)
{
    add("all", "@every 60").value();
    clock_.set("2026-11-21T13:01:00Z");
    run_due();

    EXPECT_TRUE(io_.run(task_.set_gauges()));

    const std::string text = metrics_.expose();
    EXPECT_THAT(text, HasSubstr("fathom_probe_budget_limit_seconds{center=\"alpha\"} 25920"));
    EXPECT_THAT(text, HasSubstr("fathom_probe_budget_used_seconds{center=\"alpha\"} 120"));
    EXPECT_THAT(text, HasSubstr("fathom_probe_runs_queued{cause=\"schedule\"} 1"));
    EXPECT_THAT(text, HasSubstr("fathom_probe_runs_queued{cause=\"command\"} 0"));
}

} // namespace
} // namespace fathom::server
