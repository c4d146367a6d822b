#include "core/base/json_reader.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Json run(const std::string& id, const std::string& state)
{
    return {{"id", id},
            {"state", state},
            {"center", "alpha"},
            {"unit_type", "core"},
            {"unit_count", 1},
            {"order_id", "prn_1"},
            {"repeats_run_id", Json()},
            {"divides_run_id", Json()},
            {"error", "a cause"},
            {"cause", "order"},
            {"created_at", "2026-11-24T12:00:00Z"},
            {"ended_at", Json()},
            {"queue_wait_s", Json()}};
}

Json with(Json run, const char* name, const std::string& id)
{
    run[name] = id;
    return run;
}

net::Response items(std::vector<Json> items)
{
    return answer(200, Json{{"items", std::move(items)}, {"left_out", Json::array()}}.dump());
}

/// Of a run that fails, when the order has these runs by then.
Ran measured(std::vector<Json> order)
{
    FakeServer::Answers answers{{"POST /api/v1/probe-runs", {items({run("prn_1", "queued")})}},
                                {"GET /api/v1/probe-runs/prn_1", {answer(200, run("prn_1", "failed").dump())}}};
    for (Json& one : order) {
        if (one["state"] != "queued") continue;
        Json ended = one;
        ended["state"] = "succeeded";
        answers["GET /api/v1/probe-runs/" + one["id"].get<std::string>()] = {answer(200, ended.dump())};
    }
    answers["GET /api/v1/probe-runs"] = {items(std::move(order))};
    const FakeServer server(std::move(answers));
    return fathom(server, {"probe", "run", "--wait"});
}

TEST(ProbeRun, WaitsForThePartsOfARunThatTookTooLong)
{
    const Ran ran = measured({run("prn_1", "failed"), with(run("prn_2", "queued"), "divides_run_id", "prn_1"),
                              with(run("prn_3", "succeeded"), "divides_run_id", "prn_1"), run("prn_4", "failed")});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("prn_1"), HasSubstr("prn_2"), HasSubstr("prn_3")));
    EXPECT_THAT(ran.out, testing::Not(HasSubstr("prn_4"))) << "it goes on with none of them";
}

TEST(ProbeRun, WaitsForTheRunThatTakesThePlaceOfALostOne)
{
    EXPECT_EQ(measured({run("prn_1", "failed"), with(run("prn_2", "queued"), "repeats_run_id", "prn_1")}).code, 0);
    EXPECT_EQ(measured({run("prn_1", "failed"), with(run("prn_2", "failed"), "repeats_run_id", "prn_1")}).code, 1);
}

TEST(ProbeRun, IsShownWithWhereTheDataOfItsOperatorsLay)
{
    Json ended = run("prn_1", "succeeded");
    Json chase{{"id", "random_access"}, {"parameters", {{"n", 256}}}, {"median_s", 1e-6}, {"memory_level", "L1"}};
    Json triad{{"id", "stream_triad"},
               {"parameters", {{"n", 9}}},
               {"median_s", 1e-6},
               {"cache_verdict", "a rate of the caches"}};
    ended["result"]["operators"] = {std::move(chase), std::move(triad)};
    const FakeServer server({{"GET /api/v1/probe-runs/prn_1", {answer(200, ended.dump())}}});

    const Ran ran = fathom(server, {"probe", "show", "prn_1"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("random_access n=256: L1\nstream_triad n=9: a rate of the caches\n"));
}

TEST(ProbeRun, IsShownWithWhatNeighboursCostEachOfItsCopies)
{
    const auto of = [](std::vector<double> samples, double median_s) {
        return Json{{"id", "dgemm"}, {"parameters", {{"n", 9}}}, {"median_s", median_s}, {"samples_s", samples}};
    };
    // A burst in one sample of ten, and a copy of which no samples are told.
    Json first = of({1, 1, 1, 1, 2, 1, 1, 1, 1, 1}, 1);
    first["alone"] = of(std::vector<double>(10, 1.0), 1);
    Json ended = run("prn_1", "succeeded");
    ended["result"]["operators"].push_back(std::move(first));
    Json second;
    second["operators"].push_back(of({}, 1.5));
    ended["result"]["copies"].push_back(std::move(second));
    ended["result"]["copies"].push_back(Json::object());
    const FakeServer server({{"GET /api/v1/probe-runs/prn_1", {answer(200, ended.dump())}}});

    const Ran ran = fathom(server, {"probe", "show", "prn_1"});

    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("Each copy's time over that alone"), HasSubstr("1.1, 1.5, -")));
}

TEST(ProbeRun, SaysThatARunHasFailedForGood)
{
    EXPECT_EQ(measured({run("prn_1", "failed")}).code, 1);
}

TEST(ProbeRun, SaysWhoPicksTheUnits)
{
    const FakeServer server(
        {{"POST /api/v1/probe-runs", {answer(201, R"({"items":[{"id":"prn_1","state":"queued"}]})")}},
         {"GET /api/v1/probe-runs/prn_1", {answer(200, R"({"id":"prn_1","state":"failed"})")}},
         {"GET /api/v1/probe-runs", {items({})}}});
    const Ran ran = fathom(server, {"probe", "run", "--operators", "dgemm,fft3d:n=64", "--units", "alpha/core",
                                    "beta/core", "--count", "2", "--wait"});

    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(Json::parse(server.requests().at(0).body),
              Json::parse(R"({"operators":[{"id":"dgemm","parameters":{},"count":1},
                                           {"id":"fft3d","parameters":{"n":64},"count":1}],
                              "selection":"user","unit_types":["alpha/core","beta/core"],"unit_count":2})"));
}

} // namespace
} // namespace fathom::cli::test
