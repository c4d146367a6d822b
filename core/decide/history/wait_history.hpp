#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/type_queue.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// When a job will really start, from when its units should be free.
namespace fathom {

/// A job that has started.
struct PastWait {
    std::string unit_type; ///< id
    double expected_s{};   ///< from the decision until its units were to be free
    double actual_s{};     ///< until it ran
};

/// Seconds from now with an 80 % interval.
struct WaitTime {
    double wait_s{};
    double low_s{};
    double high_s{};
};

/// 10, 50 and 90 %.
struct WaitQuantiles {
    double low{};
    double middle{};
    double high{};
};

/// What starts on one unit type take beyond the expected.
struct WaitModel {
    WaitQuantiles extra_s;        ///< actual − expected, of starts expected at once: dispatch, which no wait scales
    WaitQuantiles ratio{1, 1, 1}; ///< actual / expected, of the others
};

/// What no start waits less than that is expected at some moment or later.
struct LeastWait {
    double wait_s{};
    double from_s{}; ///< of starts expected later than this each second more adds at least `growth` seconds to wait_s
    double growth{}; ///< 0..1
};

/// What starts take beyond the expected: the center's own queue, its dispatch, and jobs that outlive their predictions.
/// For each unit type the quantiles (10, 50, 90 %) of actual − expected of the starts that were expected at once, and
/// of actual / expected of the others; both shrunk towards those of the whole network as if eight starts had gone like
/// them, and these in the same way towards an assumption: 0, 0.5, 3 s, and 0.5, 1, 1.5 times. The quantile p of n is
/// the value at p (n + 1) in their order, so that the next start is within with 80 %. Before any start was seen, the
/// expected is what it says. Immutable.
class WaitHistory {
  public:
    WaitHistory() = default;
    explicit WaitHistory(std::span<const PastWait> waits);
    /// @param queued_s  what the center's own queue holds before it, as its agent says; 0: nothing. It empties while
    /// the units become free, so the longer of both is expected.
    WaitTime expect(std::string_view unit_type, double expected_s, double queued_s = 0) const;

    /// A bound of expect().wait_s for starts that are expected then or later.
    LeastWait least_wait(std::string_view unit_type, double expected_s, double queued_s = 0) const;
    /// No start that is expected then or earlier waits longer than this by expect().wait_s.
    double most_wait_s(std::string_view unit_type, double expected_s, double queued_s = 0) const;

    /// What expect() computes with, so that a decision can be made again.
    const WaitModel& model(std::string_view unit_type) const;
    /// What it computes with, so that the same decisions can be made again: by unit type, and of all others.
    const std::map<std::string, WaitModel, std::less<>>& by_unit_type() const { return by_unit_type_; }
    const WaitModel& common() const { return common_; }
    /// @param common  of unit types that are missing.
    static WaitHistory from(std::map<std::string, WaitModel, std::less<>> by_unit_type, const WaitModel& common = {});

  private:
    WaitModel common_;
    std::map<std::string, WaitModel, std::less<>> by_unit_type_;
};

} // namespace fathom
