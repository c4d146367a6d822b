// Blocks that were taken for temporary and stay.
#include "tests/agent/gpu/gpu_sharing.hpp"

namespace fathom::gpu {
namespace {

/// By its pattern an allocation was temporary, and then one outlives two iterations: it is in the books as persistent,
/// and no switch copies it any longer.
TEST_F(GpuSharing, WhatWasTakenForTemporaryAndStaysIsPersistentAndNotCopied)
{
    start();
    const auto program = call("stays");
    EXPECT_TRUE(program->wait_for_output("outlives one")) << program->output();
    EXPECT_TRUE(wait_until([&] {
        const Json known = job("stays");
        return known.is_object() && known.at("temporary").at("peak_bytes") == 4 * kMiB;
    }));
    EXPECT_EQ(job("stays").at("persistent").at("used_bytes"), 0);
    go_on("outlives one");
    EXPECT_TRUE(program->wait_for_output("outlives two")) << program->output();
    EXPECT_TRUE(wait_for_persistent_bytes("stays", 4 * kMiB)) << job("stays");

    const auto other = train(
        "other",
        {{"until", "enough"}, {"weights-mib", "2"}, {"activations-mib", "4"}, {"tell", "yes"}, {"host-us", "5000"}});
    ASSERT_TRUE(wait_until([&] { return job("other").is_object(); }));
    go_on("outlives two");
    EXPECT_TRUE(program->wait_for_output("checked")) << program->output();
    EXPECT_TRUE(wait_until([&] { return job("stays").at("switches").get<int>() > 0; }));
    go_on("enough");
    EXPECT_EQ(other->wait(), 0) << other->output();

    const Json known = job("stays");
    ASSERT_TRUE(known.is_object());
    EXPECT_GT(known.at("switches").get<int>(), 0) << known;
    EXPECT_EQ(known.at("moved_bytes"), 0) << known;
    go_on("checked");
    EXPECT_TRUE(program->wait_for_output("released")) << program->output();
    EXPECT_TRUE(wait_for_persistent_bytes("stays", 0)) << job("stays");
    go_on("released");
    EXPECT_EQ(program->wait(), 0) << program->output();
}

} // namespace
} // namespace fathom::gpu
