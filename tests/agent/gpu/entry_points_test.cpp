#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace fathom::gpu {
namespace {

TEST(GpuEntryPoints, EachStandsOnceAndThoseThatPassSayWhy)
{
    std::ifstream file(FATHOM_ENTRY_POINTS);
    std::set<std::string> names;
    std::map<std::string, int> kinds;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("FATHOM_")) continue;
        const std::size_t open = line.find('(');
        const std::string name = line.substr(open + 1, line.find_first_of(",)") - open - 1);
        EXPECT_TRUE(names.insert(name).second) << name << " is duplicated";
        ++kinds[line.substr(0, open)];
        if (line.starts_with("FATHOM_PASSED"))
            EXPECT_NE(line.find(", \""), std::string::npos) << name << " does not say why it passes";
    }
    // Kernels in every form, copies, and graphs.
    for (const char* name : {"cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel", "cuGraphLaunch",
                             "cuMemcpyHtoDAsync_v2", "cuMemAllocAsync", "cuMemAllocFromPoolAsync_ptsz", "cuMemCreate"})
        EXPECT_TRUE(names.contains(name)) << name;
    EXPECT_GT(kinds["FATHOM_WORK"], 100);
    EXPECT_GT(kinds["FATHOM_OWN"], 15);
}

} // namespace
} // namespace fathom::gpu
