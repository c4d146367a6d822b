#include "core/decide/prediction/operator_outcome.hpp"

namespace fathom {

std::vector<OperatorOutcome> operator_outcomes(std::span<const OperatorDemand> demands, double thread_s,
                                               const UnitMeasurements& units)
{
    std::vector<OperatorOutcome> outcomes;
    for (const OperatorDemand& demand : demands) {
        const double actual_s = demand.share * thread_s;
        if (!demand.remainder.empty() || !(actual_s > 0)) continue;
        const bool is_of_one_thread = demand.is_serial && units.cores > 1;
        outcomes.push_back({.predicted = predict_operator(demand, is_of_one_thread ? units.one_core : units.operators),
                            .actual_s = actual_s,
                            .similarity = demand.similarity});
    }
    return outcomes;
}

} // namespace fathom
