#include "core/base/process_limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace fathom {
namespace {

TEST(ProcessLimitsDeathTest, DescriptorsAreRaisedAndTheOldLimitIsKnown)
{
    const auto check = [] {
        rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = 100;
        ::setrlimit(RLIMIT_NOFILE, &limit);
        const std::size_t raised = raise_descriptor_limit();
        const bool is_raised = raised == std::min(limit.rlim_max, rlim_t{1} << 20U);
        const bool is_known = descriptor_limit_at_start() == 100;
        set_descriptor_limit(100);
        ::getrlimit(RLIMIT_NOFILE, &limit);
        std::exit(is_raised && is_known && limit.rlim_cur == 100 ? 0 : 1);
    };
    EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

TEST(ProcessLimitsDeathTest, MemoryOfAPrivateProcessIsNotDumped)
{
    const auto check = [] {
        keep_memory_private();
        rlimit limit{1, 1};
        ::getrlimit(RLIMIT_CORE, &limit);
        std::exit(limit.rlim_max == 0 && ::prctl(PR_GET_DUMPABLE) == 0 ? 0 : 1);
    };
    EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace fathom
