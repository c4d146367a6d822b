#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/route.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace fathom {
namespace {

using namespace std::chrono_literals;

MeasuredOperator measured(const std::string& id, double median_s)
{
    MeasuredOperator one;
    one.operator_id = id;
    one.parameters_key = "n=1";
    one.operations = 1e6;
    one.median_s = one.ci_low_s = one.ci_high_s = median_s;
    return one;
}

UnitTypeView unit_type(const std::string& center, std::vector<std::string> operators, std::int64_t unit_count = 1)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + center};
    view.name = "core";
    view.center_id = CenterId{"ctr_" + center};
    view.center_name = center;
    view.operators = std::move(operators);
    view.unit_count = unit_count;
    view.availability = Availability(unit_count);
    return view;
}

/// One unit each is taken until these times.
void set_busy(UnitTypeView& view, const std::vector<double>& until_s)
{
    view.availability = Availability(view.unit_count);
    for (const double to_s : until_s)
        view.availability.take(0, to_s, 1);
}

OperatorDemand demand(const std::string& id, std::int64_t count)
{
    return {id, "n=1", count, 1e6, 1e5};
}

RouteRequest job(std::vector<OperatorDemand> operators)
{
    RouteRequest request;
    request.operators = std::move(operators);
    return request;
}

std::vector<std::string> feasible_names(const Decision& decision)
{
    std::vector<std::string> names;
    for (const Candidate& candidate : decision.candidates) {
        if (candidate.feasible) names.push_back(candidate.center);
    }
    std::sort(names.begin(), names.end());
    return names;
}

// M8, golden: which unit types can run which probe task (M13a).
TEST(Route, GoldenCatalog)
{
    const std::vector catalog{unit_type("u1", {"op1", "op3", "op4"}, 10),
                              unit_type("u2", {"op1", "op2", "op3", "op5"}, 20),
                              unit_type("u3", {"op1", "op2", "op5"}, 5)};
    using Names = std::vector<std::string>;

    EXPECT_EQ(feasible_names(route(job({demand("op1", 1), demand("op3", 1)}), catalog)), (Names{"u1", "u2"}));
    EXPECT_EQ(feasible_names(route(job({demand("op2", 1), demand("op5", 1)}), catalog)), (Names{"u2", "u3"}));
    EXPECT_EQ(feasible_names(route(job({demand("op4", 1), demand("op5", 1)}), catalog)), Names{});
}

TEST(Route, CountsLongerWhatIsNotTrusted)
{
    std::vector catalog{unit_type("doubtful", {"dgemm"}), unit_type("honest", {"dgemm"})};
    catalog[0].measured = {measured("dgemm", 0.010)};
    catalog[1].measured = {measured("dgemm", 0.015)};
    const RouteRequest request = job({demand("dgemm", 1000)});
    EXPECT_EQ(route(request, catalog).candidates[0].center, "doubtful");

    catalog[0].trust_factor = 0.5;
    const Decision decision = route(request, catalog);

    EXPECT_EQ(decision.candidates[0].center, "honest");
    EXPECT_NEAR(decision.candidates[1].compute_s, 10, 0.1) << "the prediction is what the probes say";
    EXPECT_NE(decision.candidates[1].reason.find("not fully trusted"), std::string::npos);
    EXPECT_EQ(to_json(decision)["candidates"][1]["trust_factor"], 0.5);
}

TEST(Route, PrefersTheEarliestCompletion)
{
    std::vector catalog{unit_type("slow", {"dgemm"}), unit_type("fast", {"dgemm"})};
    catalog[0].measured = {measured("dgemm", 0.02)};
    catalog[1].measured = {measured("dgemm", 0.01)};

    const Decision decision = route(job({demand("dgemm", 1000)}), catalog);

    ASSERT_TRUE(decision.winner);
    EXPECT_EQ(decision.candidates[0].center, "fast");
    EXPECT_DOUBLE_EQ(decision.candidates[0].prediction.run_s, 10);
    EXPECT_TRUE(decision.can_start_now);
    EXPECT_EQ(decision.candidates[1].reason, "would complete 10 s later (wait 0 s, run 20 s)");
}

TEST(Route, WaitsForTheFastUnitOnlyWhileThatPays)
{
    std::vector catalog{unit_type("slow", {"dgemm"}), unit_type("fast", {"dgemm"})};
    catalog[0].measured = {measured("dgemm", 0.02)};
    catalog[1].measured = {measured("dgemm", 0.01)};

    set_busy(catalog[1], {5});
    const Decision short_wait = route(job({demand("dgemm", 1000)}), catalog);
    EXPECT_EQ(short_wait.candidates[0].center, "fast"); // 5 + 10 < 20
    EXPECT_FALSE(short_wait.can_start_now);
    EXPECT_DOUBLE_EQ(short_wait.candidates[0].wait_s, 5);

    set_busy(catalog[1], {15});
    const Decision long_wait = route(job({demand("dgemm", 1000)}), catalog);
    EXPECT_EQ(long_wait.candidates[0].center, "slow"); // 15 + 10 > 20
    EXPECT_TRUE(long_wait.can_start_now);
}

