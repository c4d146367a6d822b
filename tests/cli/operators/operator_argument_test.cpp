#include "cli/operators/operator_argument.hpp"

#include <gmock/gmock.h>

namespace fathom::cli {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view text, OperatorCount count = OperatorCount::kRequired)
{
    const auto uses = parse_operator_arguments(text, count);
    return uses ? "accepted" : uses.error().detail;
}

TEST(OperatorArgument, ReadsIdsSizesAndCounts)
{
    const auto uses = parse_operator_arguments("dgemm:m=512;n=256;k=128=3000,fft3d=20", OperatorCount::kRequired);

    ASSERT_TRUE(uses) << uses.error().detail;
    ASSERT_EQ(uses->size(), 2U);
    EXPECT_EQ((*uses)[0].id, "dgemm");
    EXPECT_EQ((*uses)[0].parameters, (Parameters{{"k", 128}, {"m", 512}, {"n", 256}}));
    EXPECT_EQ((*uses)[0].count, 3000);
    EXPECT_EQ((*uses)[1].id, "fft3d");
    EXPECT_TRUE((*uses)[1].parameters.empty());
    EXPECT_EQ((*uses)[1].count, 20);
}

TEST(OperatorArgument, NeedsNoCountForAProbe)
{
    const auto uses = parse_operator_arguments("dgemm,fft3d:n=64,spmv=5", OperatorCount::kOptional);

    ASSERT_TRUE(uses) << uses.error().detail;
    ASSERT_EQ(uses->size(), 3U);
    EXPECT_EQ((*uses)[1].parameters, (Parameters{{"n", 64}}));
    EXPECT_EQ((*uses)[1].count, 1);
    EXPECT_EQ((*uses)[2].count, 5);
}

TEST(OperatorArgument, TakesCountsAsScientistsWriteThem)
{
    const auto uses = parse_operator_arguments("dgemm=3e6", OperatorCount::kRequired);

    ASSERT_TRUE(uses);
    EXPECT_EQ((*uses)[0].count, 3000000);
}

TEST(OperatorArgument, PointsAtTheBadPart)
{
    EXPECT_THAT(refusal(""), HasSubstr("id is missing"));
    EXPECT_THAT(refusal("dgemm=1,,fft3d=2"), HasSubstr("id is missing"));
    EXPECT_THAT(refusal("DGEMM=3"), HasSubstr("\"DGEMM\" is not an operator's id"));
    EXPECT_THAT(refusal("dgemm"), HasSubstr("write dgemm=COUNT"));
    EXPECT_THAT(refusal("dgemm=many"), HasSubstr("the count \"many\""));
    EXPECT_THAT(refusal("dgemm=0"), HasSubstr("the count \"0\""));
    EXPECT_THAT(refusal("dgemm=1.5"), HasSubstr("the count \"1.5\""));
    EXPECT_THAT(refusal("dgemm=99999999999999999999"), HasSubstr("the count"));
    EXPECT_THAT(refusal("fft3d=2,dgemm:=3"), HasSubstr("operator \"dgemm:=3\""));
    EXPECT_THAT(refusal("dgemm:"), HasSubstr("a parameter must follow"));
    EXPECT_THAT(refusal("dgemm:m=x=3"), HasSubstr("the value \"x\" of \"m\""));
    EXPECT_THAT(refusal("dgemm:m;n=2=3"), HasSubstr("\"m\" has no value"));
    EXPECT_THAT(refusal("dgemm:m=1;m=2=3"), HasSubstr("\"m\" is duplicated"));
    EXPECT_THAT(refusal("dgemm:m=1=3;n=2"), HasSubstr("after the last parameter"));
    EXPECT_THAT(refusal("dgemm:m=512;n=512"), HasSubstr("=COUNT"));
}

} // namespace
} // namespace fathom::cli
