// Copies of a probe side by side: what each gets of the processors, their step, and their results as one.
#include "probes/runner/copies_in_step.hpp"
#include "probes/runner/memory_pressure.hpp"
#include "probes/runner/run_copies.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace fathom::probes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DivideCpus, EachCopyGetsAsManyInOrder)
{
    const std::vector<int> cpus{0, 1, 2, 3, 8, 9, 10};

    EXPECT_THAT(divide_cpus(cpus, 3).value(), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(8, 9)));
    EXPECT_THAT(divide_cpus(cpus, 1).value(), ElementsAre(ElementsAre(0, 1, 2, 3, 8, 9, 10)));
    EXPECT_THAT(divide_cpus(cpus, 8).error().detail, HasSubstr("8 copies need a processor each; 7 may be used"));
}

TEST(JoinResults, TheFirstCopyHasTheOthers)
{
    std::vector<ProbeResult> results(3);
    for (std::size_t i = 0; i < results.size(); ++i) {
        results[i].wall_s = 1 + static_cast<double>(i);
        results[i].host = {{"hostname", "h"}};
    }

    const ProbeResult joined = join_results(results, 4);

    EXPECT_EQ(joined.wall_s, 4);
    EXPECT_EQ(joined.host["hostname"], "h");
    ASSERT_EQ(joined.copies.size(), 2U);
    EXPECT_EQ(joined.copies[1].wall_s, 3);
    EXPECT_TRUE(joined.copies[1].host.empty());
}

TEST(JoinResults, IsReadAsItIsPrinted)
{
    ProbeResult one;
    one.task = "t";
    OperatorResult item;
    item.id = "op1";
    item.samples_s = {1, 2};
    item.executions = {1, 1};
    item.median_s = item.ci_low_s = item.ci_high_s = 1.5;
    item.precision = "fp64";
    item.alone = SampledTimes{{1}, {1}, 1, 1, 1};
    item.pressure = PressureTimes{{{2}, {1}, 2, 2, 2}, {{3}, {1}, 3, 3, 3}};
    one.operators = {item};
    one.reporter = ReporterTimes{{{4}, {1}, 4, 4, 4}, {{5}, {1}, 5, 5, 5}};

    const ProbeResult read = parse_probe_result(to_json(join_results({one, one}, 1))).value();

    ASSERT_EQ(read.copies.size(), 1U);
    EXPECT_EQ(read.copies[0].operators.at(0).median_s, 1.5);
    EXPECT_EQ(read.operators.at(0).alone.value().median_s, 1);
    EXPECT_EQ(read.operators[0].pressure.value().beside_bubbles.median_s, 2);
    EXPECT_EQ(read.operators[0].pressure->reporter.median_s, 3);
    EXPECT_EQ(read.reporter.value().alone.median_s, 4);
    EXPECT_EQ(read.reporter->beside_bubbles.median_s, 5);

    Json half = to_json(one);
    half["operators"][0]["pressure"].erase("reporter");
    EXPECT_THAT(describe(parse_probe_result(half).error()), HasSubstr("pressure.reporter"));
}

TEST(CopiesInStep, NobodyGoesOnBeforeAllAreThere)
{
    constexpr int kCopies = 3;
    constexpr int kSteps = 200;
    CopiesInStep starter = CopiesInStep::make(kCopies).value();
    std::atomic<int> arrived = 0;
    std::atomic<int> too_early = 0;
    std::vector<std::thread> copies;
    for (int copy = 0; copy < kCopies; ++copy) {
        copies.emplace_back([&, copy] {
            CopiesInStep own = CopiesInStep::join(starter.place_of(copy)).value();
            for (int step = 1; step <= kSteps; ++step) {
                ++arrived;
                own.wait(CopiesInStep::kShortPause);
                if (arrived.load() < step * kCopies) ++too_early;
            }
        });
    }
    for (std::thread& copy : copies)
        copy.join();

    EXPECT_EQ(too_early.load(), 0);
    EXPECT_TRUE(CopiesInStep::join(starter.place_of(0)).value().is_first());
    EXPECT_FALSE(CopiesInStep::join(starter.place_of(1)).value().is_first());
}

