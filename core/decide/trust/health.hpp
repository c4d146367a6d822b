#pragma once

#include "core/base/clock.hpp"

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

} // namespace fathom
