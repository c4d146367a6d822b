#include "core/decide/explanation/counterfactual.hpp"
#include "core/decide/explanation/nearest_alternative.hpp"
#include "core/decide/routing/decision_text.hpp"
#include "tests/core/decide/routing/random_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace fathom {
namespace {

using namespace std::chrono_literals;

const Timestamp kNow = *parse_rfc3339("2026-12-01T17:00:00Z");

UnitTypeView unit_type(const std::string& center, double execution_s, double per_hour = 0, double power_w = 0)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + center};
    view.name = "core";
    view.center_id = CenterId{"ctr_" + center};
    view.center_name = center;
    view.resource_type = "cpu";
    view.operators = {"dgemm"};
    view.unit_count = 4;
    view.availability = Availability(4);
    MeasuredOperator one;
    one.operator_id = "dgemm";
    one.parameters_key = "n=64";
    one.operations = 1e6;
    one.median_s = one.ci_low_s = one.ci_high_s = execution_s;
    one.measured_at = kNow - 1h;
    view.measured = {one};
    PriceEntry entry;
    entry.per_unit_hour_micros = to_micros(per_hour);
    entry.unit_power_w = power_w;
    view.price = std::make_shared<UnitPrice>(entry);
    return view;
}

/// A thousand executions on one unit.
RouteRequest request()
{
    RouteRequest request;
    request.operators = {{"dgemm", "n=64", 1000, 1e6, 0}};
    request.units.count = 1;
    request.transfer.now = kNow;
    return request;
}

/// The texts of one kind, or of all.
std::vector<std::string> texts_of(const RouteRequest& request, const std::vector<UnitTypeView>& units,
                                  const std::string& kind = "")
{
    std::vector<std::string> texts;
    for (const Counterfactual& one : find_counterfactuals(request, route(request, units), units, {}, "EUR")) {
        if (kind.empty() || one.kind == kind) texts.push_back(one.text);
    }
    return texts;
}

using Texts = std::vector<std::string>;

TEST(Counterfactuals, SayHowMuchShorterAQueueWouldHaveToBe)
{
    // alpha: 600 s at once. beta: 300 s, but after 1 000 s: it must be free within 300 s less 1 %, which is a tie.
    std::vector<UnitTypeView> units{unit_type("alpha", 0.6), unit_type("beta", 0.3)};
    units[1].availability.take(0, 1000, 4);

    EXPECT_EQ(texts_of(request(), units), Texts{"beta/core would win if its queue were 12 min shorter"});
    units[1].availability = units[1].availability.sooner(12 * 60);
    EXPECT_EQ(route(request(), units).candidates[0].center, "beta");
}

TEST(Counterfactuals, SayBelowWhichPriceAPlaceWouldWin)
{
    // For 600 s alpha takes 0.02 EUR; beta's 300 s are as cheap at 0.24 EUR an hour.
    const std::vector<UnitTypeView> units{unit_type("alpha", 0.6, 0.12), unit_type("beta", 0.3, 0.5)};
    RouteRequest cheap = request();
    cheap.prefer = {.time = 0, .cost = 1, .energy = 0};

    EXPECT_EQ(texts_of(cheap, units, "price"), Texts{"beta/core would win at 0.23 EUR per unit-hour (0.5 now)"});
    EXPECT_TRUE(texts_of(request(), units, "price").empty()) << "the fastest is not chosen by price";
}

TEST(Counterfactuals, SayWhomAnotherPreferenceWouldChoose)
{
    const std::vector<UnitTypeView> units{unit_type("alpha", 0.6, 0.12, 10), unit_type("beta", 0.3, 0.5, 300)};

    EXPECT_EQ(texts_of(request(), units, "preference"),
              (Texts{"alpha/core would win if you asked for the cheapest (0.02 EUR instead of 0.042 EUR, 6 kJ instead "
                     "of 90 kJ, 5 min later)",
                     "alpha/core would win if you asked for the greenest (0.02 EUR instead of 0.042 EUR, 6 kJ instead "
                     "of 90 kJ, 5 min later)"}));
}

TEST(Counterfactuals, SayHowFarMeasurementsWouldHaveToBeBelieved)
{
    std::vector<UnitTypeView> units{unit_type("alpha", 0.6), unit_type("beta", 0.5)};
    units[1].trust_factor = 0.5;

    // 500 s / 0.85 is less than 600 s by more than 1 %.
    EXPECT_EQ(texts_of(request(), units, "trust"),
              Texts{"beta/core would win if its measurements were trusted to 85 % instead of 50 %"});
}

TEST(Counterfactuals, SayHowFastAnUnmeasuredOperatorWouldHaveToBe)
{
    std::vector<UnitTypeView> units{unit_type("alpha", 0.6), unit_type("beta", 0.3)};
    units[1].measured.clear();

    EXPECT_EQ(texts_of(request(), units, "measurement"),
              Texts{"beta/core would win if dgemm, never measured there, took at most 9 min"});
}

TEST(Counterfactuals, SayWhichDeadlineOrBudgetWouldDo)
{
    std::vector<UnitTypeView> units{unit_type("alpha", 2.4, 0.5), unit_type("beta", 6, 0.1)};
    RouteRequest late = request();
    late.transfer.deadline = kNow + 30min;
    EXPECT_EQ(texts_of(late, units, "deadline"), Texts{"alpha/core could run it if the deadline were 17:40 UTC"});

    RouteRequest poor = request();
    poor.budget = 0.2;
    EXPECT_EQ(route(poor, units).candidates[0].center, "beta"); // alpha takes 0.33 EUR, beta 0.17
    EXPECT_EQ(texts_of(poor, units, "budget"), Texts{"alpha/core would win if the budget were 0.34 EUR"});
}

