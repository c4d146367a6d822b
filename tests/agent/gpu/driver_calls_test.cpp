// Calls to NVIDIA's driver that few programs make, one way each, with the preloaded library: on the stand-in.
#include "tests/agent/gpu/gpu_sharing.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <thread>
#include <vector>

namespace fathom::gpu {
namespace {

using namespace std::chrono_literals;

TEST_F(GpuSharing, AContextThatEndsGivesItsMemoryBack)
{
    start();
    const auto program = call("contexts");

    EXPECT_EQ(program->wait(), 0) << program->output();
}

TEST_F(GpuSharing, AContextThatEndsTakesNothingFromTheOthersOfItsProgram)
{
    start();
    const auto program = call("two_contexts");

    const std::vector<std::pair<std::string, std::int64_t>> steps{{"first ended", 4 * kMiB}, {"third ended", 6 * kMiB}};
    for (const auto& [step, bytes] : steps) {
        EXPECT_TRUE(program->wait_for_output(step)) << program->output();
        EXPECT_TRUE(wait_for_persistent_bytes("two_contexts", bytes)) << job("two_contexts");
        go_on(step);
    }
    EXPECT_EQ(program->wait(), 0) << program->output();
}

TEST_F(GpuSharing, WhatAPoolGaveStaysInTheBooksWhenTheContextsOfItsGpuEnd)
{
    start();
    const auto program = call("pool_without_context");

    const std::vector<std::pair<std::string, std::int64_t>> steps{{"second ended", 4 * kMiB}, {"released", 0}};
    for (const auto& [step, bytes] : steps) {
        EXPECT_TRUE(program->wait_for_output(step)) << program->output();
        EXPECT_TRUE(wait_for_persistent_bytes("pool_without_context", bytes)) << job("pool_without_context");
        go_on(step);
    }
    EXPECT_EQ(program->wait(), 0) << program->output();
}

TEST_F(GpuSharing, GpusOfAProgramUseEachOthersMemoryWhereItAskedForThat)
{
    start();
    const auto program = call("peers");

    EXPECT_EQ(program->wait(), 0) << program->output();
}

/// The host's, another GPU's, and what other processes may get.
TEST_F(GpuSharing, OfPoolsTheDriverHasWhatTheLibraryCannotMap)
{
    start();
    const auto neighbour = call("holds");
    ASSERT_TRUE(neighbour->wait_for_output("holds"));
    const auto program = call("pools");

    EXPECT_EQ(program->wait(), 0) << program->output();
    go_on("holds");
    EXPECT_EQ(neighbour->wait(), 0) << neighbour->output();
}

/// The memory of one GPU is not taken away while a kernel of the other still uses it.
TEST_F(GpuSharing, AllGpusOfAProgramAreDoneBeforeItsTurnEnds)
{
    start();
    const auto program = call("peer_with_the_turn");
    ASSERT_TRUE(program->wait_for_output("begins")) << program->output();
    const auto other =
        train("other", {{"iterations", "3"}, {"weights-mib", "4"}, {"activations-mib", "4"}, {"tell", "yes"}});

    EXPECT_EQ(program->wait(), 0) << program->output();
    EXPECT_EQ(other->wait(), 0) << other->output();
}

TEST_F(GpuSharing, MemoryThatAProgramMapsItselfCountsUntilItIsUnmappedAndLetGoOf)
{
    start();
    const auto program = call("mapped");

    EXPECT_TRUE(program->wait_for_output("mapped"));
    EXPECT_TRUE(wait_for_persistent_bytes("mapped", 8 * kMiB)) << job("mapped");
    go_on("mapped");
    EXPECT_TRUE(program->wait_for_output("unmapped"));
    EXPECT_TRUE(wait_for_persistent_bytes("mapped", 8 * kMiB)) << job("mapped");
    go_on("unmapped");
    EXPECT_TRUE(wait_for_persistent_bytes("mapped", 0)) << job("mapped");
    go_on("released");
    EXPECT_EQ(program->wait(), 0) << program->output();
}

/// What the end of a turn does would invalidate the capture.
TEST_F(GpuSharing, ATurnThatIsOverDuringACaptureEndsWithTheCapture)
{
    settings_.coordinator.turns = {.slice_s = 0.02, .most_slice_s = 0.1, .most_wait_s = 30};
    start();
    const auto program = call("capture");
    ASSERT_TRUE(program->wait_for_output("capturing")) << program->output();
    const auto other =
        train("other", {{"iterations", "3"}, {"weights-mib", "4"}, {"activations-mib", "16"}, {"tell", "yes"}});
    ASSERT_TRUE(wait_until([&] { return job("other").is_object(); }));
    std::this_thread::sleep_for(1s); // longer than the longest slice

    EXPECT_EQ(other->output().find("started"), std::string::npos);
    go_on("capturing");
    EXPECT_TRUE(program->wait_for_output("captured")) << program->output();
    EXPECT_TRUE(other->wait_for_output("started")) << other->output();
    go_on("captured");
    EXPECT_EQ(program->wait(), 0) << program->output();
    EXPECT_EQ(other->wait(), 0) << other->output();
}

TEST_F(GpuSharing, MemoryThatIsReleasedDuringACaptureIsGivenBackAfterIt)
{
    start();
    const auto program = call("capture_that_fails");

    EXPECT_TRUE(program->wait_for_output("released")) << program->output();
    EXPECT_TRUE(wait_for_persistent_bytes("capture_that_fails", 4 * kMiB)) << job("capture_that_fails");
    go_on("released");
    EXPECT_TRUE(program->wait_for_output("failed")) << program->output();
    EXPECT_TRUE(wait_for_persistent_bytes("capture_that_fails", 0)) << job("capture_that_fails");
    go_on("failed");
    EXPECT_TRUE(program->wait_for_output("destroyed")) << program->output();
    EXPECT_TRUE(wait_for_persistent_bytes("capture_that_fails", 2 * kMiB)) << job("capture_that_fails");
    go_on("destroyed");
    EXPECT_EQ(program->wait(), 0) << program->output();
}

TEST_F(GpuSharing, AProgramIsToldWhatItMayUseOfTheMemory)
{
    start();
    const auto first = call("holds"); // 6 MiB
    ASSERT_TRUE(first->wait_for_output("holds"));
    const auto second =
        train("second", {{"iterations", "5"}, {"weights-mib", "4"}, {"activations-mib", "4"}, {"tell", "yes"}},
              {{"FATHOM_GPU_PERSISTENT_BYTES", std::to_string(6 * kMiB)},
               {"FATHOM_GPU_TEMPORARY_BYTES", std::to_string(8 * kMiB)}});

    ASSERT_EQ(second->wait(), 0) << second->output();

    // 6 + 2 of gap + 8 were promised, and 10 more are nobody's; 4 of weights are in use, of the activations nothing.
    const std::string output = second->output();
    const Json last = Json::parse(output.substr(output.find('{')));
    EXPECT_EQ(last.at("free_bytes"), 22 * kMiB);
    EXPECT_EQ(last.at("total_bytes"), 26 * kMiB);
    go_on("holds");
    EXPECT_EQ(first->wait(), 0) << first->output();
}

TEST_F(GpuSharing, TheDriverAndTheManagementLibrarySayTheSameOfMemoryThatCanBeHad)
{
    start();
    const auto neighbour = call("holds");
    ASSERT_TRUE(neighbour->wait_for_output("holds"));
    const auto program = call("view");

    EXPECT_EQ(program->wait(), 0) << program->output();
    go_on("holds");
    EXPECT_EQ(neighbour->wait(), 0) << neighbour->output();
}

TEST_F(GpuSharing, WhoIsAloneSeesTheCardAsItIs)
{
    start();
    const auto program = call("view_alone");

    EXPECT_EQ(program->wait(), 0) << program->output();
}

/// A neighbour of 6 MiB, so that what is free is what the books say.
TEST_F(GpuSharing, EveryWayToAllocateIsCountedAndGivenBack)
{
    start();
    const auto neighbour = call("holds");
    ASSERT_TRUE(neighbour->wait_for_output("holds"));
    const auto program = call("allocations");

    EXPECT_EQ(program->wait(), 0) << program->output();
    go_on("holds");
    EXPECT_EQ(neighbour->wait(), 0) << neighbour->output();
}

/// As NVIDIA's cuMemFree does, which waits for the kernels that were launched before.
TEST_F(GpuSharing, MemoryIsNobodyElsesBeforeTheWorkThatUsesItIsDone)
{
    start();
    const auto program = call("released_in_use");

    EXPECT_EQ(program->wait(), 0) << program->output();
}

TEST_F(GpuSharing, NoHandleForOtherProcessesIsGivenOfMemoryThatIsMappedInPieces)
{
    start();
    const auto program = call("handles_for_others");

    EXPECT_EQ(program->wait(), 0) << program->output();
}

TEST_F(GpuSharing, EveryWayToLaunchWaitsForTheTurn)
{
    settings_.coordinator.turns = {.slice_s = 0.02, .most_slice_s = 0.1, .most_wait_s = 30};
    start();
    const auto holder = call("capture"); // keeps the turn until it is let go on
    ASSERT_TRUE(holder->wait_for_output("capturing")) << holder->output();
    std::map<std::string, std::unique_ptr<Program>> programs;
    for (const std::string way : {"launch_ex", "launch_cooperative", "launch_graph"}) {
        programs[way] = call(way);
        EXPECT_TRUE(programs[way]->wait_for_output(way + " begins")) << programs[way]->output();
    }
    std::this_thread::sleep_for(500ms); // longer than a launch takes

    for (const auto& [way, program] : programs)
        EXPECT_EQ(program->output().find("has launched"), std::string::npos) << way;
    go_on("capturing");
    go_on("captured");
    for (const auto& [way, program] : programs)
        EXPECT_EQ(program->wait(), 0) << program->output();
    EXPECT_EQ(holder->wait(), 0) << holder->output();
}

TEST_F(GpuSharing, MemoryOfGraphsCountsUntilTheyAreDestroyed)
{
    start();
    const auto program = call("graph_memory");
    const std::vector<std::pair<std::string, std::int64_t>> steps{
        {"launched", 6 * kMiB}, {"added", 8 * kMiB}, {"destroyed", 2 * kMiB}};
    for (const auto& [step, bytes] : steps) {
        EXPECT_TRUE(program->wait_for_output(step)) << program->output();
        EXPECT_TRUE(wait_for_persistent_bytes("graph_memory", bytes)) << job("graph_memory");
        go_on(step);
    }
    EXPECT_EQ(program->wait(), 0) << program->output();
}

TEST_F(GpuSharing, AGraphWhoseMemoryDoesNotFitIsRefusedBesideOthers)
{
    start();
    const auto neighbour = call("holds");
    ASSERT_TRUE(neighbour->wait_for_output("holds"));
    const auto program = call("graph_memory_beside");

    EXPECT_EQ(program->wait(), 0) << program->output();
    go_on("holds");
    EXPECT_EQ(neighbour->wait(), 0) << neighbour->output();
}

TEST_F(GpuSharing, VariablesOfModulesCountOnceTheyAreAskedFor)
{
    start();
    const auto neighbour = call("holds");
    ASSERT_TRUE(neighbour->wait_for_output("holds"));
    for (const std::string way : {"modules", "libraries"}) {
        const auto program = call(way);
        if (way == "modules") {
            EXPECT_TRUE(program->wait_for_output("loaded")) << program->output();
            EXPECT_TRUE(wait_for_persistent_bytes(way, 2 * kMiB)) << job(way);
            go_on("loaded");
        }
        EXPECT_TRUE(program->wait_for_output("asked")) << program->output();
        EXPECT_TRUE(wait_for_persistent_bytes(way, 5 * kMiB)) << job(way);
        go_on("asked");
        EXPECT_TRUE(program->wait_for_output("unloaded")) << program->output();
        EXPECT_TRUE(wait_for_persistent_bytes(way, 2 * kMiB)) << job(way);
        go_on("unloaded");
        EXPECT_EQ(program->wait(), 0) << program->output();
        for (const char* step : {"asked", "unloaded"})
            std::filesystem::remove(folder_ / step);
    }
    go_on("holds");
    EXPECT_EQ(neighbour->wait(), 0) << neighbour->output();
}

/// A child that forks, and one that begins another program.
TEST_F(GpuSharing, ChildrenOfAProgramAreCountedWithItsJob)
{
    start();
    const auto program = call("children");
    const auto used_bytes = [&] {
        std::int64_t used = 0;
        for (const SharedGpu& gpu : service_->report().gpus) {
            for (const SharedGpuJob& one : gpu.jobs) {
                EXPECT_EQ(one.job, "children");
                used += one.persistent.used_bytes;
            }
        }
        return used;
    };

    for (const char* process : {"parent", "forked", "executed"})
        EXPECT_TRUE(program->wait_for_output(process)) << program->output();
    EXPECT_TRUE(wait_until([&] { return used_bytes() == 8 * kMiB; })) << used_bytes();
    for (const char* process : {"forked", "executed", "parent"})
        go_on(process);
    EXPECT_EQ(program->wait(), 0) << program->output();
    EXPECT_TRUE(wait_until([&] { return job("children").is_null(); }));
}

/// As those that load data for a program, of which there are many: others could not connect.
TEST_F(GpuSharing, ChildrenThatUseNoGpuDoNotConnect)
{
    settings_.most_connections_of_user = 2;
    start();
    const auto program = call("idle_children");
    ASSERT_TRUE(program->wait_for_output("forked")) << program->output();

    const auto other = call("holds");

    EXPECT_TRUE(other->wait_for_output("holds")) << other->output();
    EXPECT_TRUE(wait_for_persistent_bytes("holds", 6 * kMiB)) << job("holds");
    go_on("holds");
    go_on("forked");
    EXPECT_EQ(other->wait(), 0) << other->output();
    EXPECT_EQ(program->wait(), 0) << program->output();
}

/// As when an agent is replaced by another: no program fails meanwhile that asks for more.
TEST_F(GpuSharing, MemoryThatIsAskedForWhileTheManagerIsAwayIsThereWhenItIsBack)
{
    start();
    const auto neighbour = call("holds");
    ASSERT_TRUE(neighbour->wait_for_output("holds"));
    const auto program = call("grows");
    ASSERT_TRUE(program->wait_for_output("before it grows")) << program->output();
    service_.reset();
    go_on("before it grows");
    ASSERT_TRUE(program->wait_for_output("asks")) << program->output();
    std::this_thread::sleep_for(500ms); // longer than it takes to find nobody

    start();

    EXPECT_EQ(program->wait(), 0) << program->output();
    go_on("holds");
    EXPECT_EQ(neighbour->wait(), 0) << neighbour->output();
}

/// Its kernel lasts longer than others would wait, but those are gone before.
TEST_F(GpuSharing, WhoIsAloneAgainIsNotEndedForTheTurnThatOthersWaitedFor)
{
    settings_.coordinator.turns = {.slice_s = 0.02, .most_slice_s = 0.1, .most_wait_s = 30, .most_overrun_s = 2};
    start();
    // Where the test stood still, others waited too long: then it is ended, as it should be.
    bool is_as_meant = false;
    for (int i = 0; i < 5 && !is_as_meant; ++i) {
        const auto program = call("long_kernel");
        ASSERT_TRUE(program->wait_for_output("runs")) << program->output();
        const auto asked = std::chrono::steady_clock::now();
        const auto other = call("launch_ex");
        ASSERT_TRUE(other->wait_for_output("launch_ex begins")) << other->output();
        std::this_thread::sleep_for(500ms); // longer than the longest slice

        other->kill(SIGKILL);

        EXPECT_EQ(other->wait(), -SIGKILL);
        is_as_meant = std::chrono::steady_clock::now() - asked < 1500ms;
        const int ended = program->wait();
        if (is_as_meant) EXPECT_EQ(ended, 0) << program->output();
    }
    EXPECT_TRUE(is_as_meant) << "others were gone too late each time";
}

TEST_F(GpuSharing, TheLibraryNeedsNoMoreMemoryTheLongerAProgramRuns)
{
    start();
    const auto program = call("many_releases");

    EXPECT_EQ(program->wait(), 0) << program->output();
}

} // namespace
} // namespace fathom::gpu
