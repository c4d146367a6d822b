#pragma once

#include "core/decide/prediction/predict_from_reference.hpp"

#include <span>
#include <vector>

namespace fathom {

/// One operator of a profiled run: how long it took there, and what probes of those units let expect.
struct OperatorOutcome {
    OperatorPrediction predicted; ///< basis kUnknown: nothing was measured of it there, and its times are 0
    double actual_s{};            ///< of all its executions, in seconds of the threads that called it
    double similarity{1};         ///< of its calls to the operator, as in the demand
};

/// Predicted against actual of the operators that a run on one unit was counted to execute, in their order.
///
/// Both times are of the threads that call an operator: what a library's own threads do beside them is in neither, and
/// it does not matter how many of the program's threads call it at once. So a library's operator is held against probes
/// with all cores of the unit, one that the program's own threads compute against probes with one thread. Parts that
/// stand for what was not counted are left out: how often they are executed was concluded from their time. Nothing is
/// estimated from other unit types, for which these units have no raw prediction.
/// @param demands   with shares, of the run's thread time.
/// @param thread_s  of the run.
/// @param units     where it ran.
std::vector<OperatorOutcome> operator_outcomes(std::span<const OperatorDemand> demands, double thread_s,
                                               const UnitMeasurements& units);

} // namespace fathom