TEST(Counterfactuals, SayWhichCountWouldDo)
{
    std::vector<UnitTypeView> units{unit_type("alpha", 0.6), unit_type("beta", 0.1)};
    units[1].unit_count = 2;
    units[1].availability = Availability(2);
    RouteRequest many = request();
    many.units.count = 4;

    EXPECT_EQ(texts_of(many, units, "units"),
              (Texts{"beta/core would win on 1 unit if the count were left open (8.33 min earlier)",
                     "beta/core would win with 2 units instead of 4 (8.33 min earlier)"}));
}

TEST(Counterfactuals, AreTrueOfRandomNetworks)
{
    std::size_t checked = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const test::RandomNetwork network = test::NetworkMaker(seed).make();
        const Decision decision = route(network.request, network.unit_types, network.knowledge);
        const std::vector<Counterfactual> found =
            find_counterfactuals(network.request, decision, network.unit_types, network.knowledge, "EUR");
        EXPECT_LE(found.size(), 8U);
        for (const Counterfactual& one : found) {
            RouteRequest request = network.request;
            std::vector<UnitTypeView> units = network.unit_types;
            const auto view = std::find_if(units.begin(), units.end(),
                                           [&](const UnitTypeView& unit) { return unit.center_name == one.center; });
            ASSERT_NE(view, units.end());
            if (one.kind == "wait") {
                const double own_s = std::min(view->queued_s, one.needed);
                view->queued_s -= own_s;
                view->availability = view->availability.sooner(one.needed - own_s);
            } else if (one.kind == "price") {
                PriceEntry entry;
                entry.per_unit_hour_micros = to_micros(one.needed);
                entry.unit_power_w = view->price->unit_power_w();
                view->price = std::make_shared<UnitPrice>(entry);
            } else if (one.kind == "trust") {
                view->trust_factor = one.needed;
            } else if (one.kind == "deadline") {
                request.transfer.deadline =
                    network.request.transfer.now + std::chrono::duration_cast<Timestamp::duration>(Seconds(one.needed));
            } else if (one.kind == "budget") {
                request.budget = one.needed;
            } else {
                continue;
            }
            const Decision changed = route(request, units, network.knowledge);
            ASSERT_TRUE(changed.winner) << seed << ": " << one.text;
            EXPECT_EQ(changed.candidates[*changed.winner].center, one.center) << seed << ": " << one.text;
            ++checked;
        }
    }
    EXPECT_GT(checked, 150U);
}

TEST(NearestAlternative, NamesTheEarliestEndWhenTheDeadlineCannotBeKept)
{
    const std::vector<UnitTypeView> units{unit_type("alpha", 6), unit_type("beta", 5.97)};
    RouteRequest late = request();
    late.transfer.deadline = kNow + 1h;

    EXPECT_EQ(nearest_alternative(late, route(late, units)),
              "no center can finish before 18:00 UTC; the earliest is 18:40 UTC at beta/core");
    EXPECT_EQ(nearest_alternative(request(), route(request(), units)), "");
}

TEST(NearestAlternative, WhatItNamesIsEnough)
{
    const std::vector<UnitTypeView> units{unit_type("alpha", 3.6, 12.344)};
    RouteRequest poor = request();
    poor.budget = 8;
    EXPECT_EQ(nearest_alternative(poor, route(poor, units), "EUR"),
              "no center can run it for 8.00 EUR; the cheapest is 12.35 EUR at alpha/core");

    poor.budget = 12.35;
    EXPECT_TRUE(route(poor, units).winner);
    for (const double cost : {0.3, 0.1 + 0.2, 12.344, 0.0996, 0.001234, 1e6 / 3})
        EXPECT_GE(budget_limit(std::stod(cost_text(kept_budget(cost), {}))), cost);
}

TEST(NearestAlternative, NamesTheCheapestWhenTheBudgetIsTooSmall)
{
    const std::vector<UnitTypeView> units{unit_type("alpha", 3.6, 12.5), unit_type("beta", 7.2, 5)};
    RouteRequest poor = request();
    poor.budget = 8;

    EXPECT_EQ(nearest_alternative(poor, route(poor, units), "EUR"),
              "no center can run it for 8.00 EUR; the cheapest is 10.00 EUR at beta/core");

    // beta is too late and too dear, alpha in time but dearer still.
    poor.transfer.deadline = kNow + 90min;
    EXPECT_EQ(nearest_alternative(poor, route(poor, units), "EUR"),
              "no center can run it for 8.00 EUR; the cheapest is 12.50 EUR at alpha/core");
    poor.budget = 10.5;
    EXPECT_EQ(
        nearest_alternative(poor, route(poor, units), "EUR"),
        "no center can finish before 18:30 UTC for 10.50 EUR; the cheapest in time costs 12.50 EUR at alpha/core, "
        "the earliest within the budget is 19:00 UTC at beta/core");
}

TEST(NearestAlternative, NamesThePlaceThatCameFurthest)
{
    std::vector<UnitTypeView> units{unit_type("alpha", 1), unit_type("beta", 1)};
    units[0].operators.clear();
    RouteRequest many = request();
    many.units.count = 100;

    EXPECT_EQ(nearest_alternative(many, route(many, units)),
              "no unit type can run it; the nearest is beta/core: has 4 units, the job needs 100");
    EXPECT_EQ(nearest_alternative(many, route(many, std::vector<UnitTypeView>{})), "no center offers units");
}

} // namespace
} // namespace fathom
