// `fathom accuracy operators`, and what `fathom job operators` and `fathom job-type show` say of a profiled run.
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

namespace fathom::cli::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAccuracy = R"({"items": [
    {"center_id": "ctr_1", "center": "alpha", "unit_type_id": "ut_1", "unit_type": "core", "resource_type": "cpu",
     "operator": "dgemm", "run_count": 4, "size_count": 2, "compared_count": 8, "measured_count": 5, "unknown_count": 1,
     "predicted_s": 10, "actual_s": 12, "median_ratio": 1.2, "within_share": 0.5, "similarity": 0.9},
    {"center_id": "ctr_1", "center": "alpha", "unit_type_id": "ut_1", "unit_type": "core", "resource_type": "cpu",
     "operator": "sort", "run_count": 1, "size_count": 1, "compared_count": 0, "measured_count": 0, "unknown_count": 1,
     "predicted_s": null, "actual_s": null, "median_ratio": null, "within_share": null, "similarity": 1}]})";

/// The line of a text that this is in; empty: none.
std::string line_with(const std::string& text, const std::string& part)
{
    const std::size_t at = text.find(part);
    if (at == std::string::npos) return {};
    const std::size_t begin = text.rfind('\n', at) + 1; // the first line begins at npos + 1
    return text.substr(begin, text.find('\n', at) - begin);
}

TEST(OperatorAccuracy, SaysOfEachOperatorWhatWasPredictedWhatCameAndTheDoubt)
{
    const FakeServer server({{"GET /api/v1/predictions:operators", {answer(200, kAccuracy)}}});

    const Ran ran = fathom(
        server, {"accuracy", "operators", "--operator", "dgemm", "--unit-type", "alpha/core", "--center", "alpha"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    const std::string products = line_with(ran.out, "dgemm");
    EXPECT_THAT(products, HasSubstr("10.0 s"));
    EXPECT_THAT(products, HasSubstr("12.0 s"));
    EXPECT_THAT(products, HasSubstr("20.0 % slower"));
    EXPECT_THAT(products, HasSubstr("50.0 %"));
    EXPECT_THAT(products, HasSubstr("3 from other sizes; 1 not measured there; calls are like it (90.0 %)"));
    EXPECT_THAT(line_with(ran.out, "sort"), HasSubstr("1 not measured there"));
    const net::Request asked = server.requests().back();
    EXPECT_EQ(asked.query.at("operator"), "dgemm");
    EXPECT_EQ(asked.query.at("unit_type"), "alpha/core");
    EXPECT_EQ(asked.query.at("center"), "alpha");
}

TEST(OperatorAccuracy, SaysHowRunsComeToBeProfiledWhereNoneWas)
{
    const FakeServer server({{"GET /api/v1/predictions:operators", {answer(200, R"({"items": []})")}}});

    const Ran ran = fathom(server, {"accuracy", "operators"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("No profiled run has ended well on one unit within 90 days"));
    EXPECT_THAT(ran.out, HasSubstr("profile: true"));
    EXPECT_FALSE(server.requests().back().query.contains("operator"));
    EXPECT_THAT(fathom(server, {"accuracy", "operators", "--operator", "sort"}).out,
                HasSubstr("No profiled run of what is asked for has ended"));
}

TEST(OperatorAccuracy, StandsBesideTheOperatorsOfAProfiledJob)
{
    const FakeServer server(
        {{"GET /api/v1/jobs/job_1/operators", {answer(200, R"({"job_id": "job_1", "source": "profile",
        "operators": [
            {"id": "dgemm", "parameters": {"m": 64}, "count": 10, "share": 0.6, "outcome":
                {"actual_s": 1.5, "predicted_s": 1.25, "low_s": 1, "high_s": 2, "basis": "measured"}},
            {"id": "sort", "parameters": {"n": 8}, "count": 1, "share": 0.1, "outcome": null}]})")}}});

    const Ran ran = fathom(server, {"job", "operators", "job_1"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(line_with(ran.out, "dgemm:1"), HasSubstr("1.50 s"));
    EXPECT_THAT(line_with(ran.out, "dgemm:1"), HasSubstr("1.25 s ("));
    EXPECT_THAT(line_with(ran.out, "sort:1"), Not(HasSubstr(" s ")));
}

TEST(OwnLoopsOfJobTypes, AreShownWithTheirShareAndDoubt)
{
    const FakeServer server({{"GET /api/v1/job-types/solver", {answer(200, R"({"name": "solver", "operators": [],
        "own_loops": [{"file": "solver", "offset": 6024, "share": 0.31, "operator": "spmv", "similarity": 0.7}]})")}}});

    const Ran ran = fathom(server, {"job-type", "show", "solver"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    const std::string loop = line_with(ran.out, "solver+0x1788");
    EXPECT_THAT(loop, HasSubstr("31.0 %"));
    EXPECT_THAT(loop, HasSubstr("somewhat like spmv (70.0 %)"));
}

} // namespace
} // namespace fathom::cli::test
