#pragma once

#include "core/decide/prediction/speedup.hpp"
#include "core/decide/prediction/split_steps.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The operators of a query from its physical plan, and which of them should run on GPUs (S1: "the operators of a query
/// come from its plan"; S6, S7). Bytes are of all machines together.
namespace fathom {

/// Larger plans are refused.
inline constexpr std::size_t kMaxPlanOperators = 10'000;
inline constexpr std::size_t kDeepestPlan = 200;

/// One operator of a plan.
struct PlanOperator {
    std::string name;               ///< as the plan calls it: "Hash Join"
    std::size_t depth{};            ///< below the plan's last operator
    OperatorClass operator_class{}; ///< joins kQuadratic, all others kLinear
    double input_bytes{};           ///< what it reads: of its children, or of the table
    double output_bytes{};          ///< what it hands on
    std::optional<double>
        measured_s{}; ///< that it took itself, without its children; where the plan was run with timing
};

/// How operators bring records together: joins each with each, all others one after the other.
OperatorClass class_of_operator(std::string_view name);

/// Reads what PostgreSQL writes for `EXPLAIN (FORMAT JSON)`, with ANALYZE or without, in the order in which it writes
/// it. Without ANALYZE sizes are the planner's estimates.
/// @error kInvalid  it is none; the detail says where.
/// @error kTooLarge  more than 10 000 operators, or nested deeper than 200.
Result<std::vector<PlanOperator>> read_postgres_plan(const Json& explain);

/// What the model says of one operator.
struct PlannedOperator {
    PlanOperator step;
    double seconds_per_100mb{};
    SpeedupAnswer answer;
};

/// Machines, network and devices for operators of each class; class, t, sizes and output are each operator's own.
struct PlanConditions {
    SpeedupQuestion linear;
    SpeedupQuestion quadratic;
    std::optional<double> linear_t; ///< none: by what the plan's own run took
    std::optional<double> quadratic_t;
};

/// t of an operator: the given one of its class, else by the time that it took, kept within the model's range.
/// Empty when neither is known.
std::optional<double> seconds_per_100mb(const PlanOperator& step, const PlanConditions& conditions);

/// The whole query: each operator where it is faster, on machines that have both kinds; and, where machines have one
/// kind, whole on one of them or in steps on both.
struct PlanAnswer {
    std::vector<PlannedOperator> operators; ///< those with an input
    double cpu_s{};                         ///< all of them on CPUs
    double gpu_s{};                         ///< all of them on GPUs
    double best_s{};                        ///< each where S6 puts it, on machines with both: nothing is passed
    double gain{};                          ///< cpu_s / best_s
    SplitAnswer split;                      ///< its steps are `operators`
};

/// How long the bytes that an operator hands on take to machines of the other kind: over b, or compressed where that is
/// known and faster.
double seconds_to_pass(double bytes, const SpeedupQuestion& machine);

/// @error kInvalid  an operator's t is not known; the detail names it and what would tell.
Result<PlanAnswer> plan_devices(const std::vector<PlanOperator>& operators, const PlanConditions& conditions);

/// `{"operators": [{"name", "depth", "class", …, "step_on", "passing_s"}], "cpu_s", "gpu_s", "best_s", "gain", "split":
/// {"run": "whole" | "steps", "whole_on": "CPU" | "GPU", "total_s", "passing_s"}}`
Json to_json(const PlanAnswer& answer);

} // namespace fathom
