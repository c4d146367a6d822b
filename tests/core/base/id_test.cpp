#include "core/base/id.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace fathom {
namespace {

TEST(Ulid, AscendsWithinAProcessAndNeverRepeats)
{
    std::set<std::string> seen;
    std::string last;
    for (int i = 0; i < 10000; ++i) {
        const std::string ulid = new_ulid();
        EXPECT_LT(last, ulid);
        EXPECT_TRUE(is_ulid(ulid)) << ulid;
        last = ulid;
        seen.insert(ulid);
    }
    EXPECT_EQ(seen.size(), 10000U);
}

TEST(Ids, OfOneKindAreNotOfAnother)
{
    const JobId id = JobId::make();

    EXPECT_EQ(JobId::parse(id.value), id);
    EXPECT_FALSE(AttemptId::parse(id.value));
    EXPECT_FALSE(JobId::parse("job_"));
    EXPECT_FALSE(JobId::parse("job_01J00000000000000000000lower"));
    EXPECT_FALSE(JobId::parse("job_'; DROP TABLE job; --000000"));
}

} // namespace
} // namespace fathom
