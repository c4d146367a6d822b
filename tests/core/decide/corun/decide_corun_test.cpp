#include "core/decide/corun/decide_corun.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kCompute = KernelClass::kCompute;
constexpr auto kMemory = KernelClass::kMemory;
constexpr double kCost = 0.06396 * 49'152 * 64; ///< 201 200.8 cycles

/// A kernel with 1e6 cycles to go that holds 48 KiB in each of 64 thread blocks.
RunningKernel running(const std::string& id, KernelClass kernel_class, double normalized = 0.6)
{
    RunningKernel kernel;
    kernel.id = id;
    kernel.kind = "kind of " + id;
    kernel.kernel_class = kernel_class;
    kernel.ipc_alone = 2;
    kernel.ipc = 2 * normalized;
    kernel.instructions = 1e6 * kernel.ipc + 1e5;
    kernel.instructions_done = 1e5;
    kernel.l2_miss_rate = 0.5;
    kernel.register_bytes = 32'768;
    kernel.shared_bytes = 16'384;
    kernel.thread_blocks = 64;
    return kernel;
}

WaitingKernel waiting(const std::string& id, KernelClass kernel_class, std::int64_t order = 0)
{
    return {.id = id, .kind = "kind of " + id, .kernel_class = kernel_class, .order = order};
}

CorunDecision decide(const CorunState& state, const PairModel& pairs = {})
{
    const Result<CorunDecision> decision = decide_corun(state, pairs);
    EXPECT_TRUE(decision) << describe(decision.error());
    return decision ? *decision : CorunDecision{};
}

void measure(PairModel& pairs, const std::string& a, const std::string& b, double a_share, double b_share)
{
    const std::string one = "kind of " + a;
    const std::string other = "kind of " + b;
    pairs.add({.a = {one}, .b = {other}, .a_share = a_share, .b_share = b_share}).value();
    pairs.refit();
}

TEST(DecideCorun, NothingToDoIsToKeep)
{
    EXPECT_EQ(decide({}).action, CorunAction::kKeep);
    EXPECT_THAT(decide({}).reason, HasSubstr("no kernel waits"));
}

TEST(DecideCorun, LaunchesTheFirstInLineWhereNothingRuns)
{
    const CorunDecision decision = decide({{}, {waiting("b", kMemory, 2), waiting("c", kCompute, 1)}, {}});

    EXPECT_EQ(decision.action, CorunAction::kLaunch);
    EXPECT_EQ(decision.launch, "c");
    EXPECT_EQ(decision.combined_then, 1);
}

TEST(DecideCorun, ByDefaultComputeGoesBesideMemory)
{
    const std::vector both{waiting("compute", kCompute), waiting("memory", kMemory)};

    EXPECT_EQ(decide({{running("a", kMemory, 1)}, both, {}}).launch, "compute");
    EXPECT_EQ(decide({{running("a", kCompute, 1)}, both, {}}).launch, "memory");
}

TEST(DecideCorun, MeasuredPairsGoByTheSumOfNormalizedIpc)
{
    PairModel pairs;
    measure(pairs, "a", "good", 0.9, 0.9);
    measure(pairs, "a", "bad", 0.3, 0.4);

    const CorunDecision decision =
        decide({{running("a", kCompute, 1)}, {waiting("bad", kMemory), waiting("good", kCompute)}, {}}, pairs);

    EXPECT_EQ(decision.launch, "good") << "although by classes the other were better";
    EXPECT_NEAR(decision.combined_then, 1.8, 1e-12);
    ASSERT_EQ(decision.basis.size(), 2U);
    EXPECT_EQ(decision.basis[0].expected.source, PairSource::kMeasured);
}

TEST(DecideCorun, APreemptedKernelComesBeforeANewOneOfEqualPriority)
{
    WaitingKernel old = waiting("old", kMemory, 9);
    old.was_preempted = true;
    const WaitingKernel young = waiting("young", kMemory, 1);

    EXPECT_EQ(decide({{running("a", kCompute, 1)}, {young, old}, {}}).launch, "old");
    EXPECT_EQ(decide({{running("a", kCompute, 1)}, {young, old, waiting("other", kCompute, 0)}, {}}).launch, "old");
    old.kernel_class = kCompute;
    EXPECT_EQ(decide({{running("a", kCompute, 1)}, {young, old}, {}}).launch, "young") << "not before a better one";
}

TEST(DecideCorun, TiesGoToTheEarlierAndThenToTheLowerId)
{
    EXPECT_EQ(decide({{}, {waiting("a", kMemory, 2), waiting("b", kMemory, 1)}, {}}).launch, "b");
    EXPECT_EQ(decide({{}, {waiting("b", kMemory, 1), waiting("a", kMemory, 1)}, {}}).launch, "a");
}

