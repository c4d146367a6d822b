// `fathom scaling`, `fathom unit load`, `fathom window`, and what `fathom job` says of counts and windows.
#include "cli/jobs/explain.hpp"
#include "core/decide/capacity/network_window.hpp"
#include "core/decide/prediction/load_curve.hpp"
#include "core/decide/routing/decision_json.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

namespace fathom::cli::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

Json placed(Json json)
{
    json["center"] = "alpha";
    json["unit_type"] = "core";
    return json;
}

std::string page(const Json& item)
{
    return Json{{"items", {item}}, {"next_page_token", nullptr}}.dump();
}

/// What the server answers, by the very functions that it uses.
Json curve()
{
    std::vector<ScalingPoint> points;
    for (const double n : {1, 2, 3, 4, 6, 8})
        points.push_back({n, 1 / (0.25 + 0.75 / n)});
    const ScalingCurve fitted = fit_scaling(points, ScalingMode::kStrong).value();
    Json json = placed(to_json(fitted));
    json["operator"] = "dgemm";
    json["parameters"] = {{"n", 512}};
    json["measured_at"] = "2026-11-20T11:00:00Z";
    json["largest_measured"] = 8;
    json["knee"] = knee(fitted, 16);
    return json;
}

Json window()
{
    std::vector<NetworkSample> samples;
    const Timestamp monday = parse_rfc3339("2026-11-16T00:30:00Z").value();
    for (int hour = 0; hour < 5 * 24; ++hour)
        samples.push_back({monday + hour * 1h, hour % 24 == 14 || hour % 24 == 15 ? 4e8 : 5e7});
    Json json = placed(to_json(NetworkProfile(samples)));
    json["sample_count"] = samples.size();
    json["newest_at"] = "2026-11-20T11:00:00Z";
    json["steps"] =
        Json::array({{{"at", "2026-11-16T14:30:00Z"}, {"before_rate_bytes", 5e7}, {"after_rate_bytes", 4e8}}});
    json["now"] = {{"rate_bytes", 5e7}, {"basis", "hour_of_day"}};
    return json;
}

TEST(ScalingCommand, ListsAndDrawsCurves)
{
    const FakeServer server({{"GET /api/v1/scaling-curves", {answer(200, page(curve()))}}});

    EXPECT_THAT(fathom(server, {"scaling", "list"}).out, AllOf(HasSubstr("EFFICIENCY"), HasSubstr("amdahl")));
    const Ran shown = fathom(server, {"scaling", "show", "--operator", "dgemm"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("dgemm(n=512) on alpha/core"), HasSubstr("knee at 3"),
                                 HasSubstr("Believed up to 16 units"), HasSubstr("80 % INTERVAL")));
    EXPECT_EQ(server.requests().back().query.at("operator"), "dgemm");
}

TEST(UnitLoadCommand, ShowsWhatNeighboursCost)
{
    Json json =
        placed(to_json(LoadCurve{.slope = 0.05, .deviation = 0.01, .largest_busy_cores = 4, .result_count = 12}));
    json["operator"] = "stream_triad";
    json["measured_at"] = "2026-11-20T11:00:00Z";
    const FakeServer server({{"GET /api/v1/load-curves", {answer(200, page(json))}}});
    const Ran shown = fathom(server, {"unit", "load", "alpha/core", "--operator", "stream_triad"});

    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out,
                AllOf(HasSubstr("stream_triad"), HasSubstr("1.22 (1.16 … 1.29)"), HasSubstr("1.11"))) // e^0.2
        << "beside four cores and beside two";
    EXPECT_EQ(server.requests().back().query.at("unit_type"), "alpha/core");
    EXPECT_EQ(server.requests().back().query.at("operator"), "stream_triad");
}

