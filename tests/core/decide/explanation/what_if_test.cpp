#include "core/decide/explanation/what_if.hpp"
#include "tests/core/decide/routing/random_network.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

using namespace std::chrono_literals;

const Timestamp kNow = *parse_rfc3339("2026-12-01T17:00:00Z");

UnitTypeView unit_type(const std::string& center, double execution_s)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + center};
    view.name = "core";
    view.center_name = center;
    view.resource_type = "cpu";
    view.operators = {"dgemm"};
    view.unit_count = 1;
    view.availability = Availability(1);
    MeasuredOperator one;
    one.operator_id = "dgemm";
    one.parameters_key = "n=64";
    one.operations = 1e6;
    one.median_s = one.ci_low_s = one.ci_high_s = execution_s;
    view.measured = {one};
    return view;
}

struct Question {
    std::vector<UnitTypeView> units{unit_type("alpha", 0.6), unit_type("beta", 0.3)};
    RouteRequest request;

    Question()
    {
        request.operators = {{"dgemm", "n=64", 1000, 1e6, 0}};
        request.units.count = 1;
        request.transfer.now = kNow;
    }
    Decision decision_with(const WhatIf& what_if) const
    {
        RouteRequest changed = request;
        std::vector<UnitTypeView> views = units;
        apply_what_if(what_if, changed, views);
        return route(changed, views);
    }
    Candidate winner_with(const WhatIf& what_if) const
    {
        const Decision decision = decision_with(what_if);
        return decision.candidates.at(decision.winner.value());
    }
};

TEST(WhatIf, LeavesCentersOut)
{
    const Question question;
    WhatIf without_beta;
    without_beta.exclude_centers = {"beta"};
    WhatIf only_alpha;
    only_alpha.only_centers = {"alpha"};

    EXPECT_EQ(question.winner_with({}).center, "beta");
    EXPECT_EQ(question.winner_with(without_beta).center, "alpha");
    EXPECT_EQ(question.winner_with(only_alpha).center, "alpha");
    const Decision decision = question.decision_with(without_beta);
    EXPECT_EQ(decision.candidates.at(1).center, "beta");
    EXPECT_EQ(decision.candidates.at(1).reason, "left out by the question");
}

TEST(WhatIf, FreesCentersButNotFromTheirMaintenance)
{
    Question question;
    UnitTypeView& beta = question.units[1];
    beta.availability.take(0, 5000, 1);
    WhatIf free;
    free.free_centers = {"beta"};
    EXPECT_EQ(question.winner_with({}).center, "alpha");
    EXPECT_EQ(question.winner_with(free).center, "beta");

    beta.closures = {{0, 5000}};
    EXPECT_EQ(question.winner_with(free).center, "alpha");
}

TEST(WhatIf, OnGpusOfFreedCentersNobodySlowsTheJob)
{
    Question question;
    question.request.gpu_shares = {{"ut_beta", {.share = 0.1, .spread = 0, .until_s = 1e6, .neighbours = 1}}};
    WhatIf free;
    free.free_centers = {"beta"};

    EXPECT_EQ(question.winner_with({}).center, "alpha") << "600 s, not 3000 s";
    EXPECT_EQ(question.winner_with(free).center, "beta") << "300 s";
}

TEST(WhatIf, ChangesPrices)
{
    Question question;
    question.request.prefer = {.time = 0, .cost = 1, .energy = 0};
    WhatIf dear;
    dear.prices = {{"alpha", "core", 1'200'000}, {"beta", "*", 6'000'000}};
    const Candidate winner = question.winner_with(dear);

    EXPECT_EQ(winner.center, "alpha"); // 600 s at 1.20 an hour; beta would take 300 s at 6.00
    EXPECT_NEAR(winner.cost, 0.2, 1e-9);
}

TEST(WhatIf, AUnitTypesOwnPriceGoesBeforeThatOfItsCenter)
{
    Question question;
    question.request.prefer = {.time = 0, .cost = 1, .energy = 0};
    WhatIf what_if;
    what_if.prices = {{"beta", "core", 1'200'000}, {"beta", "*", 600'000'000}, {"alpha", "*", 600'000'000}};
    const Candidate winner = question.winner_with(what_if);

    EXPECT_EQ(winner.center, "beta");
    EXPECT_NEAR(winner.cost, 0.1, 1e-9); // 300 s at 1.20 an hour
}

TEST(WhatIf, LetsTimePass)
{
    Question question;
    question.units[1].availability.take(0, 1000, 1);
    WhatIf later;
    later.now = kNow + 900s;

    EXPECT_EQ(question.winner_with({}).center, "alpha");
    EXPECT_EQ(question.winner_with(later).center, "beta");
    EXPECT_NEAR(question.winner_with(later).wait_s, 100, 1e-9);
}

std::vector<std::string> faults_of(const Json& json, std::string_view currency)
{
    const Question question;
    std::vector<FieldError> errors;
    const WhatIf what_if = parse_what_if(json, "what_if", errors);
    check_what_if(what_if, question.units, currency, kNow, "what_if", errors);
    std::vector<std::string> lines;
    for (const FieldError& error : errors)
        lines.push_back(error.field + ": " + error.detail);
    return lines;
}

TEST(WhatIf, IsReadStrictlyAndEveryFaultIsSaid)
{
    EXPECT_TRUE(faults_of({{"prices", {{{"center", "beta"}, {"unit_type", "core"}, {"per_unit_hour", "0.10"}}}},
                           {"exclude_centers", {"alpha"}},
                           {"now", "2026-12-01T18:00:00Z"}},
                          "EUR")
                    .empty());
    const std::vector<std::string> faults =
        faults_of({{"prices",
                    {{{"center", "beta"}, {"unit_type", "gpu"}, {"per_unit_hour", "0.10"}},
                     {{"center", "delta"}, {"unit_type", "core"}, {"per_unit_hour", "0.10"}},
                     {{"center", "beta"}, {"unit_type", "core"}, {"per_unit_hour", "-1"}}}},
                   {"exclude_centers", {"gamma", "alpha"}},
                   {"only_centers", {"alpha"}},
                   {"now", "2026-11-01T18:00:00Z"},
                   {"surplus", 1}},
                  "");
    std::string all;
    for (const std::string& fault : faults)
        all += fault + "\n";
    for (const char* expected :
         {"what_if.prices[2].per_unit_hour: ", "what_if.surplus: ", "what_if.exclude_centers: leaves out alpha",
          "what_if.exclude_centers[0]: there is no center gamma; there are alpha, beta",
          "what_if.prices[0].unit_type: beta has no unit type gpu",
          "what_if.prices[1].center: there is no center delta", "what_if.prices: the network has no price book",
          "what_if.now: has passed"})
        EXPECT_NE(all.find(expected), std::string::npos) << expected << "\nin\n" << all;
}

} // namespace
} // namespace fathom
