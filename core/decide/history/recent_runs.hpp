#pragma once

#include "core/decide/history/run_history.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

struct TimedRun;

/// What the last runs of a job type took on a unit type, as they ended: for jobs that do what their type does. No
/// raw prediction of then takes part in it, so neither a measurement that was made anew nor another known run moves it;
/// but what their neighbours were expected to make of them is taken out of their times (PastRun::slowdown), so that
/// runs alone and beside others tell the same of the next.
///
/// Newer runs count more: half of a run's weight is that of all older ones together, roughly (kOlder for each newer
/// run), and half after 30 days. So what a place does now is believed at once, and still a run's own noise is averaged.
/// A run farther than three deviations from the median of all counts as three. Two runs are taken as they are if
/// neither took twice as long as the other; of one, or two that do not agree, what is farther from the raw prediction
/// than a factor of kMaxSurprise counts as that: it may have been given something else to do.
///
/// A first run may be longer for once: it reads its program and files from disks and fills caches. So the first run
/// on the unit type counts noise² / (noise² + longer²) of a run, with `longer` what the logarithm of its time is above
/// the median of those after it on as many units; one that was shorter counts in full.
///
/// The noise from run to run is told by the runs there, held towards that of the type's runs wherever, and that towards
/// the noise of all types' runs (the median of their deviations, so that a few types whose times depend on what they
/// are given do not make all others unsure); first runs take part in neither of these two.
///
/// Immutable.
class RecentRuns {
  public:
    RecentRuns() = default;
    /// Runs in any order; those whose time is not positive and finite are left out.
    RecentRuns(std::span<const PastRun> runs, Timestamp now);

    /// The runs against the raw prediction of now.
    struct Answer {
        double log_ratio{}; ///< weighted mean of ln(actual, alone / raw prediction now, on as many units)
        double noise{};     ///< deviation from run to run
        double weight{};    ///< as how many runs it counts: the variance of the mean is noise² / weight
        std::int64_t count{};
        std::int64_t compared{}; ///< the newest of them, as far as the raw prediction says what they should have taken
    };
    /// Empty: none of the type ran there.
    std::optional<Answer> find(std::string_view job_type, std::string_view unit_type, const DividedRun& raw) const;
    /// Ids of the unit types where any of the type ran, in order.
    std::vector<std::string_view> unit_types(std::string_view job_type) const;

    static constexpr double kOlder = 0.6;
    static constexpr double kMaxSurprise = 4;
    /// From run to run of one program on one machine, before there are runs to tell, of whatever type: as two sendings
    /// of a probe differ.
    static constexpr double kPriorNoise = 0.05;

  private:
    struct Run {
        double log_time{};
        double weight{};
        std::int64_t unit_count{1};
    };
    struct Cell {
        std::vector<Run> runs; ///< newest first, at most kMaxRuns
        double noise{};
        std::int64_t count{};
    };
    using Cells = std::map<std::string, Cell, std::less<>>;
    /// @param runs  newest first; @param usual  noise of the type.
    static Cell make_cell(std::vector<TimedRun> runs, double usual);
    const Cell* find_cell(std::string_view job_type, std::string_view unit_type) const;

    std::map<std::string, Cells, std::less<>> types_;
};

} // namespace fathom
