// Run where there is NVIDIA's header of its library for collective calls: all of its functions that begin work on a
// stream are in the list, with as many arguments as they have.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace fathom::gpu {
namespace {

std::map<std::string, int> listed()
{
    return {
#define FATHOM_COLLECTIVE(name, words) {#name, words},
#include "agent/gpu/interposer/collective_calls.def"
#undef FATHOM_COLLECTIVE
    };
}

TEST(NcclHeader, HasNoCollectiveCallThatIsNotListed)
{
    const std::ifstream file(FATHOM_NCCL_HEADER);
    std::ostringstream text;
    text << file.rdbuf();
    const std::string header = text.str();
    const std::regex declaration(R"(ncclResult_t\s+(nccl\w+)\s*\(([^;)]*)\)\s*;)");
    const std::map<std::string, int> known = listed();
    std::size_t found = 0;
    for (auto it = std::sregex_iterator(header.begin(), header.end(), declaration); it != std::sregex_iterator();
         ++it) {
        const std::string arguments = (*it)[2];
        if (arguments.find("cudaStream_t") == std::string::npos) continue;
        ++found;
        const auto one = known.find((*it)[1]);
        ASSERT_NE(one, known.end()) << (*it)[1] << " waits for other ranks and is not in collective_calls.def";
        EXPECT_EQ(one->second, 1 + std::count(arguments.begin(), arguments.end(), ',')) << (*it)[1];
    }
    EXPECT_GE(found, 8U) << "the header is written in another way than the test reads it";
}

} // namespace
} // namespace fathom::gpu
