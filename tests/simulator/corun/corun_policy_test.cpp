#include "simulator/corun/corun_figures.hpp"
#include "simulator/corun/corun_simulation.hpp"
#include "simulator/corun/corun_workloads.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <sstream>

namespace fathom::simulation {
namespace {

struct Ran {
    CorunWorkload workload;
    CorunResult result;

    double mean_s() const { return figures_of(workload, result).mean_completion_s; }
};

Ran run(const CorunWorld& world, const CorunWorkload& workload, std::string_view policy, std::uint64_t seed = 1)
{
    const auto made = find_corun_policy(policy)->make(world, {});
    return {workload, simulate_corun(world, workload, *made, seed).value()};
}

/// What is there however the jobs are ordered.
double work_of(const CorunWorkload& workload, const CorunResult& result, std::size_t job)
{
    double work_s = 0;
    for (const CorunStage& stage : workload.programs[workload.jobs[job].program])
        work_s += stage.solo_s * workload.jobs[job].scale;
    return result.jobs[job].work_s / work_s;
}

RC_GTEST_PROP(CorunSimulationProperty, NoJobIsLostAndNothingRunsTwice, ())
{
    const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
    const auto policies = corun_policies();
    const CorunPolicyName& policy = policies[*rc::gen::inRange<std::size_t>(0, policies.size())];
    CorunWorld world = draw_corun_world(6, seed);
    world.limit = *rc::gen::inRange<std::size_t>(1, 4);
    world.preempt_s = *rc::gen::element(0.0, 30.0, 3000.0);
    const CorunWorkload workload = draw_corun_jobs(
        world, {.load = *rc::gen::element(0.5, 1.5), .jobs = 30, .high_priority_share = 0.2, .seed = seed});

    const auto made = policy.make(world, {});
    const Result<CorunResult> result = simulate_corun(world, workload, *made, seed);

    RC_ASSERT(result.has_value());
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const CorunOutcome& outcome = result->jobs[i];
        RC_ASSERT(outcome.start_s >= workload.jobs[i].arrival_s);
        RC_ASSERT(outcome.end_s >= outcome.start_s);
        RC_ASSERT(std::abs(work_of(workload, *result, i) - 1) < 1e-6);
        // None is faster than alone.
        RC_ASSERT(outcome.end_s - outcome.start_s >= workload.jobs[i].scale * (1 - 1e-6));
    }
}

TEST(CorunPolicies, TheSameSeedGivesTheSameRun)
{
    const CorunWorld world = draw_corun_world(8, 3);
    const CorunWorkload workload = draw_corun_jobs(world, {.load = 0.9, .jobs = 60, .seed = 5});
    for (const CorunPolicyName& policy : corun_policies()) {
        const Ran one = run(world, workload, policy.name);
        const Ran other = run(world, workload, policy.name);
        EXPECT_EQ(one.mean_s(), other.mean_s()) << policy.name;
        EXPECT_EQ(one.result.decisions, other.result.decisions) << policy.name;
    }
}

TEST(CorunPolicies, ExclusiveOnesNeverShareAndOthersDo)
{
    const CorunWorld world = draw_corun_world(8, 3);
    const CorunWorkload workload = draw_corun_jobs(world, {.load = 1.2, .jobs = 60, .seed = 5});

    for (const char* policy : {"exclusive_fifo", "exclusive_shortest", "exclusive_shortest_remaining"})
        EXPECT_EQ(run(world, workload, policy).result.shared_s, 0) << policy;
    for (const char* policy : {"shared_fifo", "greedy_best_pair", "fathom"})
        EXPECT_GT(run(world, workload, policy).result.shared_s, 0) << policy;
    for (const char* policy : {"exclusive_fifo", "exclusive_shortest", "shared_fifo", "greedy_best_pair"})
        EXPECT_EQ(run(world, workload, policy).result.preemptions, 0) << policy;
}

TEST(CorunPolicies, WhereAllPairsHurtSharingIsHeldBack)
{
    CorunWorld world = draw_corun_world(3, 1);
    for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = 0; b < 3; ++b)
            world.shares.set(a, b, 0.3);
    }
    const CorunWorkload workload = draw_corun_jobs(world, {.load = 0.9, .jobs = 200, .seed = 2});

    const double shared = run(world, workload, "shared_fifo").result.shared_s;
    const double ours = run(world, workload, "fathom").result.shared_s;

    EXPECT_LT(ours, 0.05 * shared) << "each pair is tried, and not again";
}

