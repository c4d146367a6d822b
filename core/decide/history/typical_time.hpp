#pragma once

#include "core/decide/history/run_history.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// The time on one unit type over that on another.
struct TimeRatio {
    double ratio{1};
    double deviation{}; ///< of its logarithm
};

/// Run times of job types on unit types, for jobs of which no operator is known. ln(time) is taken as g_t + h_u + rest:
/// what the job type takes, and how the unit type compares with the others on the types that both have run. g and h
/// are fitted to the medians of (type, unit type) by turns; a median of n runs counts n / (n + kPriorRuns), and h is
/// shrunk as if one more type had gone alike everywhere. In the median of (type, unit type), and in how far runs are
/// from it, a run counts half after three newer ones, and half after 30 days. Times are of whole jobs, on whatever
/// count of units they had. Immutable.
class TypicalTimes {
  public:
    TypicalTimes() = default;
    /// Runs in any order; those whose time is not positive and finite are left out.
    TypicalTimes(std::span<const PastRun> runs, Timestamp now);

    std::optional<RunEstimate> find(std::string_view job_type, std::string_view unit_type) const;
    /// How long jobs take there beside how long they take on the usual unit type.
    TimeRatio time_ratio(std::string_view unit_type) const;

  private:
    struct Cell {
        std::size_t unit{}; ///< index into unit_levels_
        double median{};
        double weight{};        ///< of its runs by their age
        double recent_weight{}; ///< the same, the newer the more
        double deviation{};     ///< from run to run
        std::int64_t count{};
    };
    struct Type {
        double level{};
        std::int64_t count{};
        std::map<std::string, Cell, std::less<>> cells; ///< by unit type
    };
    void fit_levels();
    void find_deviations();

    std::map<std::string, Type, std::less<>> types_;
    std::map<std::string, std::size_t, std::less<>> units_; ///< indices into unit_levels_
    std::vector<double> unit_levels_;
    std::int64_t run_count_{};
    double run_deviation_{};  ///< from run to run of one type on one unit type
    double cell_deviation_{}; ///< of medians from g + h
    double unit_deviation_{}; ///< of h
    double type_deviation_{}; ///< of g
    double type_median_{};    ///< of g
};

} // namespace fathom
