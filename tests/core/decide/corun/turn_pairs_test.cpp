#include "core/decide/corun/turn_pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

using Names = std::vector<std::string>;

/// Iterations of a program that come every so many seconds, from a moment on; the last moment.
double iterate(TurnPairs& all, const std::string& program, double every_s, int count = 20, double from_s = 0)
{
    double now_s = from_s;
    for (int i = 0; i < count; ++i) {
        now_s += every_s;
        (void)all.end_iteration(program, now_s);
    }
    return now_s;
}

/// Programs of a pace each, measured alone.
TurnPairs measured_alone(const Names& programs, double every_s = 0.1)
{
    TurnPairs all(2);
    for (const std::string& program : programs) {
        all.add(program, {.kind = "kind of " + program});
        all.run_beside(program, {});
        iterate(all, program, every_s);
        all.stop(program);
    }
    return all;
}

void run_together(TurnPairs& all, double a_every_s, double b_every_s)
{
    all.run_beside("a", {"b"});
    all.run_beside("b", {"a"});
    iterate(all, "a", a_every_s);
    iterate(all, "b", b_every_s);
}

TEST(TurnPairs, ByTheirClassesComputeGoesBesideMemory)
{
    TurnPairs all(2);
    all.add("holder", {.kind = "h", .kernel_class = KernelClass::kMemory});
    all.add("memory", {.kind = "m", .kernel_class = KernelClass::kMemory});
    all.add("compute", {.kind = "c", .kernel_class = KernelClass::kCompute});

    EXPECT_EQ(all.choose({"holder"}, {"memory", "compute"}), "compute");
    EXPECT_EQ(all.choose({"holder"}, {"memory"}), "") << "both would do no more than one";
    EXPECT_EQ(all.choose({"holder", "compute"}, {"memory"}), "") << "as many as may";
}

TEST(TurnPairs, NobodyOfWhomNothingIsKnownIsLetGoBesideOthers)
{
    TurnPairs all = measured_alone({"a"});
    all.add("b", {.kind = "b"});

    EXPECT_EQ(all.choose({"a"}, {"b"}), "");
    EXPECT_EQ(all.choose({"b"}, {"a"}), "");
    EXPECT_EQ(all.choose({"a"}, {"nobody"}), "");
    all.run_beside("b", {});
    iterate(all, "b", 0.1);
    EXPECT_EQ(all.choose({"a"}, {"b"}), "b") << "its pace is known: how both do is found by trying";
}

/// Alone both take 0.1 s an iteration; beside each other 0.125 and 0.2: 0.8 and 0.5 of their paces.
TEST(TurnPairs, WhatBothKeepIsMeasuredByTheirIterations)
{
    TurnPairs all = measured_alone({"a", "b"});

    run_together(all, 0.125, 0.2);

    ASSERT_TRUE(all.share_of("a"));
    EXPECT_NEAR(*all.share_of("a"), 0.8, 1e-6);
    EXPECT_NEAR(*all.share_of("b"), 0.5, 1e-6);
    const PairShare pair = all.pairs().expect({"kind of a"}, {"kind of b"});
    EXPECT_EQ(pair.source, PairSource::kMeasured);
    EXPECT_NEAR(pair.share, 0.8, 1e-6);
    EXPECT_EQ(all.find_worse({{"a", 0.01}, {"b", 0.01}}), "") << "1.3 is more than 1";
    all.stop("b");
    EXPECT_FALSE(all.share_of("b"));
    EXPECT_EQ(all.choose({"a"}, {"b"}), "b");
}

/// 0.5 and 0.46 are less than one alone does; and the pair is remembered.
TEST(TurnPairs, WhoDoLessTogetherThanInTurnsPart)
{
    TurnPairs all = measured_alone({"a", "b"});
    run_together(all, 0.2, 0.1 / 0.46);

    const std::string worse = all.find_worse({{"a", 0.01}, {"b", 0.01}});

    EXPECT_TRUE(worse == "a" || worse == "b") << worse;
    EXPECT_EQ(all.find_worse({{"a", 1000}, {"b", 1000}}), "") << "taking a turn away would cost more than is gained";
    all.stop("b");
    EXPECT_EQ(all.choose({"a"}, {"b"}), "");
}

