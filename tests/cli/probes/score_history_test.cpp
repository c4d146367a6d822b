// `fathom score history`.
#include "core/base/json_reader.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPoints = R"({"items":[
    {"operator_version":1,"parameters":{"n":512},"unit_count":1,"median_s":0.5,"rate_flops":2.5e10,"rate_bytes":1e9,
     "error":1e-3,"tolerance":1e-12,"score":null,"missing_reason":"the measurement was found to be false: checksum",
     "void_reason":"checksum","probe_run_id":"prn_3","measured_at":"2026-11-20T11:00:00Z"},
    {"operator_version":1,"parameters":{"n":512},"unit_count":1,"median_s":1,"rate_flops":0,"rate_bytes":1.2e10,
     "error":1e-16,"tolerance":1e-12,"score":1016.2,"missing_reason":null,"void_reason":null,"probe_run_id":"prn_2",
     "measured_at":"2026-11-19T11:00:00Z"}],"next_page_token":null})";

TEST(ScoreHistoryCommand, ShowsEachPointWithItsScoreAndRun)
{
    const FakeServer server({{"GET /api/v1/scores/history", {answer(200, kPoints)}}});

    const Ran shown = fathom(server, {"score", "history", "alpha/core", "dgemm", "--since", "2026-11-01T00:00:00Z",
                                      "--size", "n=512", "--operator-version", "1"});

    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("2026-11-20 11:00:00"), HasSubstr("25.0 GFLOP/s"), HasSubstr("1.0e-03 !"),
                                 HasSubstr("prn_3"), HasSubstr("the measurement was found to be false: checksum")));
    EXPECT_THAT(shown.out, AllOf(HasSubstr("12.0 GB/s"), HasSubstr("1016"), HasSubstr("prn_2")));
    const auto query = server.requests().at(0).query;
    EXPECT_EQ(query.at("unit_type"), "alpha/core");
    EXPECT_EQ(query.at("operator"), "dgemm");
    EXPECT_EQ(query.at("since"), "2026-11-01T00:00:00Z");
    EXPECT_EQ(query.at("parameters"), "n=512");
    EXPECT_EQ(query.at("version"), "1");
    EXPECT_FALSE(query.contains("until"));
    EXPECT_FALSE(query.contains("unit_count"));
}

TEST(ScoreHistoryCommand, GivesTheAnswerAsJson)
{
    const FakeServer server({{"GET /api/v1/scores/history", {answer(200, kPoints)}}});

    const Ran shown = fathom(server, {"score", "history", "alpha/core", "dgemm", "--output", "json"});

    EXPECT_EQ(parse_json(shown.out).value().at("items").at(1).at("probe_run_id"), "prn_2");
}

TEST(ScoreHistoryCommand, SaysWhatToDoWhereNothingWasMeasured)
{
    const FakeServer server({{"GET /api/v1/scores/history", {answer(200, R"({"items":[],"next_page_token":null})")}}});

    const Ran shown = fathom(server, {"score", "history", "alpha/core", "dgemm"});

    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, Not(HasSubstr("MEASURED")));
    EXPECT_THAT(shown.err, HasSubstr("fathom score list"));
    EXPECT_EQ(fathom(server, {"score", "history", "alpha/core"}).code, 2);
}

} // namespace
} // namespace fathom::cli::test
