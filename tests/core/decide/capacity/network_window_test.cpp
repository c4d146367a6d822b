#include "core/decide/capacity/network_window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

namespace fathom {
namespace {

using namespace std::chrono_literals;

Timestamp time(const std::string& text)
{
    return parse_rfc3339(text).value();
}

/// A probe of 100 MB every `step` from `from` on, with the rate that `rate_of` says.
template <class RateOf>
std::vector<NetworkSample> probe(const std::string& from, std::chrono::minutes step, int count, RateOf rate_of)
{
    std::vector<NetworkSample> samples;
    for (int i = 0; i < count; ++i) {
        const Timestamp at = time(from) + i * step;
        samples.push_back({at, rate_of(at)});
    }
    return samples;
}

int hour_of_day(Timestamp at)
{
    return hour_of_week(at) % 24;
}

TEST(HourOfWeek, BeginsOnMonday)
{
    EXPECT_EQ(hour_of_week(time("2026-11-16T00:00:00Z")), 0) << "a Monday";
    EXPECT_EQ(hour_of_week(time("2026-11-16T23:59:59Z")), 23);
    EXPECT_EQ(hour_of_week(time("2026-11-22T23:59:59Z")), 167) << "a Sunday";
    EXPECT_EQ(hour_of_week(time("1969-12-29T01:00:00Z")), 1) << "a Monday before 1970";
}

// M20, golden: flat, then a step up in run time; bandwidth is flat, then steps down at the same moment.
TEST(FindSteps, GoldenAStepUpInRunTimeIsAStepDownInBandwidth)
{
    constexpr double kSizeBytes = 1e8;
    std::vector<NetworkSample> samples;
    for (int i = 0; i < 40; ++i) {
        const double run_s = i < 25 ? 2.0 : 5.0;
        samples.push_back({time("2026-11-16T08:00:00Z") + i * 10min, kSizeBytes / run_s});
    }

    const std::vector<NetworkStep> steps = find_steps(samples);

    ASSERT_EQ(steps.size(), 1U);
    EXPECT_EQ(steps[0].at, time("2026-11-16T08:00:00Z") + 250min);
    EXPECT_NEAR(steps[0].before_bytes, 5e7, 1);
    EXPECT_NEAR(steps[0].after_bytes, 2e7, 1);
}

TEST(FindSteps, NoiseAloneIsNoStep)
{
    std::mt19937_64 random(7);
    std::normal_distribution<double> noise;
    int found = 0;
    for (int draw = 0; draw < 50; ++draw) {
        const auto samples =
            probe("2026-11-16T00:00:00Z", 30min, 200, [&](Timestamp) { return 1e8 * std::exp(0.1 * noise(random)); });
        found += static_cast<int>(find_steps(samples).size());
    }
    EXPECT_LE(found, 2);
}

TEST(FindSteps, StepsAreFoundInNoiseWhereTheyAre)
{
    std::mt19937_64 random(7);
    std::normal_distribution<double> noise;
    const Timestamp first = time("2026-11-17T10:00:00Z");
    const Timestamp second = time("2026-11-18T10:00:00Z");
    const auto samples = probe("2026-11-16T00:00:00Z", 30min, 200, [&](Timestamp at) {
        const double level = at < first ? 1e8 : at < second ? 6e7 : 9e7;
        return level * std::exp(0.05 * noise(random));
    });

    const std::vector<NetworkStep> steps = find_steps(samples);

    ASSERT_EQ(steps.size(), 2U);
    EXPECT_LE(std::chrono::abs(steps[0].at - first), 30min);
    EXPECT_LE(std::chrono::abs(steps[1].at - second), 30min);
    EXPECT_NEAR(steps[1].after_bytes / 9e7, 1, 0.05);
}

TEST(FindSteps, TooFewSamplesHaveNone)
{
    EXPECT_TRUE(find_steps({}).empty());
    EXPECT_TRUE(find_steps(probe("2026-11-16T00:00:00Z", 1min, 5, [](Timestamp) { return 1.0; })).empty());
}

// M20, golden: 14:00–16:00 clearly best over several days; a job that can wait is placed there.
TEST(BestWindow, GoldenAfternoonWindow)
{
    const auto samples = probe("2026-11-09T00:00:00Z", 20min, 5 * 72, [](Timestamp at) {
        const int hour = hour_of_day(at);
        return hour >= 14 && hour < 16 ? 4e8 : 5e7;
    });
    const NetworkProfile profile(samples);

    const auto window = best_window(profile, 1e9, time("2026-11-18T09:10:00Z"), time("2026-11-19T09:00:00Z"));

    ASSERT_TRUE(window);
    EXPECT_EQ(window->start, time("2026-11-18T14:00:00Z"));
    EXPECT_NEAR(window->transfer_s, 1e9 / 4e8, 1e-9);
}

TEST(BestWindow, AJobThatCannotWaitStartsAtOnce)
{
    const auto samples =
        probe("2026-11-09T00:00:00Z", 20min, 5 * 72, [](Timestamp at) { return hour_of_day(at) == 14 ? 4e8 : 5e7; });
    const NetworkProfile profile(samples);
    const Timestamp now = time("2026-11-18T09:10:00Z");

    EXPECT_EQ(best_window(profile, 1e9, now, now)->start, now);
    EXPECT_EQ(best_window(profile, 1e9, now, now + 2h)->start, now) << "nothing better until then";
    EXPECT_FALSE(best_window(profile, 1e9, now, now - 1s));
}

TEST(BestWindow, AFlatNetworkIsNoReasonToWait)
{
    const NetworkProfile profile(probe("2026-11-09T00:00:00Z", 20min, 5 * 72, [](Timestamp) { return 1e8; }));
    const Timestamp now = time("2026-11-18T09:10:00Z");

    EXPECT_EQ(best_window(profile, 1e9, now, now + 48h)->start, now);
}

TEST(NetworkProfile, SaysWhereItsKnowledgeIsFrom)
{
    const NetworkProfile profile(std::vector<NetworkSample>{
        {time("2026-11-16T10:05:00Z"), 1e8}, {time("2026-11-16T10:25:00Z"), 3e8}, {time("2026-11-17T12:00:00Z"), 5e8}});

    EXPECT_EQ(profile.at(time("2026-11-23T10:59:00Z")).basis, WindowBasis::kHourOfWeek);
    EXPECT_DOUBLE_EQ(profile.at(time("2026-11-23T10:59:00Z")).rate_bytes, 2e8);
    EXPECT_EQ(profile.at(time("2026-11-24T10:00:00Z")).basis, WindowBasis::kHourOfDay);
    EXPECT_EQ(profile.at(time("2026-11-24T12:00:00Z")).basis, WindowBasis::kHourOfDay) << "one sample is not enough";
    EXPECT_EQ(profile.at(time("2026-11-24T20:00:00Z")).basis, WindowBasis::kOverall);
    EXPECT_DOUBLE_EQ(profile.at(time("2026-11-24T20:00:00Z")).rate_bytes, 3e8);
    EXPECT_EQ(NetworkProfile({}).at(time("2026-11-24T20:00:00Z")).basis, WindowBasis::kUnknown);
    EXPECT_FALSE(NetworkProfile({}).transfer_s(time("2026-11-24T20:00:00Z"), 1));
}

TEST(NetworkProfile, KnowsABestRateAsSoonAsItKnowsAny)
{
    NetworkProfile::Known known{};
    known.overall = {3, 2e8, 0.1};

    EXPECT_EQ(NetworkProfile::from(known).best_rate_bytes(), 2e8);
    EXPECT_EQ(NetworkProfile::from({}).best_rate_bytes(), 0);
    EXPECT_EQ(NetworkProfile::from(known).least_rate_bytes(), 2e8);
    EXPECT_EQ(NetworkProfile::from({}).least_rate_bytes(), 0);
}

TEST(NetworkProfile, ATransferRunsThroughTheHours)
{
    // 1e6 bytes/s until 10:00, ten times that from then on: 30 min · 1e6 + the rest at 1e7.
    const auto samples =
        probe("2026-11-16T00:00:00Z", 30min, 7 * 48, [](Timestamp at) { return hour_of_day(at) < 10 ? 1e6 : 1e7; });

    EXPECT_NEAR(*NetworkProfile(samples).transfer_s(time("2026-11-23T09:30:00Z"), 1.8e9 + 1e8), 1800 + 10, 1e-6);
}

TEST(NetworkProfile, ATransferThatBeginsNowEndsFirst)
{
    const auto samples =
        probe("2026-11-16T00:00:00Z", 30min, 7 * 48, [](Timestamp at) { return hour_of_day(at) < 10 ? 1e6 : 1e7; });
    const NetworkProfile profile(samples);
    const Timestamp start = time("2026-11-23T10:00:00Z"); // 14 h at 10 MB/s, 10 h at 1 MB/s

    EXPECT_EQ(profile.least_end_s(start, 1e9), profile.transfer_s(start, 1e9));
    EXPECT_NEAR(profile.least_end_s(start, 14 * 3.6e10 + 10 * 3.6e9 + 1e9), 24 * 3600 + 100, 1e-6)
        << "at the best rate after a day";
    EXPECT_EQ(profile.least_end_s(start, 0), 0);
    EXPECT_EQ(NetworkProfile::from({}).least_end_s(start, 1e9), 0);
}

RC_GTEST_PROP(NetworkProperty, NoLaterTransferEndsBeforeTheLeastEnd, ())
{
    std::vector<NetworkSample> samples;
    for (int hour = 0; hour < 168; ++hour) {
        const double rate = *rc::gen::inRange(1, 1000) * 1e6;
        samples.insert(samples.end(), 2, {time("2026-11-16T00:30:00Z") + std::chrono::hours(hour), rate});
    }
    const NetworkProfile profile(samples);
    const Timestamp now = time("2026-11-18T00:00:00Z") + std::chrono::minutes(*rc::gen::inRange(0, 10000));
    const double size_bytes = *rc::gen::inRange(1, 100000) * 1e9;
    const double least_s = profile.least_end_s(now, size_bytes);

    for (int i = 0; i < 50; ++i) {
        const auto wait = std::chrono::minutes(*rc::gen::inRange(0, 20000));
        const double transfer_s = profile.transfer_s(now + wait, size_bytes).value();
        const double end_s = Seconds(wait).count() + transfer_s;
        RC_ASSERT(least_s <= end_s * (1 + 1e-9));
        RC_ASSERT(transfer_s <= size_bytes / profile.least_rate_bytes() * (1 + 1e-9));
    }
}

RC_GTEST_PROP(NetworkProperty, MoreTimeToWaitNeverMakesATransferLonger, ())
{
    std::vector<NetworkSample> samples;
    for (int hour = 0; hour < 168; ++hour)
        samples.push_back({time("2026-11-16T00:30:00Z") + std::chrono::hours(hour), *rc::gen::inRange(1, 1000) * 1e6});
    const NetworkProfile profile(samples);
    const Timestamp now = time("2026-11-18T00:00:00Z") + std::chrono::minutes(*rc::gen::inRange(0, 10000));
    const auto wait = std::chrono::minutes(*rc::gen::inRange(0, 3000));

    const auto sooner = best_window(profile, 1e10, now, now + wait);
    const auto later = best_window(profile, 1e10, now, now + wait + 5h);

    RC_ASSERT(later->transfer_s <= sooner->transfer_s * 1.01);
    RC_ASSERT(sooner->start >= now && sooner->start <= now + wait);
}

} // namespace
} // namespace fathom