/// 1.2 in all, but a would have more in turns.
TEST(TurnPairs, NobodyKeepsLessThanAnEqualPart)
{
    TurnPairs all = measured_alone({"a", "b"});
    run_together(all, 0.1 / 0.3, 0.1 / 0.9);

    EXPECT_EQ(all.find_worse({{"a", 0.01}, {"b", 0.01}}), "b");
    all.stop("b");
    EXPECT_EQ(all.choose({"a"}, {"b"}), "");
}

TEST(TurnPairs, FewIterationsSayNothingAndWhoComesOrGoesBeginsAnew)
{
    TurnPairs all = measured_alone({"a", "b", "c"});
    all.run_beside("a", {"b"});
    iterate(all, "a", 0.2, 8);
    EXPECT_FALSE(all.share_of("a"));

    all.run_beside("a", {"b", "c"});
    iterate(all, "a", 0.2, 8, 10);
    EXPECT_FALSE(all.share_of("a"));
    EXPECT_EQ(all.find_worse({{"a", 0}, {"b", 0}, {"c", 0}}), "") << "of some nothing is measured";
    EXPECT_TRUE(all.end_iteration("a", 100));
    EXPECT_TRUE(all.share_of("a"));
    EXPECT_EQ(all.pairs().pair_count(), 0U) << "three are no pair";
}

/// a has c beside it on another GPU.
TEST(TurnPairs, NoPairIsLearnedWhereOneOfTwoHasAThirdBesideIt)
{
    TurnPairs all = measured_alone({"a", "b", "c"});
    all.run_beside("a", {"b", "c"});
    all.run_beside("b", {"a"});
    all.run_beside("c", {"a"});
    for (const char* one : {"a", "b", "c"})
        iterate(all, one, 0.2);

    EXPECT_TRUE(all.share_of("b"));
    EXPECT_EQ(all.pairs().pair_count(), 0U);
}

TEST(TurnPairs, BadMomentsAndStrangersChangeNothing)
{
    TurnPairs all = measured_alone({"a"});
    all.run_beside("a", {"stranger"});
    for (int i = 0; i < 100; ++i)
        EXPECT_FALSE(all.end_iteration("a", 50)); // all at one moment
    EXPECT_FALSE(all.end_iteration("stranger", 51));
    all.run_beside("stranger", {});
    all.stop("stranger");
    all.remove("stranger");
    EXPECT_TRUE(all.end_iteration("a", 51));
    EXPECT_TRUE(std::isfinite(all.share_of("a").value_or(0)));
    EXPECT_EQ(all.find_worse({}), "");
    EXPECT_EQ(all.choose({"a"}, {}), "");
}

/// Programs of other names come and go for years.
TEST(TurnPairs, WhatIsLearnedIsBounded)
{
    TurnPairs all(2);
    for (int round = 0; round < 200; ++round) {
        const Names both{"a" + std::to_string(round), "b" + std::to_string(round)};
        for (const std::string& one : both) {
            all.add(one, {.kind = one});
            all.run_beside(one, {});
            iterate(all, one, 0.1, 9);
        }
        all.run_beside(both[0], {both[1]});
        all.run_beside(both[1], {both[0]});
        for (const std::string& one : both)
            iterate(all, one, 0.15, 9, 10);
        for (const std::string& one : both)
            all.remove(one);
    }
    EXPECT_GT(all.pairs().pair_count(), 0U);
    EXPECT_LE(all.pairs().kind_count(), 300U);
}

/// Programs of a kind came, had so many iterations alone, and ended.
void end_runs(TurnPairs& all, const std::string& kind, int runs, int iterations, bool has_kind = true)
{
    for (int i = 0; i < runs; ++i) {
        const std::string name = "earlier " + std::to_string(i);
        all.add(name, {.kind = kind, .has_kind = has_kind});
        all.run_beside(name, {});
        iterate(all, name, 0.1, iterations);
        all.remove(name);
    }
}

