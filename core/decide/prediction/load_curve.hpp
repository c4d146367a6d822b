#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace fathom {

/// What an operator took on one unit while so many cores of its host were held by other jobs.
struct LoadedResult {
    std::string parameters_key; ///< of its size
    double busy_cores{};        ///< on average while it ran, >= 0
    double median_s{};          ///< seconds per execution, > 0
};

/// By how much an operator is slower, with an 80 % interval.
struct LoadFactor {
    double factor{1};
    double low{1};
    double high{1};
};

/// How much slower an operator is on units of one type beside busy neighbours: time = time alone · e^(slope · busy
/// cores). One slope for all sizes, each of which has its own time alone.
struct LoadCurve {
    double slope{};              ///< of ln(time) per core that is held, >= 0: neighbours make nothing faster
    double deviation{};          ///< of the slope
    double largest_busy_cores{}; ///< that it was measured beside
    std::int64_t result_count{}; ///< that told it

    /// Beside more cores than it was measured with: as beside those.
    LoadFactor at(double busy_cores) const;
};

/// Fits the slope by least squares within each size, so that what sizes take does not matter, held towards 0 as if
/// nothing usually made a program more than some percent slower for each core (kUsualSlope). The noise is that of the
/// results from the line, held towards the 5 % by which two sendings of a probe differ, as if two had said so.
/// @return empty: no size was measured beside two loads that are half a core apart or more, so nothing tells it.
std::optional<LoadCurve> fit_load_curve(std::span<const LoadedResult> results);

/// Its figures, and the factor at some loads up to the largest.
Json to_json(const LoadCurve& curve);

} // namespace fathom
