#pragma once

#include "core/base/clock.hpp"
#include "core/decide/trust/trust.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Whether a center does what it should (self-correction).
namespace fathom {

/// An attempt that ended at a center.
struct EndedAttempt {
    Timestamp ended_at{};
    bool is_centers_fault{}; ///< failed to start, or lost; not the job's own exit code
    double run_s{};          ///< until it ended
    bool has_failed{};       ///< any end that is not success
    std::string job_type;
    std::string submitter;
};

/// What the network's other attempts of the window tell about a center's.
struct WindowElsewhere {
    std::vector<std::string> types_that_succeed; ///< job types with a success at another center
    std::int64_t submitters{};                   ///< of all attempts of the window, at any center
};

struct QuarantineRule {
    std::chrono::seconds window{600}; ///< attempts that ended within it count
    std::int64_t least_failures = 5;
    double failure_share = 0.5; ///< of the window's attempts
    /// An attempt that fails so soon counts as the center's fault when jobs of the same type succeed elsewhere: a
    /// black hole takes job after job.
    double quick_failure_s = 30;
    /// Quick failures count when so many submitters met them, or all there were: one alone may fail on purpose.
    std::int64_t quick_failure_submitters = 3;
    std::int64_t good_probes = 2; ///< in a row that let it back in
    std::chrono::seconds probe_pause{60};
};

struct QuarantineVerdict {
    bool is_bad{};
    std::int64_t failures{};
    std::int64_t attempts{};
    std::string reason; ///< "8 of 9 attempts failed within 10 min", for people
};

/// Of one center: bad when at least `least_failures` attempts of the window failed by its fault, and these are
/// `failure_share` of all. By its fault are those that are said to be (is_centers_fault), and quick failures of job
/// types that succeed elsewhere, once several submitters met them. Other failures are the job's own, and speak for
/// nobody.
/// @param attempts  in any order; those that were cancelled left out.
QuarantineVerdict judge_center(std::span<const EndedAttempt> attempts, const WindowElsewhere& elsewhere,
                               const QuarantineRule& rule, Timestamp now);

/// How long a quarantined center is left alone after its last probe, or after it was quarantined: `probe_pause`,
/// doubled for each bad probe in a row, an hour at most; not at all after a good one.
std::chrono::seconds pause_before_probe(const QuarantineRule& rule, std::int64_t good_in_a_row,
                                        std::int64_t bad_in_a_row);

/// A unit type whose jobs go otherwise than they did.
struct Drift {
    std::string unit_type;    ///< id
    double ratio{};           ///< actual / predicted of late against before; above 1: slower
    std::int64_t job_count{}; ///< that show it
    std::string reason;       ///< for people
};

/// A run with its moment, for drift.
struct TimedResidual {
    RunResidual residual;
    Timestamp ended_at{};
};

/// Unit types whose newest jobs since their last measurement go otherwise than jobs of their types went there before:
/// they are to be measured again.
///
/// Compared is ln(actual / predicted), job type by job type, so that what a type's predictions are always wrong by,
/// there or everywhere, plays no part. The newest `least_jobs`, twice and four times as many since the measurement are
/// held against those before them (at most 50 of each type) by a rank-sum test, stratified by job type (Wilcoxon 1945,
/// van Elteren 1960): it asks for no distribution, and one odd job counts no more than its rank. A unit type has
/// drifted when the test leaves less than 1 %, over all unit types and counts looked at, to chance; and the median
/// difference (Hodges and Lehmann 1963) is beyond `threshold` times; and its jobs also differ by as much, the same way,
/// from those of other unit types lately, where other unit types run the same job types: a type that has changed
/// everywhere says nothing about one place, and neither does one that has just come back to normal.
///
/// A job type with fewer than five runs before is held against its runs on other unit types instead. Unit types differ
/// in how far their predictions of a type are off, so there only what is beyond 1.7 times counts.
/// Jobs with times that are not positive are left out, and unit types that were never measured. Order does not matter.
/// @param residuals    of the run times that measurements alone let expect.
/// @param measured_at  when each unit type was last measured.
/// @return in order of unit type.
std::vector<Drift> find_drift(std::span<const TimedResidual> residuals,
                              const std::map<std::string, Timestamp>& measured_at, std::int64_t least_jobs = 5,
                              double threshold = 1.1);

} // namespace fathom