TEST(TurnPairs, HowManyIterationsAProgramHasIsLearnedFromThoseOfItsKindThatEnded)
{
    TurnPairs all(2);
    EXPECT_FALSE(all.expected_iterations("solve"));
    end_runs(all, "solve", 5, 100);
    end_runs(all, "render", 5, 400);
    end_runs(all, "short", 5, 7);
    end_runs(all, "nameless", 5, 100, false);

    ASSERT_TRUE(all.expected_iterations("solve"));
    EXPECT_NEAR(all.expected_iterations("solve")->likely, 100, 1);
    EXPECT_LT(all.expected_iterations("solve")->low, 100);
    EXPECT_GT(all.expected_iterations("solve")->high, 100);
    EXPECT_EQ(all.expected_iterations("solve")->runs, 5);
    EXPECT_NEAR(all.expected_iterations("render")->likely, 400, 4);
    EXPECT_FALSE(all.expected_iterations("short")) << "it ended before it had begun";
    EXPECT_FALSE(all.expected_iterations("nameless"));
    EXPECT_NEAR(all.expected_iterations("solve")->mean_error.value_or(1), 0, 1e-6) << "all of them had as many";
    end_runs(all, "solve", 1, 50);
    EXPECT_NEAR(all.expected_iterations("solve")->mean_error.value_or(0), 0.2, 1e-3) << "of five one by as much again";
    end_runs(all, "once", 1, 100);
    EXPECT_FALSE(all.expected_iterations("once")->mean_error) << "of nobody anything was expected";
}

/// 0.5 and 0.46 are less than one alone does: of a minute ahead 5 s for a switch are worth it, of the last moments not.
TEST(TurnPairs, WhoIsExpectedToEndSoonKeepsItsTurn)
{
    TurnPairs all = measured_alone({"a", "b"});
    run_together(all, 0.2, 0.1 / 0.46);
    EXPECT_NE(all.find_worse({{"a", 5}, {"b", 5}}), "");

    end_runs(all, "kind of a", 5, 42); // a has had 40

    EXPECT_EQ(all.find_worse({{"a", 5}, {"b", 5}}), "");

    TurnPairs longer = measured_alone({"a", "b"});
    run_together(longer, 0.2, 0.1 / 0.46);
    end_runs(longer, "kind of a", 5, 5000);
    EXPECT_NE(longer.find_worse({{"a", 5}, {"b", 5}}), "") << "much is left";
    TurnPairs beyond = measured_alone({"a", "b"});
    run_together(beyond, 0.2, 0.1 / 0.46);
    end_runs(beyond, "kind of a", 5, 9);
    EXPECT_NE(beyond.find_worse({{"a", 5}, {"b", 5}}), "") << "it goes on longer than any before";
}

TEST(TurnPairs, HowManyIterationsAProgramHasIsLearnedByTheSizeOfItsInput)
{
    TurnPairs all(2);
    const auto end_with_size = [&all](double size, int iterations) {
        all.add("earlier", {.kind = "solve"});
        all.set_input_size("earlier", size); // as soon as it knows
        all.run_beside("earlier", {});
        iterate(all, "earlier", 0.1, iterations);
        all.remove("earlier");
    };
    for (int round = 0; round < 4; ++round) {
        end_with_size(10, 20);
        end_with_size(40, 80);
    }
    all.set_input_size("nobody", 10);

    ASSERT_TRUE(all.expected_iterations("solve", 160));
    EXPECT_NEAR(all.expected_iterations("solve", 160)->likely, 320, 16);
    EXPECT_FALSE(all.expected_iterations("solve")) << "those that do not tell it are apart";
    EXPECT_FALSE(all.expected_iterations("render", 160));
}

TEST(TurnPairs, WhatIsLearnedOfIterationsIsBounded)
{
    TurnPairs all(2);
    for (int kind = 0; kind < 300; ++kind)
        end_runs(all, "kind " + std::to_string(kind), 1, 10);

    EXPECT_TRUE(all.expected_iterations("kind 299"));
    EXPECT_FALSE(all.expected_iterations("kind 0")) << "what is learned of too many kinds begins anew";
}

