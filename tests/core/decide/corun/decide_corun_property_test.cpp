#include "core/decide/corun/corun_json.hpp"
#include "core/decide/corun/decide_corun.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

namespace fathom {
namespace {

/// Names outlive the pairs that are learned with them.
const std::vector<std::string> kKinds{"a", "b", "c", "d", "e"};

struct Drawn {
    CorunState state;
    PairModel pairs;
    std::mt19937_64 generator;

    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(generator); }
    std::size_t index(std::size_t size) { return generator() % size; }
};

RunningKernel draw_running(Drawn& drawn, std::size_t number)
{
    RunningKernel kernel;
    kernel.id = fmt::format("r{}", number);
    kernel.kind = kKinds[drawn.index(kKinds.size())];
    kernel.kernel_class = static_cast<KernelClass>(drawn.index(3));
    kernel.weight = drawn.index(2) == 0 ? 1 : drawn.uniform(0.1, 10);
    kernel.instructions = drawn.uniform(1e5, 1e7);
    kernel.instructions_done = drawn.uniform(0, 1.1) * kernel.instructions;
    kernel.ipc_alone = drawn.uniform(0.5, 4);
    kernel.ipc = kernel.ipc_alone * drawn.uniform(0.2, 1);
    kernel.l2_miss_rate = drawn.uniform(0, 1);
    kernel.register_bytes = drawn.uniform(0, 65'536);
    kernel.shared_bytes = drawn.uniform(0, 49'152);
    kernel.thread_blocks = drawn.uniform(0, 200);
    return kernel;
}

WaitingKernel draw_waiting(Drawn& drawn, std::size_t number)
{
    WaitingKernel kernel;
    kernel.id = fmt::format("w{}", number);
    kernel.kind = kKinds[drawn.index(kKinds.size())];
    kernel.kernel_class = static_cast<KernelClass>(drawn.index(3));
    kernel.weight = drawn.index(2) == 0 ? 1 : drawn.uniform(0.1, 10);
    kernel.was_preempted = drawn.index(2) == 0;
    kernel.order = static_cast<std::int64_t>(drawn.index(3));
    return kernel;
}

Drawn draw()
{
    Drawn drawn;
    drawn.generator.seed(*rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, 1'000'000'000)));
    for (const std::string& a : kKinds) {
        for (const std::string& b : kKinds) {
            if (drawn.index(2) == 0)
                drawn.pairs
                    .add({.a = {a}, .b = {b}, .a_share = drawn.uniform(0.2, 1), .b_share = drawn.uniform(0.2, 1)})
                    .value();
        }
    }
    drawn.pairs.refit();
    drawn.state.settings.limit = 1 + drawn.index(3);
    drawn.state.settings.may_run_fewer = drawn.index(2) == 0;
    const std::size_t runs = drawn.index(drawn.state.settings.limit + 1);
    for (std::size_t i = 0; i < runs; ++i)
        drawn.state.running.push_back(draw_running(drawn, i));
    const std::size_t waits = drawn.index(5);
    for (std::size_t i = 0; i < waits; ++i)
        drawn.state.waiting.push_back(draw_waiting(drawn, i));
    return drawn;
}

std::string decided(const CorunState& state, const PairModel& pairs)
{
    const Result<CorunDecision> decision = decide_corun(state, pairs);
    RC_ASSERT(decision.has_value());
    return to_json(*decision).dump();
}

RC_GTEST_PROP(DecideCorunProperty, TheOrderOfTheInputDoesNotMatter, ())
{
    Drawn drawn = draw();
    const std::string before = decided(drawn.state, drawn.pairs);

    std::shuffle(drawn.state.running.begin(), drawn.state.running.end(), drawn.generator);
    std::shuffle(drawn.state.waiting.begin(), drawn.state.waiting.end(), drawn.generator);

    RC_ASSERT(decided(drawn.state, drawn.pairs) == before);
}

RC_GTEST_PROP(DecideCorunProperty, AWaitingKernelOfLowerPriorityChangesNothing, ())
{
    Drawn drawn = draw();
    RC_PRE(!drawn.state.waiting.empty());
    const std::string before = decided(drawn.state, drawn.pairs);
    // As one that waits already, but its progress counts for less: each of its combinations ranks lower.
    WaitingKernel lower = drawn.state.waiting[drawn.index(drawn.state.waiting.size())];
    lower.id = "x";
    lower.weight *= drawn.uniform(0.01, 0.99);
    lower.was_preempted = true;
    lower.order = -1;

    drawn.state.waiting.push_back(lower);

    RC_ASSERT(decided(drawn.state, drawn.pairs) == before);
}

RC_GTEST_PROP(DecideCorunProperty, ADearerPreemptionIsNeverMoreLikely, ())
{
    Drawn drawn = draw();
    const CorunDecision cheap = decide_corun(drawn.state, drawn.pairs).value();
    const double factor = drawn.uniform(1, 20);
    for (RunningKernel& kernel : drawn.state.running)
        kernel.thread_blocks *= factor;

    const CorunDecision dear = decide_corun(drawn.state, drawn.pairs).value();

    if (cheap.action != CorunAction::kPreempt) RC_ASSERT(dear.action != CorunAction::kPreempt);
    if (cheap.action == CorunAction::kLaunch) RC_ASSERT(dear.launch == cheap.launch);
}

RC_GTEST_PROP(DecideCorunProperty, APreemptionFollowsItsFormulasAndMakesTheCombinationBetter, ())
{
    const Drawn drawn = draw();

    const CorunDecision decision = decide_corun(drawn.state, drawn.pairs).value();

    if (decision.action != CorunAction::kPreempt) return;
    RC_ASSERT(decision.figures.has_value());
    RC_ASSERT(decision.figures->after > decision.figures->before);
    RC_ASSERT(decision.figures->preempt_cycles < decision.figures->rest_cycles);
    RC_ASSERT(decision.combined_then > decision.combined_now);
}

RC_GTEST_PROP(DecideCorunProperty, AtTheLimitNothingIsLaunchedWithoutAVictim, ())
{
    const Drawn drawn = draw();

    const CorunDecision decision = decide_corun(drawn.state, drawn.pairs).value();

    const bool has_room = drawn.state.running.size() < drawn.state.settings.limit;
    if (decision.action == CorunAction::kLaunch) RC_ASSERT(has_room && decision.victims.empty());
    if (has_room && !drawn.state.settings.may_run_fewer)
        RC_ASSERT((decision.action == CorunAction::kLaunch) == !drawn.state.waiting.empty());
}

} // namespace
} // namespace fathom
