#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/prediction/predict_run.hpp"
#include "core/model/probe_result.hpp"

namespace fathom::cli {

/// What a prediction needs of a profile (`fathom profile --format json`).
struct ProgramProfile {
    double wall_s{};
    double waiting_share{};
    double parallelism{1};
    std::vector<OperatorDemand> operators;
};

/// @error kInvalid  with every field error. Fields that a prediction does not need are ignored.
Result<ProgramProfile> parse_program_profile(const Json& json);

/// What was measured of one unit, by a probe's results.
struct ProbedUnit {
    std::vector<MeasuredOperator> operators;
    std::vector<MeasuredOperator> one_core; ///< with one thread; empty: not measured, or `cores` is 1
    std::int64_t cores{1};

    UnitMeasurements units() const { return {operators, cores, one_core}; }
};

/// The profiled run as the router knows runs, on the unit that was measured so.
KnownRun known_run(const ProgramProfile& program, const ProbedUnit& unit);

/// How long the profiled program would take on another unit: what the router predicts, by the same function.
RunPrediction predict_program(const ProgramProfile& program, const ProbedUnit& reference, const ProbedUnit& there);

/// A probe's results as measurements.
std::vector<MeasuredOperator> measured_operators(const ProbeResult& result);

} // namespace fathom::cli