TEST(DecideCorun, AtTheLimitItKeepsWhereNoCombinationIsBetter)
{
    const CorunDecision decision =
        decide({{running("a", kCompute, 0.7), running("b", kMemory, 0.7)}, {waiting("c", kMemory)}, {}});

    EXPECT_EQ(decision.action, CorunAction::kKeep);
    EXPECT_THAT(decision.reason, HasSubstr("no waiting kernel makes a better combination"));
    EXPECT_FALSE(decision.figures);
}

// Two memory-intensive kernels, 0.5 + 0.4, and a compute-intensive one waits: by default 0.60 + 0.70 with either.
// Cost with a miss rate of 0.5: 201 200.8 cycles; the first ends in 1e6. The better survivor is the faster one:
// before = 0.9 · 1e6; after = 0.5 · 0.9 · 201 200.8 + 1.3 · (1e6 − 201 200.8).
TEST(DecideCorun, PreemptsByTheFormulasOfTheSpecification)
{
    const CorunDecision decision =
        decide({{running("a", kMemory, 0.5), running("b", kMemory, 0.4)}, {waiting("c", kCompute)}, {}});

    EXPECT_EQ(decision.action, CorunAction::kPreempt);
    EXPECT_EQ(decision.launch, "c");
    EXPECT_THAT(decision.victims, ElementsAre("b"));
    ASSERT_TRUE(decision.figures);
    EXPECT_NEAR(decision.figures->preempt_cycles, 201'200.8, 0.1);
    EXPECT_NEAR(decision.figures->rest_cycles, 1e6, 1e-3);
    EXPECT_NEAR(decision.figures->before, 0.9e6, 1e-3);
    EXPECT_NEAR(decision.figures->after, 0.5 * 0.9 * kCost + 1.3 * (1e6 - kCost), 1e-3);
    EXPECT_THAT(decision.reason, HasSubstr("pre-empting b for c"));
}

TEST(DecideCorun, TheDecayOfASurvivorIsThatOfItsClass)
{
    const CorunState state{{running("a", kCompute, 0.5), running("b", kMemory, 0.4)}, {waiting("c", kMemory)}, {}};
    CorunState colder = state;
    colder.running[0].kernel_class = kMemory;
    colder.waiting[0].kernel_class = kCompute; // the same combination the other way round
    colder.settings.memory_decay = 0.83;

    EXPECT_NEAR(decide(state).figures->after, 0.5 * kCost + 1.3 * (1e6 - kCost), 1e-3);
    EXPECT_NEAR(decide(colder).figures->after, 0.5 * 0.83 * kCost + 1.3 * (1e6 - kCost), 1e-3);
}

TEST(DecideCorun, KeepsWhereTheGainIsBelowTheCost)
{
    CorunState state{{running("a", kMemory, 0.65), running("b", kMemory, 0.6)}, {waiting("c", kCompute)}, {}};

    const CorunDecision decision = decide(state);

    EXPECT_EQ(decision.action, CorunAction::kKeep) << "1.3 against 1.25, but a fifth of the time is lost";
    EXPECT_LT(decision.figures->after, decision.figures->before);
    for (RunningKernel& kernel : state.running)
        kernel.thread_blocks = 1;
    EXPECT_EQ(decide(state).action, CorunAction::kPreempt) << "a small victim is cheap";
}

TEST(DecideCorun, NeverPreemptsWhereWaitingTakesNoLonger)
{
    CorunState state{{running("a", kMemory, 0.5), running("b", kMemory, 0.4)}, {waiting("c", kCompute)}, {}};
    state.running[0].instructions_done = state.running[0].instructions - 100;

    const CorunDecision decision = decide(state);

    EXPECT_EQ(decision.action, CorunAction::kKeep);
    EXPECT_THAT(decision.reason, HasSubstr("the first kernel ends in 100"));
}

TEST(DecideCorun, OfSeveralVictimsThatOneGoesWhichLeavesMost)
{
    CorunState state{{running("a", kMemory, 0.5), running("b", kMemory, 0.4), running("c", kMemory, 0.3)},
                     {waiting("d", kCompute)},
                     {}};
    state.settings.limit = 3;
    PairModel pairs;
    for (const auto& [one, other] : {std::pair("a", "b"), {"a", "c"}, {"b", "c"}, {"a", "d"}, {"b", "d"}, {"c", "d"}})
        measure(pairs, one, other, 0.7, 0.7);

    EXPECT_THAT(decide(state, pairs).victims, ElementsAre("c")) << "the slowest, all being equal after that";
    state.running[2].thread_blocks = 1000;
    EXPECT_THAT(decide(state, pairs).victims, ElementsAre("b")) << "the other has become too dear";
    measure(pairs, "b", "d", 0.9, 0.9);
    measure(pairs, "b", "d", 1, 1);
    state.running[2].thread_blocks = 64;
    EXPECT_THAT(decide(state, pairs).victims, ElementsAre("c"));
}

TEST(DecideCorun, AMeasuredCostTakesThePlaceOfTheFormula)
{
    CorunState state{{running("a", kMemory, 0.5), running("b", kMemory, 0.4)}, {waiting("c", kCompute)}, {}};
    for (RunningKernel& kernel : state.running)
        kernel.preempt_cycles = 1234;

    EXPECT_EQ(decide(state).figures->preempt_cycles, 1234);
}

TEST(DecideCorun, WithALimitOfOneTheMoreImportantReplaces)
{
    CorunState state{{running("a", kMemory, 1)}, {waiting("b", kCompute)}, {}};
    state.settings.limit = 1;

    EXPECT_EQ(decide(state).action, CorunAction::kKeep);
    state.waiting[0].weight = 5;
    EXPECT_EQ(decide(state).action, CorunAction::kPreempt);
    EXPECT_NEAR(decide(state).figures->preempt_cycles, 51'369.7, 0.1) << "none stays that could miss";
}

TEST(DecideCorun, WeightsCountInTheCombination)
{
    CorunState state{{running("a", kMemory, 1)}, {waiting("b", kMemory), waiting("c", kCompute)}, {}};
    state.waiting[0].weight = 10;

    EXPECT_EQ(decide(state).launch, "b");
}

TEST(DecideCorun, ByTheRulesALossIsLaunchedAndOnlyOnDemandHeldBack)
{
    PairModel pairs;
    measure(pairs, "a", "b", 0.4, 0.4);
    CorunState state{{running("a", kMemory, 1)}, {waiting("b", kMemory)}, {}};

    EXPECT_EQ(decide(state, pairs).action, CorunAction::kLaunch);
    state.settings.may_run_fewer = true;
    EXPECT_EQ(decide(state, pairs).action, CorunAction::kKeep);
    EXPECT_THAT(decide(state, pairs).reason, HasSubstr("b is held back"));
    state.running.clear();
    EXPECT_EQ(decide(state, pairs).action, CorunAction::kLaunch) << "the first is never held back";
}

TEST(DecideCorun, OnDemandAKernelThatHurtsIsPreemptedWithNoneInItsPlace)
{
    CorunState state{{running("a", kMemory, 0.3), running("b", kMemory, 0.4)}, {}, {}};

    EXPECT_EQ(decide(state).action, CorunAction::kKeep);
    state.settings.may_run_fewer = true;
    const CorunDecision decision = decide(state);
    EXPECT_EQ(decision.action, CorunAction::kPreempt);
    EXPECT_THAT(decision.victims, ElementsAre("a"));
    EXPECT_EQ(decision.launch, "");
}

TEST(DecideCorun, WhatCannotRunTogetherIsNoCombination)
{
    PairModel pairs;
    pairs.exclude({"kind of a"}, {"kind of b"});
    CorunState state{{running("a", kMemory, 1)}, {waiting("b", kCompute)}, {}};

    EXPECT_EQ(decide(state, pairs).action, CorunAction::kKeep);
    state.waiting.push_back(waiting("c", kMemory));
    EXPECT_EQ(decide(state, pairs).launch, "c");
}

TEST(DecideCorun, OnDemandAllGoForOneThatFitsBesideNone)
{
    PairModel pairs;
    pairs.exclude({"kind of a"}, {"kind of c"});
    pairs.exclude({"kind of b"}, {"kind of c"});
    CorunState state{{running("a", kMemory, 0.5), running("b", kMemory, 0.5)}, {waiting("c", kCompute)}, {}};
    state.waiting[0].weight = 10;

    EXPECT_EQ(decide(state, pairs).action, CorunAction::kKeep);
    state.settings.may_run_fewer = true;
    const CorunDecision decision = decide(state, pairs);
    EXPECT_EQ(decision.launch, "c");
    EXPECT_THAT(decision.victims, ElementsAre("a", "b"));
    EXPECT_NEAR(decision.figures->preempt_cycles, 2 * 51'369.7, 0.1) << "one after the other; none stays";
}

TEST(DecideCorun, NamesEveryFaultAtOnce)
{
    CorunState state{{running("a", kMemory), running("a", kMemory)}, {waiting("", kMemory)}, {}};
    state.running[0].ipc = std::numeric_limits<double>::quiet_NaN();
    state.running[0].l2_miss_rate = 1.5;
    state.running[1].instructions = -1;
    state.waiting[0].weight = 0;
    state.settings = {.limit = 1, .memory_decay = 0.5};

    const Error error = decide_corun(state, {}).error();

    EXPECT_EQ(error.code, Errc::kInvalid);
    std::vector<std::string> fields;
    for (const FieldError& field : error.fields)
        fields.push_back(field.field);
    EXPECT_THAT(fields, testing::UnorderedElementsAre("memory_decay", "running", "running[0].ipc",
                                                      "running[0].l2_miss_rate", "running[1].instructions",
                                                      "running[1].id", "waiting[0].id", "waiting[0].weight"));
    state.settings.limit = 0;
    EXPECT_FALSE(decide_corun(state, {}));
}

} // namespace
} // namespace fathom