TEST(CorunPolicies, JobsOfHighPriorityAreHardlySlowerThanWithoutTheOthers)
{
    const CorunWorld world = draw_corun_world(12, 4);
    const CorunWorkload workload =
        draw_corun_jobs(world, {.load = 0.9, .jobs = 300, .high_priority_share = 0.2, .seed = 3});

    const auto p99_s = [&](const CorunWorkload& jobs) {
        const Ran ran = run(world, jobs, "fathom");
        return figures_of(ran.workload, ran.result).high_p99_completion_s;
    };

    EXPECT_LT(p99_s(workload), 1.1 * p99_s(only_high_priority(workload)));
}

/// Requests of 2 ms beside a training whose kernels take 0.1 ms on average and cannot be interrupted, nothing of which
/// is in the benchmark.
TEST(CorunPolicies, RequestsThatHaveLostATwentiethOfTheirTimeLoseLittleMore)
{
    const CorunWorld world = profiled_kernel_world();
    const CorunWorkload workload = draw_inference_beside_training(draw_profiled_program(150, 1.5e-5, 8),
                                                                  draw_profiled_program(1000, 1e-4, 108), 0.3, 200, 8);
    const auto p99_s = [&](const CorunWorkload& jobs, double most_delay) {
        const CorunPolicySettings settings{.high_priority_weight = 3, .most_delay = most_delay};
        const auto policy = find_corun_policy("fathom")->make(world, settings);
        return figures_of(jobs, simulate_corun(world, jobs, *policy, 1).value()).high_p99_completion_s;
    };
    const double alone_s = p99_s(only_high_priority(workload), 0.05);

    EXPECT_LT(p99_s(workload, 0.05), 1.1 * alone_s);
    EXPECT_GT(p99_s(workload, 1e9), 1.1 * alone_s) << "without a limit they lose more";
}

TEST(CorunFigures, AreThoseOfTheJobsThatEnd)
{
    CorunWorkload workload;
    workload.programs = {{{0, 1}}};
    for (int i = 0; i < 101; ++i)
        workload.jobs.push_back({.arrival_s = 1.0 * i, .is_high_priority = i < 2});
    workload.jobs.push_back({.arrival_s = 101, .repeats = true});
    CorunResult result;
    result.end_s = 200;
    for (int i = 0; i < 101; ++i)
        result.jobs.push_back({.start_s = 1.0 * i, .end_s = 2.0 * i, .work_s = 1});
    result.jobs.push_back({.start_s = 101, .work_s = 49});

    const CorunFigures figures = figures_of(workload, result);

    EXPECT_DOUBLE_EQ(figures.mean_completion_s, 50);
    EXPECT_DOUBLE_EQ(figures.p99_completion_s, 99);
    EXPECT_DOUBLE_EQ(figures.high_mean_completion_s, 0.5);
    EXPECT_DOUBLE_EQ(figures.throughput, 150.0 / 200);
    EXPECT_DOUBLE_EQ(figures.repeated_rate, 49.0 / 200);
}

