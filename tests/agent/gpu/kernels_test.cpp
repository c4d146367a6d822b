// What is known of the kernels of unmodified programs, on the stand-in.
#include "tests/agent/gpu/gpu_sharing.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace fathom::gpu {
namespace {

using Extent = std::array<std::int64_t, 3>;

/// null: no kernel of that name and grid is known.
Json find_kernel(const Json& job, const std::string& name, const Extent& grid)
{
    if (!job.is_object() || !job.contains("kernels")) return {};
    for (const Json& kernel : job.at("kernels")) {
        if (kernel.at("name") == name && kernel.at("grid") == grid) return kernel;
    }
    return {};
}

TEST_F(GpuSharing, KernelsAreKnownByNameAndLaunchShapeWithTheirTimes)
{
    start();
    const auto program = call("kernels");
    Json known;
    const auto is_all_known = [&] {
        known = job("kernels");
        const Json fill = find_kernel(known, "fill", {5, 1, 1});
        return fill.is_object() && fill.at("launches") == 5 && known.at("kernels").size() == 3;
    };

    EXPECT_TRUE(wait_until(is_all_known)) << known;
    go_on("kernels");
    EXPECT_EQ(program->wait(), 0) << program->output();

    const Json often = find_kernel(known, "fill", {5, 1, 1});
    ASSERT_TRUE(often.is_object()) << known;
    EXPECT_EQ(often.at("block"), (Extent{32, 2, 1}));
    EXPECT_EQ(often.at("shared_bytes"), 64);
    EXPECT_EQ(often.at("registers"), 32);
    EXPECT_EQ(often.at("static_shared_bytes"), 128);
    EXPECT_GE(often.at("timed"), 1);
    const Json once = find_kernel(known, "fill", {6, 1, 1});
    ASSERT_TRUE(once.is_object()) << known;
    EXPECT_EQ(once.at("launches"), 1);
    EXPECT_EQ(once.at("timed"), 0) << "the first launch may load the kernel's code";
    EXPECT_FALSE(once.contains("mean_s"));
    EXPECT_FALSE(once.contains("registers"));
    const Json spin = find_kernel(known, "spin", {3, 2, 1});
    ASSERT_TRUE(spin.is_object()) << known;
    EXPECT_EQ(spin.at("launches"), 5) << "by the library's kernel and by its function";
    EXPECT_EQ(spin.at("registers"), 40) << "of a kernel of a library";
    EXPECT_GE(spin.at("timed"), 1);
    EXPECT_GE(spin.at("least_s"), 0.002) << "it sleeps so long";
    EXPECT_GE(spin.at("mean_s"), spin.at("least_s"));
    EXPECT_EQ(known.at("wrong_messages"), 0);
}

/// The second begins after the first has ended.
TEST_F(GpuSharing, WhatAKernelTakesIsLearnedFromProgramsOfItsKind)
{
    start();
    const std::map<std::string, std::string> variables{{"FATHOM_GPU_KIND", "filler"}, {"FATHOM_GPU_INPUT_SIZE", "200"}};
    const auto spin = [&] { return find_kernel(job("kernels"), "spin", {3, 2, 1}); };
    const auto first = call("kernels", variables);
    EXPECT_TRUE(wait_until([&] { return spin().is_object() && spin().at("timed") >= 1; })) << job("kernels");
    EXPECT_EQ(job("kernels").at("input_size"), 200);
    EXPECT_FALSE(spin().contains("expected"));
    go_on("kernels");
    EXPECT_EQ(first->wait(), 0) << first->output();
    EXPECT_TRUE(wait_until([&] { return job("kernels").is_null(); }));
    std::filesystem::remove(folder_ / "kernels");

    const auto second = call("kernels", variables);

    EXPECT_TRUE(wait_until([&] { return spin().is_object(); })) << job("kernels");
    const Json known = spin();
    go_on("kernels");
    EXPECT_EQ(second->wait(), 0) << second->output();
    ASSERT_TRUE(known.contains("expected")) << known;
    EXPECT_GE(known.at("expected").at("likely_s"), 0.0019) << "it sleeps for 2 ms";
    EXPECT_EQ(known.at("expected").at("runs"), 1);
}

TEST_F(GpuSharing, EventsOfAContextThatEndsAreNotAskedForTimes)
{
    start();
    const auto program = call("kernels_of_contexts");
    const auto fill = [&] { return find_kernel(job("kernels_of_contexts"), "fill", {5, 1, 1}); };

    EXPECT_TRUE(wait_until([&] { return fill().is_object() && fill().at("launches") == 25; }))
        << job("kernels_of_contexts");
    EXPECT_EQ(job("kernels_of_contexts").at("input_size"), 12.5) << "as it says itself";
    go_on("kernels");

    EXPECT_EQ(program->wait(), 0) << program->output();
}

/// The driver refuses that thread's questions; those of others are asked all the same.
TEST_F(GpuSharing, AThreadWithoutAContextMayTellOfIterations)
{
    start();
    const auto program = call("kernels_without_context");
    const auto fill = [&] { return find_kernel(job("kernels_without_context"), "fill", {5, 1, 1}); };
    const auto has = [&](const char* what, int count) {
        const Json known = fill();
        return known.is_object() && known.at(what) == count;
    };

    EXPECT_TRUE(wait_until([&] { return has("launches", 3); })) << job("kernels_without_context");
    go_on("told");
    EXPECT_TRUE(wait_until([&] { return has("timed", 2); })) << job("kernels_without_context");
    go_on("kernels");

    EXPECT_EQ(program->wait(), 0) << program->output();
}

} // namespace
} // namespace fathom::gpu
