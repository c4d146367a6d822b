#include "core/decide/prediction/prediction_accuracy.hpp"

#include "core/decide/statistics/sample_statistics.hpp"

#include <cmath>
#include <vector>

namespace fathom {

Accuracy accuracy_of(std::span<const PredictedFigure> figures, double grain)
{
    std::vector<double> excesses;
    std::vector<double> errors;
    std::int64_t within = 0;
    for (const PredictedFigure& one : figures) {
        const double excess = one.actual - one.predicted;
        if (!std::isfinite(excess)) continue;
        excesses.push_back(excess);
        errors.push_back(std::abs(excess));
        if (one.actual >= one.low - grain && one.actual <= one.high + grain) ++within;
    }
    Accuracy accuracy;
    if (excesses.empty()) return accuracy;
    accuracy.count = static_cast<std::int64_t>(excesses.size());
    accuracy.within_share = static_cast<double>(within) / static_cast<double>(excesses.size());
    accuracy.median_error = median(std::move(errors));
    accuracy.median_excess = median(std::move(excesses));
    return accuracy;
}

Json to_json(const Accuracy& accuracy)
{
    return {{"count", accuracy.count},
            {"within_share", accuracy.within_share},
            {"median_error", accuracy.median_error},
            {"median_excess", accuracy.median_excess}};
}

} // namespace fathom
