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

/// Also where there is no header of NVIDIA's: a row that is lost here would let memory or work pass by.
TEST(GpuEntryPoints, EveryFunctionOfTheDriverThatMovesMemoryOrLaunchesStandsInTheTable)
{
    std::ifstream table(FATHOM_ENTRY_POINTS);
    std::ostringstream listed;
    listed << table.rdbuf();
    std::ifstream functions(FATHOM_DRIVER_FUNCTIONS);
    int count = 0;
    for (std::string line; std::getline(functions, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream words(line);
        std::string name;
        std::string kind;
        words >> name >> kind;
        const bool is_listed = listed.str().find("(" + name + ",") != std::string::npos ||
                               listed.str().find("(" + name + ")") != std::string::npos;
        EXPECT_EQ(is_listed, kind != "other") << name;
        ++count;
    }
    EXPECT_GT(count, 600);
}

} // namespace
} // namespace fathom::gpu
