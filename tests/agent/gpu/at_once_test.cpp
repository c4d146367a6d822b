// Unmodified programs of which two may have the turn on a GPU at once.
#include "tests/agent/gpu/gpu_sharing.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

namespace fathom::gpu {
namespace {

/// 4 + 4 MiB of weights and 6 + 6 of activations fit into 32 MiB side by side.
const std::map<std::string, std::string> kLoop{{"until", "enough"}, {"weights-mib", "4"}, {"activations-mib", "6"},
                                               {"layers", "2"},     {"tell", "yes"},      {"hold", "yes"},
                                               {"host-us", "5000"}};

class GpuSharingAtOnce : public GpuSharing {
  protected:
    GpuSharingAtOnce() { settings_.coordinator.turns.at_once = 2; }

    /// At one moment.
    bool do_both_have_the_turn() const
    {
        const GpuMemoryReport report = service_->report();
        const std::vector<SharedGpuJob>& jobs = report.gpus.at(0).jobs;
        return std::count_if(jobs.begin(), jobs.end(), [](const SharedGpuJob& job) { return job.has_turn; }) == 2;
    }
};

/// Each checks every word that it wrote, and the driver that no memory is taken twice.
TEST_F(GpuSharingAtOnce, TwoThatComplementEachOtherRunBesideEachOther)
{
    start();
    const auto first = train("first", kLoop, {{"FATHOM_GPU_CLASS", "memory"}});
    ASSERT_TRUE(first->wait_for_output("started"));
    const auto second = train("second", kLoop, {{"FATHOM_GPU_CLASS", "compute"}});

    EXPECT_TRUE(wait_until([&] { return do_both_have_the_turn(); }));

    go_on("enough");
    EXPECT_EQ(first->wait(), 0) << first->output();
    EXPECT_EQ(second->wait(), 0) << second->output();
}

/// Two that move memory gain nothing by it: they take turns as without the setting.
TEST_F(GpuSharingAtOnce, TwoThatDoNotTakeTurns)
{
    start();
    const auto first = train("first", kLoop, {{"FATHOM_GPU_CLASS", "memory"}});
    ASSERT_TRUE(first->wait_for_output("started"));
    const auto second = train("second", kLoop, {{"FATHOM_GPU_CLASS", "memory"}});
    ASSERT_TRUE(wait_until([&] {
        const Json known = job("second");
        return known.is_object() && (known.at("has_turn").get<bool>() || known.at("switches").get<int>() > 0);
    }));

    for (int i = 0; i < 100; ++i) {
        EXPECT_FALSE(do_both_have_the_turn());
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    go_on("enough");
    EXPECT_EQ(first->wait(), 0) << first->output();
    EXPECT_EQ(second->wait(), 0) << second->output();
}

/// Who has the turn at once goes on while the manager is away, and has it afterwards.
TEST_F(GpuSharingAtOnce, BothGoOnWhileTheManagerIsAway)
{
    start();
    const auto first = train("first", kLoop, {{"FATHOM_GPU_CLASS", "memory"}});
    ASSERT_TRUE(first->wait_for_output("started"));
    const auto second = train("second", kLoop, {{"FATHOM_GPU_CLASS", "compute"}});
    ASSERT_TRUE(wait_until([&] { return do_both_have_the_turn(); }));

    service_.reset();
    settings_.coordinator.settle_s = 1;
    start();

    EXPECT_TRUE(wait_until([&] { return job("first").is_object() && job("second").is_object(); }));
    go_on("enough");
    EXPECT_EQ(first->wait(), 0) << first->output();
    EXPECT_EQ(second->wait(), 0) << second->output();
}

/// The neighbour ended while nobody kept the books: who waited for its turn is alone.
TEST_F(GpuSharing, WhoseNeighbourEndsWhileTheManagerIsAwayGoesOn)
{
    settings_.coordinator.turns = {.slice_s = 60, .most_slice_s = 120, .most_wait_s = 600};
    start();
    const auto first = train("first", {{"iterations", "100000"},
                                       {"weights-mib", "4"},
                                       {"host-us", "5000"},
                                       {"activations-mib", "4"},
                                       {"tell", "yes"}});
    // From its first iteration on it has the turn.
    ASSERT_TRUE(wait_until([&] { return job("first").is_object() && job("first").at("iterations") > 0; }));
    const auto second =
        train("second", {{"iterations", "3"}, {"weights-mib", "4"}, {"activations-mib", "4"}, {"tell", "yes"}});
    ASSERT_TRUE(wait_until([&] { return job("second").is_object(); }));
    service_.reset();
    first->kill(SIGKILL);
    EXPECT_EQ(first->wait(), -SIGKILL);
    settings_.coordinator.settle_s = 1;
    start();

    EXPECT_EQ(second->wait(), 0) << second->output();
}

/// Of both nothing is known: they take turns until the pace of each alone is, and are tried beside each other then.
TEST_F(GpuSharingAtOnce, WhatTwoKeepBesideEachOtherIsReportedByTheirJobs)
{
    settings_.coordinator.turns.slice_s = 2; // more than nine iterations, on a slow machine too
    settings_.coordinator.turns.most_slice_s = 10;
    start();
    std::map<std::string, std::string> loop = kLoop;
    const auto first = train("first", loop);
    const auto second = train("second", loop);

    EXPECT_TRUE(wait_until([&] { return !service_->report().pairs.empty(); }));

    const GpuMemoryReport report = service_->report();
    ASSERT_EQ(report.pairs.size(), 1U);
    EXPECT_EQ(report.pairs[0].a.job, "first");
    EXPECT_EQ(report.pairs[0].b.job, "second");
    EXPECT_GT(report.pairs[0].a.kept_pace, kMinKeptPace);
    EXPECT_LT(report.pairs[0].b.kept_pace, kMaxKeptPace);
    first->kill(SIGKILL);
    second->kill(SIGKILL);
    EXPECT_EQ(first->wait(), -SIGKILL);
    EXPECT_EQ(second->wait(), -SIGKILL);
}

} // namespace
} // namespace fathom::gpu