TEST(Route, ShorterWaitBreaksATieWithinOnePercent)
{
    std::vector catalog{unit_type("a", {"dgemm"}), unit_type("b", {"dgemm"})};
    catalog[0].measured = {measured("dgemm", 0.00999)};
    catalog[1].measured = {measured("dgemm", 0.01)};
    set_busy(catalog[0], {0.05});

    const Decision decision = route(job({demand("dgemm", 1000)}), catalog);

    EXPECT_EQ(decision.candidates[0].center, "b"); // 10.04 against 10.00
}

TEST(Route, ACandidateWithoutMeasurementsRanksLast)
{
    std::vector catalog{unit_type("unknown", {"dgemm"}), unit_type("known", {"dgemm"})};
    catalog[1].measured = {measured("dgemm", 100)};

    const Decision decision = route(job({demand("dgemm", 1)}), catalog);

    EXPECT_EQ(decision.candidates[0].center, "known");
    EXPECT_EQ(decision.candidates[1].reason, "not all of the job's operators are measured there");
}

TEST(Route, NamesTheReasonAndCriterionOfEachInfeasibleCandidate)
{
    std::vector catalog{unit_type("drained", {"dgemm"}), unit_type("without", {"fft1d"}),
                        unit_type("small", {"dgemm"})};
    catalog[0].closed_reason = "the center is drained";
    catalog[0].unit_count = 8;
    set_busy(catalog[0], {});
    RouteRequest request = job({demand("dgemm", 1)});
    request.units.count = 4;

    const Decision decision = route(request, catalog);

    EXPECT_FALSE(decision.winner);
    ASSERT_EQ(decision.candidates.size(), 3U);
    EXPECT_EQ(decision.candidates[0].removed_by, Filter::kDrain);
    EXPECT_EQ(decision.candidates[1].removed_by, Filter::kUnitCount);
    EXPECT_EQ(decision.candidates[1].reason, "has 1 unit, the job needs 4");
    EXPECT_EQ(decision.candidates[2].removed_by, Filter::kOperators);
    EXPECT_EQ(decision.candidates[2].reason, "cannot run dgemm");
}

TEST(Route, LeavesOutWhereNoJobMayRunSoLong)
{
    std::vector catalog{unit_type("short", {"dgemm"}), unit_type("long", {"dgemm"})};
    catalog[0].max_wall_s = 3600;
    RouteRequest request = job({demand("dgemm", 1)});
    request.wall_limit_s = 3601;

    const Decision decision = route(request, catalog);

    EXPECT_EQ(feasible_names(decision), std::vector<std::string>{"long"});
    EXPECT_EQ(decision.candidates[1].removed_by, Filter::kWallLimit);
    EXPECT_EQ(decision.candidates[1].reason, "lets a job run 60 min at most, this one may run longer");
    request.wall_limit_s = 3600;
    EXPECT_EQ(feasible_names(route(request, catalog)).size(), 2U);
}

TEST(Route, LeavesOutCentersWithoutTheSoftwareThatAJobNeeds)
{
    std::vector catalog{unit_type("bare", {"dgemm"}), unit_type("modules", {"dgemm"}), unit_type("all", {"dgemm"})};
    catalog[1].software = {.modules = true};
    catalog[2].software = {.modules = true, .containers = true};
    RouteRequest request = job({demand("dgemm", 1)});
    EXPECT_EQ(feasible_names(route(request, catalog)).size(), 3U);
    request.software = {.modules = true, .containers = true};

    const Decision decision = route(request, catalog);

    EXPECT_EQ(feasible_names(decision), std::vector<std::string>{"all"});
    EXPECT_EQ(decision.candidates[1].removed_by, Filter::kSoftware);
    EXPECT_EQ(decision.candidates[1].reason, "its center has not all of the modules and containers that the job needs");
    request.software = {.modules = true};
    EXPECT_EQ(feasible_names(route(request, catalog)).size(), 2U);
}

TEST(Route, LeavesOutCentersThatHaveNoLocalUserForWhoseJobItIs)
{
    const std::vector catalog{unit_type("alpha", {"dgemm"}), unit_type("beta", {"dgemm"})};
    RouteRequest request = job({demand("dgemm", 1)});
    request.refused_by = {catalog[0].center_id.value};

    const Decision decision = route(request, catalog);

    EXPECT_EQ(feasible_names(decision), std::vector<std::string>{"beta"});
    EXPECT_EQ(decision.candidates[1].removed_by, Filter::kPolicy);
    EXPECT_EQ(decision.candidates[1].reason, "has no local user for whose job it is");
}