TEST(CopiesInStep, AllHearWhatTheFirstSays)
{
    constexpr int kCopies = 3;
    CopiesInStep starter = CopiesInStep::make(kCopies).value();
    std::atomic<int> wrong = 0;
    std::vector<std::thread> copies;
    for (int copy = 0; copy < kCopies; ++copy) {
        copies.emplace_back([&, copy] {
            CopiesInStep own = CopiesInStep::join(starter.place_of(copy)).value();
            for (int i = 0; i < 50; ++i) {
                const bool says = i % 3 == 0;
                if (own.agree(own.is_first() ? says : !says) != says) ++wrong;
            }
        });
    }
    for (std::thread& copy : copies)
        copy.join();

    EXPECT_EQ(wrong.load(), 0);
}

TEST(CopiesInStep, TheOthersSeeThatTheFirstHasDoneItsPart)
{
    CopiesInStep starter = CopiesInStep::make(2).value();
    CopiesInStep first = CopiesInStep::join(starter.place_of(0)).value();
    CopiesInStep second = CopiesInStep::join(starter.place_of(1)).value();
    std::thread first_begins([&] { first.wait(CopiesInStep::kShortPause); });
    second.wait(CopiesInStep::kShortPause);
    first_begins.join();
    EXPECT_FALSE(second.is_first_waiting());

    std::thread first_ends([&] { first.wait(CopiesInStep::kShortPause); });
    while (!second.is_first_waiting())
        std::this_thread::yield();
    second.wait(CopiesInStep::kShortPause);
    first_ends.join();

    starter.note_end(0);
    EXPECT_TRUE(second.is_first_waiting()) << "nobody presses on for one that has gone";
}

TEST(CopiesInStep, WhoHasEndedIsWaitedForNoMore)
{
    CopiesInStep starter = CopiesInStep::make(2).value();
    CopiesInStep own = CopiesInStep::join(starter.place_of(0)).value();
    starter.note_end(1);

    own.wait(CopiesInStep::kShortPause); // comes back
    EXPECT_EQ(own.count(), 2);
}

// On a host of many cores bubbles slow each other far more than twice, and so do copies in step, for which the time
// must be left.
TEST(MemoryPressure, TheFirstCopyKnowsByHowMuchBubblesSlowThingsThere)
{
    CopiesInStep starter = CopiesInStep::make(2).value();
    std::array<std::optional<ReporterTimes>, 2> reporters;
    std::array<double, 2> slowdowns{};
    std::vector<std::thread> copies;
    for (std::size_t copy = 0; copy < slowdowns.size(); ++copy) {
        copies.emplace_back([&, copy] {
            CopiesInStep own = CopiesInStep::join(starter.place_of(static_cast<int>(copy))).value();
            MemoryPressure pressure(own, 1, 2);
            const Result<void> started = pressure.start(1, {.min_sample_s = 0.001});
            EXPECT_TRUE(started);
            reporters.at(copy) = pressure.reporter();
            slowdowns.at(copy) = pressure.slowdown();
            starter.note_end(static_cast<int>(copy));
        });
    }
    for (std::thread& copy : copies)
        copy.join();

    ASSERT_TRUE(reporters[0]);
    EXPECT_EQ(reporters[0]->alone.samples_s.size(), 2U);
    EXPECT_EQ(slowdowns[0], std::max(2.0, reporters[0]->beside_bubbles.median_s / reporters[0]->alone.median_s));
    EXPECT_FALSE(reporters[1]) << "it is a bubble";
    EXPECT_EQ(slowdowns[1], 2);
}

TEST(CopiesInStep, WhatTheStarterDidNotSayIsRefused)
{
    const std::string place = CopiesInStep::make(2).value().place_of(0);
    for (const std::string& wrong :
         {std::string(), std::string("1"), std::string("0:2"), std::string("2:2:0"), std::string("0:65:0"),
          std::string("0:2:999999"), std::string("-1:2:0"), std::string("0:2:0:1"), std::string("a:b:c")})
        EXPECT_FALSE(CopiesInStep::join(wrong)) << wrong << " is not " << place;
}

} // namespace
} // namespace fathom::probes
