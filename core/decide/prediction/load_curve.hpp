#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/prediction/pressure.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// What an operator took on one unit while so many cores of its host were held by other jobs.
struct LoadedResult {
    std::string parameters_key; ///< of its size
    double busy_cores{};        ///< on average while it ran, >= 0
    double median_s{};          ///< seconds per execution, > 0
};

/// What one of several copies side by side took, each on a unit of its own of one host.
struct CopyResult {
    std::string run_id; ///< of the probe that the copies were of
    std::int64_t copies{};
    double busy_cores{};                      ///< beside each copy: those of the others
    double ratio{};                           ///< its time over that of a copy alone, in the same minute; > 0
    std::optional<PressureRatios> pressure{}; ///< of the first copy of those that were measured in turn with bubbles
    double deviation{};                       ///< of ln(ratio), by its samples (Slowdown); 0: not known
};

/// By how much an operator is slower, with an 80 % interval.
struct LoadFactor {
    double factor{1};
    double low{1};
    double high{1};
};

/// What so many copies side by side told, or one beside so many bubbles less one, of however many sendings.
struct CopiesPoint {
    std::int64_t copies{};
    double busy_cores{};
    double log_factor{}; ///< of time over that alone, >= 0 and no less than that of fewer copies
    double deviation{};  ///< of log_factor
    std::int64_t run_count{};
};

/// How much slower an operator is on units of one type beside busy neighbours, from either source or both.
struct LoadCurve {
    // From ordinary results that had neighbours: time = time alone · e^(slope · busy cores). One slope for all sizes,
    // each of which has its own time alone.
    double slope{};              ///< of ln(time) per core that is held, >= 0: neighbours make nothing faster
    double deviation{};          ///< of the slope
    double largest_busy_cores{}; ///< that these results had beside them
    std::int64_t result_count{}; ///< that told it; 0: none did
    /// From copies side by side, by ascending load; empty: none were measured. Where there are some, they are believed
    /// and not the slope: the worst neighbours there are, at every load that was tried.
    std::vector<CopiesPoint> copies{};
    /// Beside bubbles, by ascending number of cores that have one: how sensitive it is to pressure on memory, whoever
    /// makes it. Empty: not measured.
    std::vector<CopiesPoint> bubbles{};
    std::optional<Pressure> pressure{}; ///< that it makes itself; empty: not measured

    /// Between two loads of copies the logarithm goes straight, from nothing at none. Beside more cores than it was
    /// measured with: as beside those.
    LoadFactor at(double busy_cores) const;
    /// The same beside cores that have a bubble each; `bubbles` must not be empty.
    LoadFactor beside_bubbles(double bubble_cores) const;
    /// Of ln(time) for each core that has a bubble, on average up to the largest load; 0: not measured.
    double sensitivity() const { return bubbles.empty() ? 0 : bubbles.back().log_factor / bubbles.back().busy_cores; }
    /// The largest load that at() knows.
    double known_busy_cores() const { return copies.empty() ? largest_busy_cores : copies.back().busy_cores; }
};

/// Fits the slope by least squares within each size, so that what sizes take does not matter, held towards 0 as if
/// nothing usually made a program more than some percent slower for each core (kUsualSlope). The noise is that of the
/// results from the line, held towards the 5 % by which two sendings of a probe differ, as if two had said so.
///
/// Of copies, of which each load is looked at by itself, the mean of ln(ratio) counts, with the noise as above and that
/// within the copies; more copies are never faster. The same of times beside bubbles, and fit_pressure() of the
/// pressure that it makes.
/// @return empty: no size was measured beside two loads that are half a core apart or more, and there are no copies, so
///         nothing tells it.
std::optional<LoadCurve> fit_load_curve(std::span<const LoadedResult> results, std::span<const CopyResult> copies = {});

/// Its figures, the factor at some loads up to the largest, and at the loads of copies.
Json to_json(const LoadCurve& curve);

/// The curve of one operator on a unit type.
struct OperatorLoad {
    std::string operator_id;
    LoadCurve curve;
};
/// Those of a unit type, in order of operators.
using UnitLoads = std::vector<OperatorLoad>;

/// nullptr: nothing is known of it. `loads` may be nullptr.
const LoadCurve* find_load(const UnitLoads* loads, std::string_view operator_id);

} // namespace fathom