TEST(CorunWorkloads, TheLoadIsTheWorkThatComesInATime)
{
    const CorunWorld world = draw_corun_world(6, 1);
    for (const CorunLengths lengths : {CorunLengths::kHeavyTailed, CorunLengths::kExponential}) {
        const CorunWorkload workload = draw_corun_jobs(world, {.load = 0.8, .jobs = 20'000, .lengths = lengths});
        double work_s = 0;
        for (const CorunJob& job : workload.jobs)
            work_s += job.scale;
        EXPECT_NEAR(work_s / workload.jobs.back().arrival_s, 0.8, 0.03);
    }
}

TEST(CorunWorkloads, WhoIsOfHighPriorityChangesNothingElse)
{
    const CorunWorld world = draw_corun_world(6, 1);
    const CorunWorkload one = draw_corun_jobs(world, {.jobs = 50});
    const CorunWorkload other = draw_corun_jobs(world, {.jobs = 50, .high_priority_share = 0.3});

    for (std::size_t i = 0; i < one.jobs.size(); ++i) {
        EXPECT_EQ(one.jobs[i].arrival_s, other.jobs[i].arrival_s);
        EXPECT_EQ(one.jobs[i].scale, other.jobs[i].scale);
    }
    EXPECT_GT(only_high_priority(other).jobs.size(), 5U);
}

TEST(CorunWorkloads, ReadsMeasuredPairs)
{
    std::ifstream file(FATHOM_TEST_DATA "/gavel/pairs.csv");
    const CorunWorld world = read_gavel_pairs(file, "p100").value();

    EXPECT_EQ(world.kinds.size(), 11U);
    const auto kind = [&](const std::string& name) {
        for (std::size_t i = 0; i < world.kinds.size(); ++i) {
            if (world.kinds[i].name == name) return i;
        }
        return world.kinds.size();
    };
    const double share = world.shares.at(kind("Recommendation (batch size 512)"), kind("Transformer (batch size 16)"));
    EXPECT_NEAR(share, 0.872, 0.001);
}

TEST(CorunWorkloads, RefusesFilesThatAreNoMeasurements)
{
    const auto refused = [](const char* text) {
        std::istringstream input(text);
        const Result<CorunWorld> world = read_gavel_pairs(input, "k80");
        return world ? "" : describe(world.error());
    };
    constexpr const char* kHeader = "gpu,job_a,job_b,solo_a,solo_b,coloc_a,coloc_b\n";

    EXPECT_THAT(refused("gpu,job_a\n"), testing::HasSubstr("job_b"));
    EXPECT_THAT(refused(kHeader), testing::HasSubstr("no pair on k80"));
    EXPECT_THAT(refused((std::string(kHeader) + "k80,a,b,1,2,3\n").c_str()), testing::HasSubstr("line 2"));
    EXPECT_THAT(refused((std::string(kHeader) + "k80,a,b,1,2,x,1\n").c_str()), testing::HasSubstr("line 2"));
}

TEST(CorunWorkloads, ReadsProfiledKernelsAndRunsInferenceBesideTraining)
{
    std::ifstream file(FATHOM_TEST_DATA "/orion/kernels.csv");
    const std::vector<ProfiledProgram> programs = read_orion_programs(file).value();
    ASSERT_EQ(programs.size(), 3U);
    const CorunWorld world = profiled_kernel_world();
    const auto by_name = [&](const char* model, std::string_view phase) {
        return *std::find_if(programs.begin(), programs.end(), [&](const ProfiledProgram& program) {
            return program.model == model && program.phase == phase;
        });
    };
    EXPECT_EQ(by_name("resnet50", "fwd").stages.size(), 175U);

    const Ran ran =
        run(world, draw_inference_beside_training(by_name("resnet50", "fwd"), by_name("resnet50", "fb1"), 0.3, 20, 1),
            "fathom");

    const CorunFigures figures = figures_of(ran.workload, ran.result);
    EXPECT_GT(figures.throughput, 0.9) << "training fills the gaps";
    EXPECT_EQ(ran.result.preemptions, 0) << "a kernel cannot be interrupted";
    std::istringstream broken("model,batch,phase,source,profile_class,sm_needed,duration_ns\na,1,fwd,nominal,1,1,x\n");
    EXPECT_FALSE(read_orion_programs(broken));
}

} // namespace
} // namespace fathom::simulation
