#include "simulator/corun/corun_figures.hpp"
#include "simulator/corun/corun_simulation.hpp"
#include "simulator/corun/corun_workloads.hpp"

#include <gmock/gmock.h>

#include <deque>

namespace fathom::simulation {
namespace {

using testing::HasSubstr;

/// Does what the test says, step by step.
class Script : public CorunPolicy {
  public:
    explicit Script(std::deque<CorunStep> steps) : steps_(std::move(steps)) {}
    CorunStep next(const CorunView& view) override
    {
        views.push_back({view.running.begin(), view.running.end()});
        if (steps_.empty()) return {};
        const CorunStep step = steps_.front();
        steps_.pop_front();
        return step;
    }
    void observe(const CorunObservation& seen) override { observed.push_back(seen); }

    std::vector<std::vector<CorunActive>> views;
    std::vector<CorunObservation> observed;

  private:
    std::deque<CorunStep> steps_;
};

/// A compute-intensive kind and a memory-intensive one: beside the other the one keeps 0.8, the other 0.5.
CorunWorld two_kinds()
{
    CorunWorld world;
    world.kinds = {{"compute", KernelClass::kCompute}, {"memory", KernelClass::kMemory}};
    world.shares = CorunShares(2);
    world.shares.set(0, 0, 0.5);
    world.shares.set(0, 1, 0.8);
    world.shares.set(1, 0, 0.5);
    world.shares.set(1, 1, 0.4);
    world.preempt_s = 10;
    return world;
}

CorunJob job(double arrival_s, std::uint32_t program, double solo_s)
{
    return {.arrival_s = arrival_s, .program = program, .scale = solo_s, .expected_scale = solo_s};
}

const CorunStep kKeep{};
CorunStep launch(std::size_t one)
{
    return {{}, one};
}

// 0 … 100: job 0 does 80 and job 1 50 of 100 each, then job 1 (the other comes at the end) 50 more alone.
TEST(CorunSimulation, TwoJobsMakeTheirSharesAndThenTheWhole)
{
    Script policy({launch(0), launch(1)});
    const CorunWorkload workload{{{{0, 1}}, {{1, 1}}}, {job(0, 0, 80), job(0, 1, 100)}};

    const CorunResult result = simulate_corun(two_kinds(), workload, policy, 1).value();

    EXPECT_NEAR(result.jobs[0].end_s, 100, 1e-9);
    EXPECT_NEAR(result.jobs[1].end_s, 150, 1e-9);
    EXPECT_NEAR(result.shared_s, 100, 1e-9);
    EXPECT_NEAR(result.busy_s, 150, 1e-9);
    ASSERT_EQ(policy.observed.size(), 1U);
    EXPECT_DOUBLE_EQ(policy.observed[0].a_share, 0.8);
    EXPECT_DOUBLE_EQ(policy.observed[0].b_share, 0.5);
}

// Both run from 0; at 20 job 2 comes and takes the place of job 1: ten seconds in which job 0, compute-intensive, keeps
// its 0.8 and job 1 does nothing. Job 0 has 80 − 16 − 8 = 56 to go at 30, beside job 2 at half speed, and 46 at 50,
// when job 1 comes back.
TEST(CorunSimulation, PreemptingTakesItsTimeFromTheVictim)
{
    Script policy({launch(0), launch(1), kKeep, {{1}, 2}, kKeep, launch(1)});
    const CorunWorkload workload{{{{0, 1}}, {{1, 1}}}, {job(0, 0, 80), job(0, 1, 100), job(20, 0, 10)}};

    const CorunResult result = simulate_corun(two_kinds(), workload, policy, 1).value();

    EXPECT_NEAR(result.jobs[2].start_s, 30, 1e-9);
    EXPECT_NEAR(result.jobs[2].end_s, 50, 1e-9) << "10 at half speed";
    EXPECT_NEAR(result.jobs[0].end_s, 50 + 46 / 0.8, 1e-9);
    EXPECT_EQ(result.jobs[1].preemptions, 1);
    EXPECT_NEAR(result.preempting_s, 10, 1e-9);
}

TEST(CorunSimulation, AMemoryIntensiveSurvivorLosesMeanwhile)
{
    Script policy({launch(0), launch(1), kKeep, {{1}, 2}, kKeep, launch(1)});
    const CorunWorkload workload{{{{0, 1}}, {{1, 1}}}, {job(0, 1, 40), job(0, 0, 100), job(20, 0, 1e3)}};

    const CorunResult result = simulate_corun(two_kinds(), workload, policy, 1).value();

    // 40 − 20 · 0.5 − 10 · 0.5 · 0.9 = 25.5 to go at 30, at half speed.
    EXPECT_NEAR(result.jobs[0].end_s, 81, 1e-9);
}

TEST(CorunSimulation, StagesOfAProgramRunOneAfterTheOtherWithADecisionBetween)
{
    Script policy({launch(0), kKeep, launch(0), kKeep, launch(0)});
    const CorunWorkload workload{{{{0, 1}, {1, 2}, {0, 3}}}, {job(5, 0, 1)}};

    const CorunResult result = simulate_corun(two_kinds(), workload, policy, 1).value();

    EXPECT_NEAR(result.jobs[0].end_s, 11, 1e-9);
    EXPECT_NEAR(result.jobs[0].work_s, 6, 1e-9);
}

TEST(CorunSimulation, AJobThatRepeatsGoesOnUntilTheOthersHaveEnded)
{
    CorunJob repeating = job(0, 1, 3);
    repeating.repeats = true;
    const CorunWorkload workload{{{{0, 1}}, {{1, 1}}}, {repeating, job(10, 0, 8)}};
    const auto policy = find_corun_policy("shared_fifo")->make(two_kinds(), {});
    const CorunWorld world = two_kinds();

    const CorunResult result = simulate_corun(world, workload, *policy, 1).value();

    EXPECT_NEAR(result.end_s, 20, 1e-9);
    EXPECT_NEAR(result.jobs[0].work_s, 10 + 10 * 0.5, 1e-9);
    EXPECT_LT(result.jobs[0].end_s, 0);
}

TEST(CorunSimulation, APairIsMeasuredWhileItRunsAsSoonAsItHasRunForLongEnough)
{
    CorunWorld world = two_kinds();
    world.observe_s = 60;
    Script policy({launch(0), launch(1)});
    const CorunWorkload workload{{{{0, 1}}, {{1, 1}}}, {job(0, 0, 80), job(0, 1, 100)}};

    simulate_corun(world, workload, policy, 1).value();

    EXPECT_EQ(policy.observed.size(), 1U);
    EXPECT_EQ(policy.views.size(), 6U) << "two launches, a keep, one after the measurement, one at each end";
    world.observe_s = 200;
    Script impatient({launch(0), launch(1)});
    simulate_corun(world, workload, impatient, 1).value();
    EXPECT_TRUE(impatient.observed.empty());
}

TEST(CorunSimulation, RefusesStepsThatCannotBe)
{
    const CorunWorkload workload{{{{0, 1}}, {{1, 1}}}, {job(0, 0, 1), job(0, 1, 1), job(0, 0, 1)}};
    CorunWorld tight = two_kinds();
    tight.shares.set(0, 1, 0);
    tight.shares.set(1, 0, 0);
    CorunWorld rigid = two_kinds();
    rigid.can_interrupt = false;
    const auto refused = [&](const CorunWorld& world, std::deque<CorunStep> steps) {
        Script policy(std::move(steps));
        const Result<CorunResult> result = simulate_corun(world, workload, policy, 1);
        return result ? "" : describe(result.error());
    };

    EXPECT_THAT(refused(two_kinds(), {launch(0), launch(0)}), HasSubstr("does not wait"));
    EXPECT_THAT(refused(two_kinds(), {{{1}, {}}}), HasSubstr("does not run"));
    EXPECT_THAT(refused(two_kinds(), {launch(0), launch(1), launch(2)}), HasSubstr("more jobs than the limit"));
    EXPECT_THAT(refused(tight, {launch(0), launch(1)}), HasSubstr("do not fit"));
    EXPECT_THAT(refused(rigid, {launch(0), {{0}, {}}}), HasSubstr("nothing can be pre-empted"));
    EXPECT_THAT(refused(two_kinds(), {}), HasSubstr("leaves 3 jobs waiting for ever"));
}

TEST(CorunSimulation, RefusesWorldsAndWorkloadsThatCannotBe)
{
    const auto refused = [](const CorunWorld& world, const CorunWorkload& workload) {
        return !check_corun(world, workload);
    };
    const CorunWorkload valid{{{{0, 1}}}, {job(0, 0, 1)}};
    EXPECT_FALSE(refused(two_kinds(), valid));
    CorunWorld one_way = two_kinds();
    one_way.shares.set(0, 1, 0);
    EXPECT_TRUE(refused(one_way, valid));
    CorunWorld no_place = two_kinds();
    no_place.limit = 0;
    EXPECT_TRUE(refused(no_place, valid));
    EXPECT_TRUE(refused(two_kinds(), {{{{7, 1}}}, {job(0, 0, 1)}}));
    EXPECT_TRUE(refused(two_kinds(), {{{{0, 0}}}, {job(0, 0, 1)}}));
    EXPECT_TRUE(refused(two_kinds(), {{{{0, 1}}}, {job(5, 0, 1), job(0, 0, 1)}}));
    EXPECT_TRUE(refused(two_kinds(), {{{{0, 1}}}, {job(0, 3, 1)}}));
    EXPECT_TRUE(refused(two_kinds(), {{{{0, 1}}}, {}}));
}

TEST(CorunSimulation, StopsWhereItIsWhenAsked)
{
    const std::atomic<bool> stop = true;
    Script policy({launch(0)});

    const CorunResult result =
        simulate_corun(two_kinds(), {{{{0, 1}}}, {job(0, 0, 1)}}, policy, 1, {.progress = {}, .stop = &stop}).value();

    EXPECT_LT(result.jobs[0].end_s, 0);
}

} // namespace
} // namespace fathom::simulation
