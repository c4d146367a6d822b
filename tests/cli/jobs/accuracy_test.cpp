// `fathom accuracy`: how well jobs were predicted.
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

namespace fathom::cli::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// @param by_rung  as a member of the answer, with the comma before it
FakeServer::Answers calibration_with(const std::string& by_rung)
{
    const std::string run = R"({"job_count": 30, "within_share": 0.8, "below_share": 0.1, "above_share": 0.1,
        "median_ratio": 1, "median_error": 0.05, "width_factor": 1})";
    const std::string others = R"("wait": {"count": 0}, "cost": {"count": 0})";
    const std::string text = R"({"run": )" + run + ", " + others +
                             R"(, "currency": null, "by_unit_type": [], "by_job_type": [{"job_type": "scf", "run": )" +
                             run + ", " + others + "}]" + by_rung + "}";
    return {{"GET /api/v1/predictions:calibration", {answer(200, text)}},
            {"GET /api/v1/predictions", {answer(200, R"({"items": [], "next_page_token": null})")}}};
}

TEST(Accuracy, SaysHowPredictionsWereByWhatTheyRestedOn)
{
    const FakeServer server(calibration_with(R"(, "by_rung": [
        {"rung": "runs", "run": {"job_count": 40, "within_share": 0.82, "median_ratio": 1, "median_error": 0.02}},
        {"rung": "reference", "run": {"job_count": 21, "within_share": 0.6, "median_ratio": 1.2, "median_error": 0.3}}])"));

    const Ran ran = fathom(server, {"accuracy"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("PREDICTED FROM"));
    EXPECT_THAT(ran.out,
                ContainsRegex("a profiled run elsewhere[^\n]* 21 [^\n]*30.0 %[^\n]*60.0 %[^\n]*20.0 % slower"));
    EXPECT_THAT(ran.out, ContainsRegex("runs of the type there[^\n]* 40 [^\n]*2.0 %[^\n]*82.0 %"));
}

TEST(Accuracy, OfAnOlderServerHasNoSuchTable)
{
    const FakeServer server(calibration_with(""));

    const Ran ran = fathom(server, {"accuracy"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("scf"));
    EXPECT_THAT(ran.out, Not(HasSubstr("PREDICTED FROM")));
}

} // namespace
} // namespace fathom::cli::test
