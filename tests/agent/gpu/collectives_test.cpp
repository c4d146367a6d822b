// Unmodified jobs of several processes, which wait for each other in collective calls, share two GPUs.
#include "tests/agent/gpu/gpu_sharing.hpp"

#include <csignal>
#include <memory>
#include <string>
#include <vector>

namespace fathom::gpu {
namespace {

class GpuCollectives : public GpuSharing {
  protected:
    GpuCollectives()
    {
        // Each turn would end between kernels at once. Who waits for one that waits would be ended at last, which on a
        // busy machine must not come before the tests' own time limit.
        settings_.coordinator.turns = {.slice_s = 0.02, .most_slice_s = 0.03, .most_wait_s = 60, .most_overrun_s = 120};
    }

    /// One process of a job of two.
    std::unique_ptr<Program> rank(const std::string& job, int rank, int device, const std::string& way,
                                  int iterations = 300, const std::string& until = {}) const
    {
        const bool is_own = way == "own" || way == "passing";
        std::vector<std::string> command{is_own ? FATHOM_OWN_COLLECTIVE_TRAINER : FATHOM_COLLECTIVE_TRAINER,
                                         std::to_string(rank),
                                         "2",
                                         std::to_string(device),
                                         (folder_ / ("communicator-" + job)).string(),
                                         std::to_string(iterations),
                                         way};
        if (!until.empty()) command.push_back((folder_ / until).string());
        return std::make_unique<Program>(
            command,
            environment({{"FATHOM_GPU_JOB", job},
                         {"FATHOM_OWN_NCCL", way == "passing" ? FATHOM_PASSING_NCCL : FATHOM_OWN_NCCL}}),
            folder_);
    }

    /// Both jobs have GPU 0 and GPU 1, in another order, and go on until each has given its turn to the other so often.
    void expect_both_to_end(const std::string& way, int turns = 8) const
    {
        std::vector<std::unique_ptr<Program>> all;
        for (const int one : {0, 1}) {
            all.push_back(rank("first", one, one, way, 60, "seen"));
            all.push_back(rank("second", one, 1 - one, way, 60, "seen"));
        }
        EXPECT_TRUE(wait_until([&] {
            const Json first = job("first");
            const Json second = job("second");
            return first.is_object() && second.is_object() && first.at("switches") >= turns &&
                   second.at("switches") >= turns;
        })) << way;
        go_on("seen");
        for (const auto& one : all)
            EXPECT_EQ(one->wait(), 0) << way << ": " << one->output();
    }
};

TEST_F(GpuCollectives, TwoJobsThatShareTwoGpusInAnotherOrderDoNotWaitForEachOtherForEver)
{
    start();
    expect_both_to_end("linked");
}

TEST_F(GpuCollectives, AlsoWhereTheProgramFindsTheLibraryByItself)
{
    start();
    expect_both_to_end("dlsym");
}

/// As frameworks that are linked to it statically.
TEST_F(GpuCollectives, AlsoWhereALibraryOfTheProgramBringsItsOwnThatNobodyElseSees)
{
    start();
    expect_both_to_end("own");
}

/// As frameworks that look for it when they need it.
TEST_F(GpuCollectives, AlsoWhereALibraryOfTheProgramHasItsFunctionsAndOnlyPassesThemOn)
{
    start();
    expect_both_to_end("passing");
}

TEST_F(GpuCollectives, AlsoWhereCallsAreGrouped)
{
    start();
    expect_both_to_end("group");
}

/// Its turns end between kernels after the longest wait alone.
TEST_F(GpuCollectives, AlsoWhereNobodySaysWhenIterationsEnd)
{
    settings_.coordinator.turns.most_wait_s = 0.5;
    start();
    expect_both_to_end("silent", 3);
}

/// What a manager that began anew is told: else each process would take turns by itself from then on.
TEST_F(GpuCollectives, TheyAreKnownToTheNextManager)
{
    settings_.coordinator.settle_s = 1;
    start();
    const auto first = rank("first", 0, 0, "linked", 600);
    const auto mate = rank("first", 1, 1, "linked", 600);
    ASSERT_TRUE(first->wait_for_output("joined"));
    service_.reset();
    start();
    const auto second = rank("second", 0, 1, "linked");
    const auto other = rank("second", 1, 0, "linked");

    for (Program* const one : {first.get(), mate.get(), second.get(), other.get()})
        EXPECT_EQ(one->wait(), 0) << one->output();
}

/// One process of a job is killed: what it had is free, and the other job goes on.
TEST_F(GpuCollectives, AProcessThatDiesKeepsNobodyWaiting)
{
    start();
    const auto first = rank("first", 0, 0, "linked", 100'000);
    const auto mate = rank("first", 1, 1, "linked", 100'000);
    ASSERT_TRUE(first->wait_for_output("joined"));
    const auto second = rank("second", 0, 1, "linked");
    const auto other = rank("second", 1, 0, "linked");
    ASSERT_TRUE(second->wait_for_output("joined"));

    first->kill(SIGKILL);
    EXPECT_EQ(first->wait(), -SIGKILL);
    mate->kill(SIGKILL); // it waits for the first for ever, as NVIDIA's does
    EXPECT_EQ(mate->wait(), -SIGKILL);

    EXPECT_EQ(second->wait(), 0) << second->output();
    EXPECT_EQ(other->wait(), 0) << other->output();
}

} // namespace
} // namespace fathom::gpu
