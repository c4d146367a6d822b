#include "core/decide/capacity/plan_start.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

namespace fathom {
namespace {

using namespace std::chrono_literals;

Timestamp time(const std::string& text)
{
    return parse_rfc3339(text).value();
}

/// Five days of samples, three an hour: 400 MB/s from 14:00 to 16:00, 50 MB/s else.
NetworkProfile afternoon(NetworkCalendar calendar = {}, Timestamp from = time("2026-11-09T00:00:00Z"))
{
    std::vector<NetworkSample> samples;
    for (int i = 0; i < 5 * 72; ++i) {
        const Timestamp at = from + i * calendar.hour / 3;
        const int hour = hour_of_week(at, calendar) % 24;
        samples.push_back({at, hour >= 14 && hour < 16 ? 4e8 : 5e7});
    }
    return NetworkProfile(samples, calendar);
}

TransferRequest transfer(double in_bytes, double out_bytes = 0)
{
    TransferRequest request;
    request.in_bytes = in_bytes;
    request.out_bytes = out_bytes;
    request.now = time("2026-11-18T09:10:00Z");
    return request;
}

const RunTime kMinute{60, 50, 70};

// M20, golden: 14:00–16:00 clearly best over several days; a job that can wait is placed there.
TEST(PlanStart, GoldenAJobThatCanWaitStartsInTheWindow)
{
    const NetworkProfile network = afternoon();
    TransferRequest request = transfer(4e10);
    request.deadline = time("2026-11-18T20:00:00Z");

    const StartPlan plan = plan_start(request, &network, 0, kMinute);

    ASSERT_TRUE(plan.window);
    EXPECT_EQ(plan.window->start, time("2026-11-18T14:00:00Z"));
    EXPECT_NEAR(plan.in_s, 4e10 / 4e8, 1e-6);
    EXPECT_NEAR(plan.window->transfer_now_s, 4e10 / 5e7, 1e-6);
    EXPECT_NEAR(plan.start_s, 4.0 * 3600 + 50 * 60, 1e-6);
    EXPECT_NEAR(plan.occupied.run_s, 100 + 60, 1e-6);
    EXPECT_NEAR(plan.completion_s, plan.start_s + 160, 1e-6);
}

TEST(PlanStart, AJobThatMustNotWaitStartsAtOnce)
{
    const NetworkProfile network = afternoon();
    TransferRequest request = transfer(4e10);
    request.deadline = time("2026-11-18T20:00:00Z");
    request.network = NetworkChoice::kNow;

    const StartPlan plan = plan_start(request, &network, 0, kMinute);

    EXPECT_FALSE(plan.window);
    EXPECT_EQ(plan.start_s, 0);
    EXPECT_NEAR(plan.in_s, 800, 1e-6);
}

TEST(PlanStart, TheDeadlineIsKeptEvenWhenAllTakesItsLongest)
{
    const NetworkProfile network = afternoon();
    TransferRequest request = transfer(4e10);

    request.deadline = time("2026-11-18T14:02:55Z"); // 100 s of transfer and at most 70 s of run from 14:00 on
    EXPECT_TRUE(plan_start(request, &network, 0, kMinute).window);
    request.deadline = time("2026-11-18T14:02:45Z");
    const StartPlan plan = plan_start(request, &network, 0, kMinute);
    EXPECT_TRUE(!plan.window || plan.window->start < time("2026-11-18T14:00:00Z"));
}

TEST(PlanStart, WithoutADeadlineItNeverWaitsSinceThatWouldEndLater)
{
    const NetworkProfile network = afternoon();
    TransferRequest request = transfer(4e10);
    request.now = time("2026-11-18T13:59:00Z");

    const StartPlan plan = plan_start(request, &network, 0, kMinute);

    EXPECT_FALSE(plan.window);
    EXPECT_NEAR(plan.in_s, 60 + (4e10 - 60 * 5e7) / 4e8, 1e-6) << "a minute before the window, the rest inside it";
}

TEST(PlanStart, ResultsAreMovedAfterTheRun)
{
    const NetworkProfile network = afternoon();
    TransferRequest request = transfer(0, 4e10);
    request.now = time("2026-11-18T13:00:00Z");
    const RunTime hour{3600, 3600, 3600};

    const StartPlan plan = plan_start(request, &network, 0, hour);

    EXPECT_EQ(plan.in_s, 0);
    EXPECT_NEAR(plan.out_s, 100, 1e-6) << "at 14:00";
    EXPECT_FALSE(plan.window);
}

TEST(PlanStart, WithoutFiguresOfTheNetworkTransfersAreLeftOutAndSaidToBe)
{
    const StartPlan plan = plan_start(transfer(1e9), nullptr, 5, kMinute);

    EXPECT_TRUE(plan.is_network_unknown);
    EXPECT_EQ(plan.completion_s, 65);
    EXPECT_FALSE(plan_start(transfer(0), nullptr, 5, kMinute).is_network_unknown);
}

TEST(PlanStart, ACompressedWeekHasTheSameWindows)
{
    const NetworkCalendar fast{1500ms}; // a day is 36 s
    const Timestamp from = time("2026-11-09T00:00:00Z");
    const NetworkProfile network = afternoon(fast, from);
    TransferRequest request = transfer(1e8);
    request.now = from + 600s;
    request.deadline = request.now + 60s;

    const StartPlan plan = plan_start(request, &network, 0, {0.5, 0.5, 0.5});

    ASSERT_TRUE(plan.window);
    EXPECT_EQ(hour_of_week(plan.window->start, fast) % 24, 14);
    EXPECT_LE(plan.start_s, 36);
}

/// The start of the least transfers, found by looking at every quarter of an hour in turn.
std::optional<Timestamp> plain_start(const TransferRequest& request, const NetworkProfile& network, double wait_s,
                                     const Availability& units)
{
    const Timestamp earliest = moment_after(request.now, wait_s);
    return best_start(network.calendar(), earliest, *request.deadline, [&](Timestamp start) -> std::optional<double> {
        const double start_s = Seconds(start - request.now).count();
        const StartPlan plan = plan_at_once(request, &network, start_s, kMinute);
        const bool is_in_time = moment_after(request.now, start_s + plan.occupied.high_s) <= *request.deadline;
        const bool is_free = units.earliest_start(1, plan.occupied.high_s, start_s) == start_s;
        return start == earliest || (is_in_time && is_free) ? plan.in_s + plan.out_s : HUGE_VAL;
    });
}

RC_GTEST_PROP(PlanStartProperty, FindsTheStartOfAPlainLoop, ())
{
    std::vector<NetworkSample> samples;
    for (int hour = 0; hour < 168; ++hour)
        samples.push_back({time("2026-11-09T00:30:00Z") + std::chrono::hours(hour), *rc::gen::inRange(1, 200) * 1e7});
    const NetworkProfile network(samples);
    TransferRequest request = transfer(*rc::gen::inRange(1, 10000) * 1e9, *rc::gen::inRange(0, 10000) * 1e9);
    request.deadline = request.now + *rc::gen::inRange(1, 90 * 60) * 1min;
    Availability units(1);
    for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
        const double from_s = *rc::gen::inRange(7200, 200'000);
        units.take(from_s, from_s + *rc::gen::inRange(60, 20'000), 1);
    }
    const double wait_s = *rc::gen::inRange(0, 7200);
    StartTerms terms;
    terms.availability = &units;

    const StartPlan plan = plan_start(request, &network, wait_s, kMinute, terms);

    const std::optional<Timestamp> plain = plain_start(request, network, wait_s, units);
    const StartPlan now = plan_at_once(request, &network, wait_s, kMinute);
    const double best_s = (request.in_bytes + request.out_bytes) / network.best_rate_bytes();
    if (!plan.window && now.in_s + now.out_s <= best_s * 1.01) return; // no hour is worth a wait
    RC_ASSERT((plan.window ? plan.window->start : moment_after(request.now, wait_s)) ==
              plain.value_or(moment_after(request.now, wait_s)));
}

RC_GTEST_PROP(PlanStartProperty, WaitingNeverMissesTheDeadlineNorTransfersSlower, ())
{
    const NetworkProfile network = afternoon();
    TransferRequest request = transfer(*rc::gen::inRange(1, 100) * 1e9, *rc::gen::inRange(0, 100) * 1e9);
    request.now += *rc::gen::inRange(0, 24 * 60) * 1min;
    request.deadline = request.now + *rc::gen::inRange(1, 40 * 60) * 1min;
    const double wait_s = *rc::gen::inRange(0, 7200);

    const StartPlan now = plan_at_once(request, &network, wait_s, kMinute);
    const StartPlan plan = plan_start(request, &network, wait_s, kMinute);

    RC_ASSERT(plan.start_s >= wait_s);
    RC_ASSERT(plan.in_s + plan.out_s <= (now.in_s + now.out_s) * (1 + 1e-9));
    if (plan.window)
        RC_ASSERT(plan.start_s + plan.occupied.high_s <= Seconds(*request.deadline - request.now).count() + 1e-3);
}

} // namespace
} // namespace fathom
