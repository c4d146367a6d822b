#include "cli/profile/program_profile.hpp"
#include "core/decide/routing/route.hpp"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

constexpr const char* kProfile = R"({
    "wall_s": 8, "parallelism": 1, "remainder": {"waiting": 0.05},
    "operators": [
        {"id": "dgemm", "parameters": {"m": 512, "n": 512, "k": 512}, "count": 40, "operations": 268435456,
         "bytes": 6291456, "share": 0.55},
        {"id": "trigonometric", "parameters": {"count": 1000000}, "count": 90, "operations": 1000000, "bytes": 16000000,
         "share": 0.3, "remainder": "compute"}]})";

MeasuredOperator measured(const OperatorDemand& demand, double median_s)
{
    MeasuredOperator one;
    one.operator_id = demand.operator_id;
    one.parameters_key = demand.parameters_key;
    one.operations = demand.operations;
    one.bytes = demand.bytes;
    one.median_s = median_s;
    one.ci_low_s = median_s * 0.99;
    one.ci_high_s = median_s * 1.01;
    return one;
}

TEST(ProgramProfile, IsReadAsTheVersionBeforeWroteIt)
{
    for (const char* name : {"similarity", "likeness"}) {
        Json json = *parse_json(kProfile);
        json["operators"][1][name] = 0.75;

        const Result<ProgramProfile> program = parse_program_profile(json);

        ASSERT_TRUE(program) << describe(program.error());
        EXPECT_EQ(program->operators[0].similarity, 1);
        EXPECT_EQ(program->operators[1].similarity, 0.75) << name;
    }
}

TEST(PredictProgram, IsTheSameNumberAsTheRouterPredicts)
{
    const Result<Json> json = parse_json(kProfile);
    ASSERT_TRUE(json);
    const Result<ProgramProfile> program = parse_program_profile(*json);
    ASSERT_TRUE(program) << describe(program.error());
    ProbedUnit here;
    ProbedUnit there;
    for (const OperatorDemand& demand : program->operators) {
        here.operators.push_back(measured(demand, 0.01));
        there.operators.push_back(measured(demand, demand.operator_id == "dgemm" ? 0.017 : 0.008));
    }
    const RunPrediction by_hand = predict_program(*program, here, there);

    RouteRequest request;
    request.job_type = "app/solver";
    KnownRun known = known_run(*program, here);
    known.job_id = "job_1";
    known.unit_type = "ut_alpha";
    request.known_run = std::make_shared<const KnownRun>(known);
    request.operators = known.operators;
    request.takes_operators = true;
    request.units.count = 1;
    UnitTypeView view;
    view.id = {"ut_beta"};
    view.name = "core";
    view.center_name = "beta";
    view.resource_type = "cpu";
    view.operators = {"dgemm", "trigonometric"};
    view.unit_count = view.cores_per_unit = 1;
    view.availability = Availability(1);
    view.measured = there.operators;
    const Decision decision = route(request, std::vector{view});

    ASSERT_TRUE(decision.winner);
    EXPECT_DOUBLE_EQ(decision.candidates[0].raw.run_s, by_hand.run_s);
    EXPECT_DOUBLE_EQ(decision.candidates[0].raw.low_s, by_hand.low_s);
    EXPECT_DOUBLE_EQ(decision.candidates[0].raw.high_s, by_hand.high_s);
    // 0.55 · 1.7 + 0.3 · 0.8 + 0.05 waiting + 0.1 · their mean.
    EXPECT_NEAR(by_hand.run_s, 8 * (0.935 + 0.24 + 0.05 + 0.1 * 1.175 / 0.85), 1e-9);
}

} // namespace
} // namespace fathom::cli
