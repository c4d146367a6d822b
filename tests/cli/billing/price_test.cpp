#include "core/base/json_reader.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFile = R"(currency: EUR
entries:
  - {center: alpha, unit_type: core, per_unit_hour: "0.12", unit_power_w: 11.5,
     bands: [{days: [sat, sun], per_unit_hour: "0.06"}, {from_hour: 22, per_unit_hour: "0.05"}]}
  - {center: beta, unit_type: "*", per_unit_hour: "0.30"}
)";

constexpr const char* kBook = R"({
    "version": 3, "currency": "EUR", "entry_count": 2, "valid_from": "2026-11-20T00:00:00Z", "in_force": true,
    "created_at": "2026-11-19T00:00:00Z", "created_by": "tok_1",
    "document": {"currency": "EUR", "entries": [
        {"center": "alpha", "unit_type": "core", "per_unit_hour": "0.12", "unit_power_w": 11.5, "bands": [
            {"days": ["sat", "sun"], "from_hour": 0, "to_hour": 24, "per_unit_hour": "0.06"},
            {"from_hour": 22, "to_hour": 24, "per_unit_hour": "0.05"}]},
        {"center": "beta", "unit_type": "*", "per_unit_hour": "0.3"}]},
    "warnings": [{"field": "entries[1].center", "detail": "the network has no center beta now"}]})";

TEST(PriceCommands, ShowTheBookInForce)
{
    const FakeServer server({{"GET /api/v1/price-books/current", {answer(200, kBook)}}});

    const Ran ran = fathom(server, {"price", "show"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out,
                AllOf(HasSubstr("Version 3, in force since 2026-11-20"), HasSubstr("PRICE (EUR)"), HasSubstr("11.5 W"),
                      HasSubstr("sat, sun 0-24 h: 0.06 a unit-hour; every day 22-24 h: 0.05 a unit-hour")));
}

TEST(PriceCommands, SetSendsTheWholeFileAndSaysWhatLooksWrong)
{
    const FakeServer server({{"POST /api/v1/price-books", {answer(201, kBook)}}});

    const Ran ran = fathom(server, {"price", "set", "-", "--from", "2026-12-01T00:00:00Z"}, kFile);

    ASSERT_EQ(ran.code, 0) << ran.err;
    const Json sent = Json::parse(server.requests().at(0).body);
    EXPECT_EQ(sent["valid_from"], "2026-12-01T00:00:00Z");
    EXPECT_EQ(sent["document"]["entries"][0]["per_unit_hour"], "0.12");
    EXPECT_THAT(ran.out, HasSubstr("Version 3 of the price book"));
    EXPECT_THAT(ran.err, HasSubstr("warning: entries[1].center: the network has no center beta now"));
}

TEST(PriceCommands, FaultsOfAFileNeedNoServer)
{
    const Ran ran =
        fathom({"price", "set", "-"}, {}, "currency: EUR\nentries: [{center: a, unit_type: b, per_unit_hour: 1}]");

    EXPECT_NE(ran.code, 0);
    EXPECT_THAT(ran.err,
                AllOf(HasSubstr("standard input"), HasSubstr("entries[0].per_unit_hour"), HasSubstr("in quotes")));
}

TEST(JobFlags, SayWhatThePlaceIsChosenBy)
{
    const FakeServer server({{"POST /api/v1/jobs", {answer(201, R"({"id": "job_1"})")}}});

    const Ran ran = fathom(server, {"job",
                                    "submit",
                                    "--prefer",
                                    "time=0.7,cost=0.3",
                                    "--budget",
                                    "12.50 EUR",
                                    "--priority",
                                    "-5",
                                    "--device",
                                    "gpu",
                                    "--isa",
                                    "avx512f",
                                    "--isa",
                                    "fma",
                                    "--site",
                                    "alpha",
                                    "--memory-bytes",
                                    "8000000000",
                                    "--",
                                    "./solve"});

    ASSERT_EQ(ran.code, 0) << ran.err;
    const Json job = Json::parse(server.requests().at(0).body);
    EXPECT_EQ(job["prefer"], (Json{{"time", 0.7}, {"cost", 0.3}}));
    EXPECT_EQ(job["budget"], (Json{{"amount", "12.50"}, {"currency", "EUR"}}));
    EXPECT_EQ(job["priority"], -5);
    EXPECT_EQ(job["units"], (Json{{"device", "gpu"}, {"isa", {"avx512f", "fma"}}, {"memory_bytes", 8000000000}}));
    EXPECT_EQ(job["data"], (Json{{"sites", {"alpha"}}}));
}

TEST(JobFlags, WrongOnesAreRefusedHere)
{
    EXPECT_THAT(fathom({"job", "submit", "--budget", "12.50", "--", "x"}).err, HasSubstr("such as 12.50EUR"));
    EXPECT_THAT(fathom({"job", "submit", "--prefer", "time=0.7", "--", "x"}).err, HasSubstr("must sum to 1, not 0.7"));
    EXPECT_THAT(fathom({"job", "submit", "--prefer", "best", "--", "x"}).err,
                AllOf(HasSubstr("cheapest"), Not(HasSubstr("must sum to 1, not"))));
}

} // namespace
} // namespace fathom::cli::test
