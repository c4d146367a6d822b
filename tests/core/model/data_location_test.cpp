#include "core/model/data_location.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(DataLocation, ObjectsOfAStoreAreKnownByTheirScheme)
{
    EXPECT_TRUE(is_object_url("s3://bucket/key"));
    EXPECT_FALSE(is_object_url("https://s3.example.org/bucket/key"));
    EXPECT_FALSE(is_object_url("file:///s3://bucket"));
    EXPECT_FALSE(is_object_url(""));
}

TEST(DataLocation, AnObjectNeedsABucketAndAKey)
{
    EXPECT_EQ(problem_of_url("s3://bucket/key"), "");
    EXPECT_EQ(problem_of_url("s3:///key"), "must name a bucket: s3://bucket/key");
    EXPECT_EQ(problem_of_url("s3://bucket/"), "must name an object: s3://bucket/key");
}

} // namespace
} // namespace fathom
