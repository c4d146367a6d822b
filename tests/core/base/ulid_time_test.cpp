#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/base/ulid_time.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace fathom {
namespace {

TEST(Ulid, TellsWhenItWasMade)
{
    EXPECT_EQ(format_rfc3339(ulid_time("job_01KAFP6X5T8Z3Q4R5S6T7V8W9X")), "2025-11-20T03:51:26.650000Z");

    const Timestamp before = SystemClock().now();
    const Timestamp made = ulid_time(JobId::make().value);

    EXPECT_GT(made, before - std::chrono::seconds(1));
    EXPECT_LT(made, SystemClock().now() + std::chrono::seconds(60)) << "those of one process run ahead a little";
}

TEST(Ulid, TheFirstOfAMillisecondDividesTheEarlierFromTheOthers)
{
    const Timestamp at = ulid_time("job_01KAFP6X5T8Z3Q4R5S6T7V8W9X");

    EXPECT_EQ(first_ulid_of(at), "01KAFP6X5T0000000000000000");
    EXPECT_EQ(first_ulid_of(at + std::chrono::microseconds(999)), "01KAFP6X5T0000000000000000");
    EXPECT_EQ(first_ulid_of(at + std::chrono::milliseconds(1)), "01KAFP6X5V0000000000000000");
    EXPECT_EQ(first_ulid_of(Timestamp(std::chrono::seconds(-5))), std::string(26, '0'));
    EXPECT_EQ(first_ulid_of(Timestamp::max()), "7ZZZZZZZZZ0000000000000000");
    EXPECT_TRUE(is_ulid(first_ulid_of(Timestamp::max())));
}

} // namespace
} // namespace fathom
