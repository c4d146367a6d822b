#include "cli/centers/unit_balance.hpp"
#include "core/model/balance_step.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSteps = "GET /api/v1/centers/alpha/units/gpu0/balance";

/// As the server renders it.
Json step_of(std::int64_t number, double error, double output, const std::string& outcome)
{
    BalanceStep step{.at = parse_rfc3339("2026-11-20T11:04:00Z").value() + std::chrono::seconds(number)};
    step.is_dry_run = true;
    step.outcome = outcome;
    step.law = "pid";
    step.band = 0.2;
    step.figures = BalanceFigures{.transfer = 0.9, .load = 0.4, .error = error, .region = "far", .output = output};
    step.sub_units = outcome == "acted" ? -2 : 0;
    step.clock_mhz = outcome == "acted" ? -100 : 0;
    step.reason = "because of " + std::to_string(number);
    step.faults = {"precision: absent"};
    Json json = to_json(step);
    json["number"] = number;
    json["job_id"] = nullptr;
    return json;
}

std::string page(const std::vector<Json>& items)
{
    return Json{{"items", items}, {"next_page_token", nullptr}}.dump();
}

TEST(UnitBalance, AStepIsALineWithAScale)
{
    EXPECT_EQ(balance_line(step_of(14, 0.5, 0.75, "acted")),
              "11:04:14  P_p 0.900  P_d 0.400  e +0.500  u +0.750  [        ( | )  e  u  ]  would: -2 sub-units, -100 "
              "MHz; because of 14 [precision: absent]");
    Json none = step_of(15, 0, 0, "no_sample");
    for (const char* name : {"transfer", "load", "error", "output", "band"})
        none[name] = nullptr;
    none["reason"] = "no\x1b[2J";
    EXPECT_EQ(balance_line(none), "11:04:15  P_p     -  P_d     -  e      -  u      -  [          |          ]  no?[2J "
                                  "[precision: absent]");
}

TEST(UnitBalance, DrawsWhatIsKeptAndListsWhatWasDone)
{
    const FakeServer server(
        {{kSteps, {answer(200, page({step_of(2, 0.1, 0.05, "in_band"), step_of(1, 0.5, 0.75, "acted")}))}}});
    const Ran ran = fathom(server, {"unit", "balance", "alpha/gpu0", "--last", "7", "--since", "2026-11-20T11:00:00Z"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("set point 0, band ±0.2"), HasSubstr("e, error"), HasSubstr("u, output"),
                               HasSubstr("would: -2 sub-units, -100 MHz"), HasSubstr("because of 1")));
    EXPECT_THAT(ran.out, Not(HasSubstr("because of 2")));
    EXPECT_THAT(server.requests().at(0).target,
                AllOf(HasSubstr("page_size=7"), HasSubstr("since=2026-11-20T11%3A00%3A00Z")));
}

TEST(UnitBalance, InJsonTheOldestComesFirst)
{
    const FakeServer server(
        {{kSteps, {answer(200, page({step_of(2, 0, 0, "in_band"), step_of(1, 0, 0, "in_band")}))}}});
    const Ran ran = fathom(server, {"--output", "json", "unit", "balance", "alpha/gpu0"});
    EXPECT_EQ(Json::parse(ran.out)["items"][0]["number"], 1);
}

TEST(UnitBalance, FollowsFromTheLastStepAndGoesOnAfterABrokenConnection)
{
    const auto event = [](const Json& step) { return "event: balance\ndata: " + step.dump() + "\n\n"; };
    const FakeServer server(
        {{kSteps, {answer(200, page({step_of(7, 0, 0, "in_band")}))}},
         {std::string(kSteps) + "/events",
          {broken_chunks({"retry: 1000\n\n", event(step_of(8, 0.5, 0.5, "acted"))}),
           chunks({event(step_of(9, 0.5, 0.5, "acted"))}), refusal(Errc::kUnauthenticated, "revoked")}}});
    const Ran ran = fathom(server, {"--output", "json", "unit", "balance", "alpha/gpu0", "--follow"});
    EXPECT_NE(ran.code, 0);
    EXPECT_THAT(ran.err, HasSubstr("revoked"));
    EXPECT_THAT(ran.out, AllOf(HasSubstr("because of 7"), HasSubstr("because of 8"), HasSubstr("because of 9")));
    const std::vector<net::Request> requests = server.requests();
    ASSERT_EQ(requests.size(), 4U);
    EXPECT_EQ(requests[1].query.at("after"), "7");
    EXPECT_EQ(requests[2].query.at("after"), "8");
    EXPECT_EQ(requests[3].query.at("after"), "9");
}

TEST(UnitBalance, SaysHowTheLoopIsSwitchedOnAndWhatIsWrong)
{
    const FakeServer server({{kSteps, {refusal(Errc::kNotFound, "the center has told of no such balanced unit")}},
                             {"GET /api/v1/balanced-units", {answer(200, page({}))}}});
    EXPECT_THAT(fathom(server, {"unit", "balance", "alpha/gpu0"}).err, HasSubstr("enabled = true"));
    EXPECT_THAT(fathom(server, {"unit", "balanced"}).err, HasSubstr("No unit is balanced"));
    EXPECT_THAT(fathom(server, {"unit", "balance", "gpu0"}).err, HasSubstr("CENTER/UNIT"));
    EXPECT_THAT(fathom(server, {"unit", "balance"}).err, HasSubstr("CENTER/UNIT"));
    EXPECT_EQ(fathom(server, {"unit", "balance", "--center", "alpha"}).code, 2);
    EXPECT_EQ(fathom(server, {"unit", "balance", "--follow"}).code, 2);
}

TEST(UnitBalance, StillAsksForSubUnitsByTheLoads)
{
    const FakeServer server(
        {{"POST /api/v1/sub-unit-requests", {answer(201, R"({"id": "sur_1", "state": "waiting"})")}}});
    const Ran ran = fathom(
        server, {"unit", "balance", "--center", "alpha", "--kind", "vgpu", "--transfer", "0.5", "--compute", "1.0"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const Json body = Json::parse(server.requests().at(0).body);
    EXPECT_EQ(body, (Json{{"center", "alpha"},
                          {"kind", "vgpu"},
                          {"action", "balance"},
                          {"transfer_load", 0.5},
                          {"compute_load", 1.0}}));
}

} // namespace
} // namespace fathom::cli::test