/// Two of which nothing is known here but what they are called elsewhere.
TurnPairs named_only(const Names& programs)
{
    TurnPairs all(2);
    for (const std::string& program : programs)
        all.add(program, {.kind = "0:" + program, .known_as = program});
    return all;
}

TEST(TurnPairs, WhatWasMeasuredElsewhereLetsTwoRunBesideEachOther)
{
    TurnPairs all = named_only({"b", "a"});
    all.add("stranger", {.kind = "c"});
    EXPECT_EQ(all.choose({"b"}, {"a"}), "");
    const std::vector<GpuPair> told{{.a = "b", .b = "a", .a_share = 0.9, .b_share = 0.7, .count = 5}};

    all.know(told);

    EXPECT_EQ(all.choose({"b"}, {"a"}), "a");
    EXPECT_EQ(all.choose({"a"}, {"b"}), "b");
    EXPECT_EQ(all.choose({"a"}, {"stranger"}), "") << "of whom nothing is known";
    EXPECT_DOUBLE_EQ(all.pairs().expect({"0:a"}, {"0:b"}).share, 0.7);
    EXPECT_DOUBLE_EQ(all.pairs().expect({"0:b"}, {"0:a"}).share, 0.9);
    EXPECT_EQ(all.choose({"a", "stranger"}, {"b"}), "") << "as many as may";
}

TEST(TurnPairs, WhatWasMeasuredElsewhereKeepsTwoApart)
{
    TurnPairs all(2);
    const std::vector<GpuPair> told{{.a = "a", .b = "b", .a_share = 0.4, .b_share = 0.45}};
    all.know(told); // before they come
    for (const char* name : {"a", "b"})
        all.add(name, {.kind = std::string("0:") + name, .kernel_class = KernelClass::kUnknown, .known_as = name});
    for (const char* name : {"a", "b"}) {
        all.run_beside(name, {});
        iterate(all, name, 0.1);
        all.stop(name);
    }

    EXPECT_EQ(all.choose({"a"}, {"b"}), "") << "without it it would be tried";
}

/// Alone both take 0.1 s an iteration. What is measured here counts once, what was elsewhere four times at most.
TEST(TurnPairs, WhatIsMeasuredHereSoonCountsForMoreThanWhatWasElsewhere)
{
    TurnPairs all = named_only({"a", "b"});
    const std::vector<GpuPair> told{{.a = "a", .b = "b", .a_share = 0.9, .b_share = 0.9, .count = 1000}};
    all.know(told);
    all.know(told); // again with the next order
    for (const char* name : {"a", "b"}) {
        all.run_beside(name, {});
        iterate(all, name, 0.1);
        all.stop(name);
    }

    all.run_beside("a", {"b"});
    all.run_beside("b", {"a"});
    iterate(all, "a", 0.2, 9);
    iterate(all, "b", 0.2, 9);

    EXPECT_NEAR(all.pairs().expect({"0:a"}, {"0:b"}).share, (4 * 0.9 + 0.5) / 5, 1e-6);
    EXPECT_EQ(all.pairs().expect({"0:a"}, {"0:b"}).count, 5);
}

TEST(TurnPairs, WhatIsMeasuredIsTakenOnce)
{
    TurnPairs all = measured_alone({"a", "b"});
    run_together(all, 0.125, 0.2);

    const std::vector<MeasuredTurns> measured = all.take_measured();

    ASSERT_FALSE(measured.empty());
    const bool is_a_first = measured[0].a == "a";
    EXPECT_EQ(measured[0].b, is_a_first ? "b" : "a");
    EXPECT_NEAR(is_a_first ? measured[0].a_share : measured[0].b_share, 0.8, 1e-6);
    EXPECT_NEAR(is_a_first ? measured[0].b_share : measured[0].a_share, 0.5, 1e-6);
    EXPECT_TRUE(all.take_measured().empty());
}

} // namespace
} // namespace fathom