TEST(Route, AsksForTheCenterAndTypeThatTheJobNames)
{
    const std::vector catalog{unit_type("a", {"dgemm"}), unit_type("b", {"dgemm"})};
    RouteRequest request = job({});
    request.units.center = "b";
    request.units.type = "core";

    const Decision decision = route(request, catalog);

    EXPECT_EQ(feasible_names(decision), std::vector<std::string>{"b"});
}

TEST(Route, UnknownJobsGoToTheEarliestStartThenTheFastestMeasured)
{
    std::vector catalog{unit_type("a", {"dgemm"}), unit_type("b", {"dgemm"}), unit_type("c", {"dgemm"})};
    catalog[0].measured = {measured("dgemm", 0.02)};
    catalog[1].measured = {measured("dgemm", 0.01)};
    catalog[2].measured = {measured("dgemm", 0.001)};
    set_busy(catalog[2], {30});

    const Decision decision = route(job({}), catalog);

    EXPECT_EQ(decision.candidates[0].center, "b");
    EXPECT_FALSE(decision.assumptions.empty());
}

TEST(Route, SeveralUnitsWaitForTheLastOfThem)
{
    std::vector catalog{unit_type("a", {"dgemm"}, 4)};
    set_busy(catalog[0], {9, 3, 7});
    RouteRequest request = job({});
    request.units.count = 3;

    EXPECT_DOUBLE_EQ(route(request, catalog).candidates[0].wait_s, 7); // one is free, two of three must end
}

/// Random catalogs of up to eight unit types with random loads and speeds.
rc::Gen<std::vector<UnitTypeView>> any_catalog()
{
    return rc::gen::exec([] {
        std::vector<UnitTypeView> catalog;
        const int size = *rc::gen::inRange(1, 9);
        for (int i = 0; i < size; ++i) {
            UnitTypeView view = unit_type("c" + std::to_string(i), {"dgemm", "fft1d"}, *rc::gen::inRange(1, 5));
            if (*rc::gen::inRange(0, 4) > 0)
                view.measured.push_back(measured("dgemm", *rc::gen::inRange(1, 100) / 1e4));
            if (*rc::gen::inRange(0, 4) > 0)
                view.measured.push_back(measured("fft1d", *rc::gen::inRange(1, 100) / 1e4));
            const int busy = *rc::gen::inRange(0, static_cast<int>(view.unit_count) + 1);
            for (int j = 0; j < busy; ++j)
                view.availability.take(0, *rc::gen::inRange(0, 60), 1);
            if (*rc::gen::inRange(0, 6) == 0) view.closed_reason = "closed";
            catalog.push_back(std::move(view));
        }
        return catalog;
    });
}

RC_GTEST_PROP(RouteProperty, OrderOfUnitTypesChangesNothing, ())
{
    const std::vector<UnitTypeView> catalog = *any_catalog();
    std::vector<UnitTypeView> reversed(catalog.rbegin(), catalog.rend());
    const RouteRequest request = job({demand("dgemm", 100), demand("fft1d", 50)});

    RC_ASSERT(to_json(route(request, catalog)) == to_json(route(request, reversed)));
}

RC_GTEST_PROP(RouteProperty, AFasterMeasurementNeverMakesAUnitTypeLose, ())
{
    std::vector<UnitTypeView> catalog = *any_catalog();
    const RouteRequest request = job({demand("dgemm", 100), demand("fft1d", 50)});
    const Decision before = route(request, catalog);
    RC_PRE(before.winner.has_value());
    const std::string winner = before.candidates[*before.winner].center;
    for (UnitTypeView& view : catalog) {
        if (view.center_name != winner) continue;
        for (MeasuredOperator& one : view.measured.own())
            one.median_s = one.ci_low_s = one.ci_high_s = one.median_s / 2;
    }

    const Decision after = route(request, catalog);

    RC_ASSERT(after.candidates[*after.winner].center == winner);
}

RC_GTEST_PROP(RouteProperty, NeverStartsOnUnitsThatAreNotFree, ())
{
    const std::vector<UnitTypeView> catalog = *any_catalog();
    RouteRequest request = job({demand("dgemm", 10)});
    request.units.count = *rc::gen::inRange<std::int64_t>(1, 5);
    const Decision decision = route(request, catalog);
    RC_PRE(decision.winner.has_value() && decision.can_start_now);
    const Candidate& winner = decision.candidates[*decision.winner];

    for (const UnitTypeView& view : catalog) {
        if (view.id == winner.unit_type_id) RC_ASSERT(winner.unit_count <= view.availability.free_now());
    }
}

} // namespace
} // namespace fathom
