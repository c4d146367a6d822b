#include "core/decide/prediction/predict_run.hpp"
#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/route.hpp"
#include "core/decide/routing/route_json.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

namespace fathom {
namespace {

MeasuredOperator measured(const std::string& id, double work, double median_s)
{
    MeasuredOperator one;
    one.operator_id = id;
    one.parameters_key = "work=" + std::to_string(std::llround(work));
    one.operations = one.bytes = work;
    one.median_s = median_s;
    one.ci_low_s = median_s / 1.01;
    one.ci_high_s = median_s * 1.01;
    return one;
}

OperatorDemand part(const std::string& id, double work, double share)
{
    return {.operator_id = id,
            .parameters_key = "work=" + std::to_string(std::llround(work)),
            .count = 10,
            .operations = work,
            .bytes = work,
            .share = share};
}

/// 60 % dgemm, 20 % FFT, 10 % waiting, 10 % that no operator stands for.
KnownRun run_on_alpha()
{
    KnownRun known;
    known.job_id = "job_1";
    known.unit_type = "ut_alpha";
    known.place = "alpha/core";
    known.run_s = 10;
    known.waiting_share = 0.1;
    known.operators = {part("dgemm", 1e6, 0.6), part("fft3d", 1e6, 0.2)};
    known.measured = {measured("dgemm", 1e6, 0.1), measured("fft3d", 1e6, 0.1)};
    return known;
}

const std::vector<MeasuredOperator> kBeta{measured("dgemm", 1e6, 0.2), measured("fft3d", 1e6, 0.05)};

UnitTypeView view_of(const std::string& name, std::vector<MeasuredOperator> measurements)
{
    UnitTypeView view;
    view.id = {"ut_" + name};
    view.name = "core";
    view.center_name = name;
    view.center_id = {"ctr_" + name};
    view.resource_type = "cpu";
    view.operators = {"dgemm", "fft3d"};
    view.unit_count = 4;
    view.cores_per_unit = 1;
    view.availability = Availability(4);
    view.measured = std::move(measurements);
    return view;
}

TEST(PredictRun, IsTheKnownRunWhereThereIsOne)
{
    const KnownRun known = run_on_alpha();
    const RunPrediction run = predict_run({known.operators, &known, {.operators = kBeta}, {nullptr, "ut_beta"}});

    // 6 s · 2 + 2 s / 2 + 1 s waiting + 1 s · the mean ratio (6 · 2 + 2 / 2) / 8.
    EXPECT_EQ(run.basis, RawBasis::kReference);
    EXPECT_NEAR(run.run_s, 12 + 1 + 1 + 13.0 / 8, 1e-9);
}

TEST(PredictRun, IsTheSumOfTheOperatorsWhereThereIsNone)
{
    const KnownRun known = run_on_alpha();
    const RunPrediction run = predict_run({known.operators, nullptr, {.operators = kBeta}, {}});

    EXPECT_EQ(run.basis, RawBasis::kOperators);
    EXPECT_NEAR(run.run_s, 2.5, 1e-9);
}

TEST(PredictRun, OnItsOwnUnitsTheKnownRunIsItself)
{
    const KnownRun known = run_on_alpha();
    // Not measured there at all, or otherwise since: it is the run that counts.
    const RunPrediction run = predict_run({known.operators, &known, {}, {nullptr, "ut_alpha"}});

    EXPECT_NEAR(run.run_s, 10, 1e-9);
    EXPECT_LT(run.high_s, 10.5);
    EXPECT_EQ(run.estimated_operators, 0);
}

TEST(PredictRun, WhatIsMeasuredNowhereElseIsOffByOneCommonError)
{
    const KnownRun known = run_on_alpha();
    const RunPrediction run = predict_run({known.operators, &known, {}, {nullptr, "ut_beta"}});

    EXPECT_NEAR(run.run_s, 10, 1e-9) << "as long as there, for want of anything better";
    EXPECT_GT(run.high_s, 14) << "and as unsure as that is";
    EXPECT_EQ(run.unknown_operators, 0) << "nothing of it is left out";
    EXPECT_EQ(run.estimated_operators, 2);
}

/// A job that takes its operators from a type that ran on alpha.
RouteRequest request_of_type()
{
    RouteRequest request;
    request.job_type = "solver";
    request.known_run = std::make_shared<const KnownRun>(run_on_alpha());
    request.operators = request.known_run->operators;
    request.takes_operators = true;
    request.units.count = 1;
    return request;
}

TEST(PredictRun, IsWhatTheRouterPredicts)
{
    const RouteRequest request = request_of_type();
    const std::vector<UnitTypeView> views{view_of("beta", kBeta)};
    const Decision decision = route(request, views);
    const KnownRun known = run_on_alpha();
    const RunPrediction run = predict_run({known.operators, &known, {.operators = kBeta}, {nullptr, "ut_beta"}});

    ASSERT_TRUE(decision.winner);
    const Candidate& winner = decision.candidates[*decision.winner];
    EXPECT_DOUBLE_EQ(winner.raw.run_s, run.run_s);
    EXPECT_DOUBLE_EQ(winner.prediction.run_s, run.run_s);
    EXPECT_DOUBLE_EQ(winner.prediction.high_s, run.high_s);
    EXPECT_EQ(winner.prediction.basis, RawBasis::kReference);
    ASSERT_EQ(winner.rungs.size(), 1U);
    EXPECT_EQ(winner.rungs[0].rung, "reference");
    EXPECT_EQ(winner.rungs[0].text,
              "its type's profiled run on alpha/core, 10 s (job_1), each part scaled by the ratio "
              "of probes");
}

TEST(PredictRun, RunsThereAndTheKnownRunWeighByTheirVariances)
{
    PastRun past;
    past.job_type = "solver";
    past.unit_type = "ut_beta";
    past.raw_s = past.raw_low_s = past.raw_high_s = 15.6;
    past.basis = RawBasis::kReference;
    past.actual_s = 12;
    RouteKnowledge knowledge;
    knowledge.runs = std::make_shared<const RunHistory>(std::vector{past}, Timestamp{});
    const std::vector<UnitTypeView> views{view_of("beta", kBeta)};
    const RouteRequest request = request_of_type();
    const Decision decision = route(request, views, knowledge);

    ASSERT_TRUE(decision.winner);
    const Candidate& winner = decision.candidates[*decision.winner];
    EXPECT_GT(winner.prediction.run_s, 12);
    EXPECT_LT(winner.prediction.run_s, 12.8);
    ASSERT_EQ(winner.rungs.size(), 2U);
    EXPECT_EQ(winner.rungs[0].rung, "runs");
    EXPECT_EQ(winner.rungs[0].text, "1 run of its type there");
    EXPECT_GE(winner.rungs[0].weight, 0.8);
    EXPECT_NEAR(winner.rungs[0].weight + winner.rungs[1].weight, 1, 1e-12);
    EXPECT_EQ(winner.trust_penalty_s, 0) << "that it is faster than predicted is no reason to believe it less";

    const Result<RouteInputs> inputs = parse_route_inputs(route_inputs_json(request, views, knowledge, decision));
    ASSERT_TRUE(inputs) << describe(inputs.error());
    const Decision again = route(inputs->request, inputs->unit_types, inputs->knowledge);
    EXPECT_DOUBLE_EQ(again.candidates[0].prediction.run_s, winner.prediction.run_s);
    EXPECT_DOUBLE_EQ(again.candidates[0].prediction.high_s, winner.prediction.high_s);
    EXPECT_EQ(to_json(again)["candidates"][0]["rungs"], to_json(decision)["candidates"][0]["rungs"]);
}

/// The profiled run on alpha, 10 s, was a first one: since then 8 s each.
RouteKnowledge later_runs_on_alpha()
{
    std::vector<PastRun> runs;
    for (const double actual_s : {10.0, 8.0, 8.0}) {
        PastRun past;
        past.job_type = "solver";
        past.unit_type = "ut_alpha";
        past.raw_s = past.raw_low_s = past.raw_high_s = 10;
        past.basis = RawBasis::kReference;
        past.actual_s = actual_s;
        past.ended_at = Timestamp{} + std::chrono::hours(runs.size());
        runs.push_back(past);
    }
    RouteKnowledge knowledge;
    knowledge.runs = std::make_shared<const RunHistory>(runs, Timestamp{} + std::chrono::hours(4));
    return knowledge;
}

TEST(PredictRun, AKnownRunIsCarriedOverAsLaterRunsOfItsPlaceTakeIt)
{
    const RouteKnowledge knowledge = later_runs_on_alpha();
    const std::vector<UnitTypeView> views{view_of("beta", kBeta)};
    const RouteRequest request = request_of_type();
    const Decision decision = route(request, views, knowledge);

    ASSERT_TRUE(decision.winner);
    const Candidate& winner = decision.candidates[*decision.winner];
    EXPECT_NEAR(winner.raw.run_s, 12 + 1 + 1 + 13.0 / 8, 1e-9) << "what measurements make of the known run";
    EXPECT_NEAR(winner.prediction.run_s, 0.8 * winner.raw.run_s, 0.3) << "the known run was a first one";
    ASSERT_FALSE(winner.rungs.empty());
    EXPECT_NE(winner.rungs[0].text.find(", times 0.8"), std::string::npos) << winner.rungs[0].text;

    const Result<RouteInputs> inputs = parse_route_inputs(route_inputs_json(request, views, knowledge, decision));
    ASSERT_TRUE(inputs) << describe(inputs.error());
    const Decision again = route(inputs->request, inputs->unit_types, inputs->knowledge);
    EXPECT_DOUBLE_EQ(again.candidates[0].prediction.run_s, winner.prediction.run_s);
    EXPECT_EQ(to_json(again)["candidates"][0]["rungs"], to_json(decision)["candidates"][0]["rungs"]);
}

TEST(PredictRun, WhereAKnownRunRanItsLaterRunsCountOnce)
{
    const RouteKnowledge knowledge = later_runs_on_alpha();
    const std::vector<UnitTypeView> views{view_of("alpha", kBeta)}; // whatever was measured since
    const RouteRequest request = request_of_type();
    const Decision decision = route(request, views, knowledge);

    ASSERT_TRUE(decision.winner);
    const Candidate& winner = decision.candidates[*decision.winner];
    const RunTime raw = winner.raw;
    const DividedRun run(raw, {});
    const RunCorrection by_runs = knowledge.runs->correction(
        "solver", "ut_alpha", {},
        {.basis = RawBasis::kReference, .is_of_own_work = false, .run = &run, .known_factor = 1});
    EXPECT_NEAR(raw.run_s, 10, 1e-9) << "the known run itself";
    EXPECT_DOUBLE_EQ(winner.prediction.run_s, corrected(raw, by_runs, by_runs.width_factor).run_s);
    EXPECT_NEAR(winner.prediction.run_s, 8, 0.2);
    ASSERT_EQ(winner.rungs.size(), 2U);
    EXPECT_EQ(winner.rungs[1].rung, "reference");
    EXPECT_EQ(winner.rungs[1].text.find("times"), std::string::npos) << winner.rungs[1].text;
}

TEST(PredictRun, NamedOperatorsSayThatTheyAreNotAll)
{
    RouteRequest request;
    request.job_type = "solver";
    request.operators = run_on_alpha().operators;
    request.units.count = 1;
    RouteKnowledge knowledge;
    knowledge.runs = std::make_shared<const RunHistory>(std::vector<PastRun>(), Timestamp{});
    const std::vector<UnitTypeView> views{view_of("beta", kBeta)};
    const Decision decision = route(request, views, knowledge);

    ASSERT_TRUE(decision.winner);
    EXPECT_EQ(decision.candidates[0].rungs[0].rung, "operators");
    EXPECT_GT(decision.candidates[0].prediction.high_s, 1.8 * decision.candidates[0].prediction.run_s);
    ASSERT_FALSE(decision.assumptions.empty());
    EXPECT_NE(decision.assumptions[0].find("covers the named operators only"), std::string::npos);
}

} // namespace
} // namespace fathom
