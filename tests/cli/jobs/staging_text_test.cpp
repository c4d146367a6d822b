#include "cli/jobs/staging_text.hpp"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

TEST(StagingText, TellsWhatStagingTook)
{
    const Json attempt = Json::parse(R"({"staging": {"in_s": 3.2, "in_bytes": 2097152, "in_cached_bytes": 1048576,
                                                     "out_s": 0.5, "out_bytes": 512}})");

    EXPECT_EQ(staging_text(attempt), "in 3.20 s (2.00 MiB, 1.00 MiB of it kept of earlier jobs), out 500 ms (512 B)");
    EXPECT_EQ(staging_text(Json::parse(R"({"staging": null})")), "");
    EXPECT_EQ(staging_text(Json()), "") << "a job without an attempt";
}

TEST(StagingText, TellsHowFarStagingIs)
{
    Json attempt = Json::parse(R"({"staging": null, "staging_progress": {
        "complete": 1, "inputs": 3, "bytes": 5210000000, "total_bytes": 20480000000, "elapsed_s": 70}})");
    EXPECT_EQ(staging_text(attempt), "1 of 3 inputs, 4.85 GiB of 19.1 GiB in 70.0 s");

    attempt["staging_progress"]["total_bytes"] = nullptr;
    EXPECT_EQ(staging_text(attempt), "1 of 3 inputs, 4.85 GiB in 70.0 s");
}

} // namespace
} // namespace fathom::cli
