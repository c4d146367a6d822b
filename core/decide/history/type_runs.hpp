#pragma once

#include "core/decide/history/run_levels.hpp"
#include "core/decide/statistics/weighted_median.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The runs that RunLevels learns from, by job type and unit type, and how much these differ; a part of RunLevels,
/// whose comment has the symbols.
namespace fathom {

/// No history knows better.
inline constexpr double kMinDeviation = 0.02;

/// The runs of one job type on one unit type.
struct UnitRuns {
    std::string_view unit_type;
    std::vector<WeightedValue> residuals; ///< r
    double raw_variance{};                ///< that the raw predictions admit, on average
    double weight{};                      ///< W
    double median{};
    double mean{};      ///< y_tu
    double variance{};  ///< from run to run
    double certainty{}; ///< c

    /// One or two runs have no median to speak of.
    bool has_median() const { return residuals.size() > 2; }
};

/// The runs of one job type.
struct TypeRuns {
    std::string_view job_type;
    std::vector<UnitRuns> cells;
    double median{};
    double mean{};      ///< y_t
    double count{};     ///< Σ c
    double certainty{}; ///< f
    std::int64_t run_count{};
};

/// How much things differ: standard deviations.
struct Spread {
    double noise{};     ///< from run to run
    double unit_type{}; ///< of a unit type from its job type
    double job_type{};  ///< of a job type from all
    double raw_variance{};
};

/// The runs with raw predictions of this basis, with their medians, and with certainties as if things differed as they
/// usually do. Views: `runs` must outlive them.
std::vector<TypeRuns> arrange_runs(std::span<const PastRun> runs, Timestamp now, RawBasis basis);

/// Step 2's weights, by how much things differ.
void set_certainties(std::vector<TypeRuns>& types, const Spread& spread);

/// The median of the types, beside one that is not off.
double overall_median(const std::vector<TypeRuns>& types);

/// Told by medians of absolute deviations, so that neither a wild run nor a wild unit type makes all others unsure, and
/// less what chance alone brings into them: few runs seem to differ by place, and each place would be believed the more
/// for it.
Spread find_spread(const std::vector<TypeRuns>& types, double centre, const LevelPriors& priors);

} // namespace fathom
