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
    bool is_centers_fault{}; ///< failed to start, or lost before that; not the job's own exit code
    bool was_lost_running{}; ///< lost after its program had started, which may have brought that about
    double run_s{};          ///< until it ended
    bool has_failed{};       ///< any end that is not success
    std::string job_type;
    std::string submitter;
    std::string unit_type; ///< id
};

/// What else tells whether a center's failures are its own, from the same window.
struct HealthEvidence {
    std::vector<std::string> types_that_succeed; ///< job types with a success at another center
    std::int64_t submitters{};                   ///< of all attempts of the window, at any center
    bool has_failed_probe{}; ///< the newest one that ran to see whether the center is good has failed
};

struct QuarantineRule {
    std::chrono::seconds window{600}; ///< attempts that ended within it count
    std::int64_t least_failures = 5;
    double failure_share = 0.5; ///< of the window's attempts
    /// An attempt that fails so soon counts as the center's fault when jobs of the same type succeed elsewhere: a
    /// black hole takes job after job.
    double quick_failure_s = 30;
    /// Failures that jobs may have brought about count when so many submitters met them, or all there were, and never
    /// fewer than two: one alone may fail on purpose. A failed probe stands for the submitters that are missing.
    std::int64_t ambiguous_failure_submitters = 3;
    std::int64_t good_probes = 2; ///< in a row that let it back in
    std::chrono::seconds probe_pause{60};
};

struct QuarantineVerdict {
    bool is_bad{};
    std::int64_t failures{};
    std::int64_t attempts{};
    std::string reason; ///< "8 of 9 attempts failed by its fault within 10 min", for people
    /// Not empty: it would be bad if failures counted that jobs may have brought about and too few submitters met. Ids
    /// of the unit types where these happened, ordered: a probe there decides.
    std::vector<std::string> suspected_unit_types;
};

/// Of one center: bad when at least `least_failures` attempts of the window failed by its fault, and these are
/// `failure_share` of all. By its fault are those that are said to be (is_centers_fault); and, once several submitters
/// met them or a probe has failed, too, those that were lost while they ran and quick failures of job types that
/// succeed elsewhere. Other failures are the job's own, and speak for nobody.
/// @param attempts  in any order; those that were cancelled left out.
QuarantineVerdict judge_center(std::span<const EndedAttempt> attempts, const HealthEvidence& evidence,
                               const QuarantineRule& rule, Timestamp now);

/// How long a quarantined center is left alone after its last probe, or after it was quarantined: `probe_pause`,
/// doubled for each bad probe in a row, an hour at most; not at all after a good one.
std::chrono::seconds pause_before_probe(const QuarantineRule& rule, std::int64_t good_in_a_row,
                                        std::int64_t bad_in_a_row);

/// How long a suspected center is left alone after the last of the probes that did not confirm the suspicion:
/// `probe_pause`, doubled for each of them, an hour at most, so that jobs that fail on purpose do not use up its probe
/// budget.
std::chrono::seconds pause_before_next_check(const QuarantineRule& rule, std::int64_t checks);

} // namespace fathom