TEST(UnitLoadCommand, SaysThatCopiesSideBySideToldIt)
{
    Json json = placed(to_json(*fit_load_curve({}, std::vector<CopyResult>{{"r1", 4, 3, 2}, {"r1", 4, 3, 2}})));
    json["operator"] = "stream_triad";
    json["measured_at"] = "2026-11-20T11:00:00Z";
    const FakeServer server({{"GET /api/v1/load-curves", {answer(200, page(json))}}});

    EXPECT_THAT(fathom(server, {"unit", "load"}).out, AllOf(HasSubstr("1 run of copies"), HasSubstr("2 (")));
}

TEST(UnitLoadCommand, ShowsHowSensitiveItIsAndThePressureThatItMakes)
{
    const std::vector<CopyResult> copies{{"r1", 4, 3, 2, PressureRatios{1.5, 1.5, 2}}, {"r1", 4, 3, 2}};
    Json json = placed(to_json(*fit_load_curve({}, copies)));
    json["operator"] = "stream_triad";
    json["measured_at"] = "2026-11-20T11:00:00Z";
    const FakeServer server({{"GET /api/v1/load-curves", {answer(200, page(json))}}});

    EXPECT_THAT(fathom(server, {"unit", "load"}).out,
                AllOf(HasSubstr("BESIDE BUBBLES"), HasSubstr("1.5 beside 3"), HasSubstr("0.58 (0.49 … 0.67)")));
}

TEST(UnitLoadCommand, SaysWhyThereIsNoFigure)
{
    Json json = placed({{"operator", "dgemm"}, {"measured_at", "2026-11-20T11:00:00Z"}, {"problem", "no two loads"}});
    const FakeServer server({{"GET /api/v1/load-curves", {answer(200, page(json))}}});

    EXPECT_THAT(fathom(server, {"unit", "load"}).out, HasSubstr("no two loads"));
}

TEST(WindowCommand, ListsAndDrawsTheWeek)
{
    const FakeServer server({{"GET /api/v1/network-windows", {answer(200, page(window()))}}});

    EXPECT_THAT(fathom(server, {"window", "list"}).out, HasSubstr("400 MB/s"));
    const Ran shown = fathom(server, {"window", "show", "--center", "alpha"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("Best 14:00–16:00 UTC."), HasSubstr("Mon"), HasSubstr("Sun"),
                                 HasSubstr("Changes"), HasSubstr("good")));
}

TEST(ExplainUnits, SaysWhySoManyAndWhenTheNetworkIsBest)
{
    const Timestamp now = parse_rfc3339("2026-11-23T09:00:00Z").value();
    UnitTypeView view;
    view.id = UnitTypeId{"ut_1"};
    view.name = "core";
    view.center_name = "alpha";
    view.operators = {"dgemm"};
    view.unit_count = 8;
    view.availability = Availability(8);
    MeasuredOperator one;
    one.operator_id = "dgemm";
    one.parameters_key = "n=1";
    one.operations = 1e6;
    one.median_s = one.ci_low_s = one.ci_high_s = 0.01;
    view.measured = {one};
    view.speedups = std::make_shared<const UnitSpeedups>(UnitSpeedups{std::make_shared<OperatorSpeedup>(
        "dgemm", "n=1", 1e6,
        fit_scaling(std::vector<ScalingPoint>{{1, 1}, {2, 1.6}, {4, 1 / 0.4375}}, ScalingMode::kStrong).value())});
    view.network = std::make_shared<const NetworkProfile>(std::vector<NetworkSample>{
        {now - 24h, 5e7}, {now - 24h + 1min, 5e7}, {now - 19h, 4e8}, {now - 19h + 1min, 4e8}});
    RouteRequest request;
    request.operators = {{"dgemm", "n=1", 1000, 1e6, 1e5}};
    request.transfer = {.in_bytes = 1e9, .deadline = now + 10h, .now = now};

    const std::string text = render_decision(to_json(route(request, std::vector{view})), now, {});

    EXPECT_THAT(text, HasSubstr("Why: its network is best at 14:00 UTC: transfers take 2.5 s then and 20 s now"));
    EXPECT_THAT(text, HasSubstr("Units: "));
    EXPECT_THAT(text, HasSubstr("Network window: from 2026-11-23 14:00:00 UTC on"));
}

} // namespace
} // namespace fathom::cli::test
