#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>
#include <span>

/// How well figures were predicted that may be 0, such as waits and costs; run times have Calibration, in ratios.
namespace fathom {

/// A figure that was predicted with its 80 % interval, and what came. All in one unit.
struct PredictedFigure {
    double predicted{};
    double low{};
    double high{};
    double actual{};
};

/// In the unit of the figures.
struct Accuracy {
    std::int64_t count{};
    double within_share{};  ///< of the actual figures inside their 80 % interval; 0.8 is perfect
    double median_error{};  ///< median of |actual − predicted|
    double median_excess{}; ///< median of actual − predicted: above 0, more than predicted
};

/// An interval is widened to what `grain` rounds away on either side: a wait of 0.2 s is as good as none.
Accuracy accuracy_of(std::span<const PredictedFigure> figures, double grain = 0);

Json to_json(const Accuracy& accuracy);

} // namespace fathom
