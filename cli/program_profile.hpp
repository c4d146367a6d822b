#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/predict_from_reference.hpp"
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

/// The profiled run on the units that were measured so.
ReferenceRun reference_run(const ProgramProfile& program, const UnitMeasurements& units);

/// A probe's results as measurements.
std::vector<MeasuredOperator> measured_operators(const ProbeResult& result);

} // namespace fathom::cli
