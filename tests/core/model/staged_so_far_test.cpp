#include "core/model/staged_so_far.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

const StagedSoFar kHalf{
    .complete = 1, .inputs = 3, .bytes = 5'210'000'000, .total_bytes = 20'480'000'000, .elapsed_s = 70};

std::string told(const StagedSoFar& so_far)
{
    return std::string(kStagingLinePrefix) + staging_line(so_far) + "\n";
}

TEST(StagedSoFarLines, AreReadAsTheyWereWritten)
{
    StagedSoFar unknown = kHalf;
    unknown.total_bytes.reset();

    EXPECT_EQ(told(kHalf), "fathom-stage: 1 of 3 inputs are staged, 5210 MB of 20480 MB in 70 s\n");
    EXPECT_EQ(find_staged_so_far(told(kHalf)), kHalf);
    EXPECT_EQ(find_staged_so_far(told(unknown)), unknown);
}

TEST(StagedSoFarLines, TellByTheLastOne)
{
    StagedSoFar later = kHalf;
    later.elapsed_s = 130;
    StagedSoFar all = kHalf;
    all.complete = all.inputs;
    const std::string module_loads = "module: loading gcc\n";

    EXPECT_EQ(find_staged_so_far("uts are staged, 3 MB in 10 s\n" + told(kHalf) + told(later) + module_loads), later);
    EXPECT_EQ(find_staged_so_far(told(kHalf) + told(all)), std::nullopt) << "the command runs";
    EXPECT_EQ(find_staged_so_far(told(kHalf) + "fathom-stage: 2 of 3 inputs are staged, 6000 MB of 204"), kHalf);
}

TEST(StagedSoFarLines, AreNothingElse)
{
    for (const std::string text :
         {"", "\n", "\n\n", "fathom-stage: \n", "fathom-stage: 1 of 3 inputs are staged, 5 MB in 70 s!\n",
          " fathom-stage: 1 of 3 inputs are staged, 5 MB in 70 s\n",
          "fathom-stage: -1 of 3 inputs are staged, 5 MB in 70 s\n",
          "fathom-stage: 1 of 3 inputs are staged, 99999999999999999999 MB in 70 s\n",
          "fathom-stage: 1 of 3 inputs are staged, 9000000000000 MB in 70 s\n"})
        EXPECT_EQ(find_staged_so_far(text), std::nullopt) << text;
}

TEST(StagedSoFarLines, AreJsonForClients)
{
    StagedSoFar unknown = kHalf;
    unknown.total_bytes.reset();

    EXPECT_EQ(to_json(kHalf), Json::parse(R"({"complete": 1, "inputs": 3, "bytes": 5210000000,
                                              "total_bytes": 20480000000, "elapsed_s": 70})"));
    EXPECT_TRUE(to_json(unknown)["total_bytes"].is_null());
}

} // namespace
} // namespace fathom
