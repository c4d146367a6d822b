#pragma once

#include "core/base/clock.hpp"
#include "core/decide/trust.hpp"

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
};

struct QuarantineRule {
    std::chrono::seconds window{600}; ///< attempts that ended within it count
    std::int64_t least_failures = 5;
    double failure_share = 0.5; ///< of the window's attempts
    /// An attempt that fails so soon counts as the center's fault when jobs of the same type succeed elsewhere: a
    /// black hole takes job after job.
    double quick_failure_s = 30;
    std::int64_t good_probes = 2; ///< in a row that let it back in
};

struct QuarantineVerdict {
    bool is_bad{};
    std::int64_t failures{};
    std::int64_t attempts{};
    std::string reason; ///< "8 of 9 attempts failed within 10 min", for people
};

/// Of one center. @param types_that_succeed_elsewhere  job types with a success at another center in the window.
QuarantineVerdict judge_center(std::span<const EndedAttempt> attempts,
                               const std::vector<std::string>& types_that_succeed_elsewhere, const QuarantineRule& rule,
                               Timestamp now);

/// A unit type whose jobs go otherwise than they did.
struct Drift {
    std::string unit_type; ///< id
    double ratio{};        ///< actual / predicted of late against before
    std::int64_t job_count{};
    std::string reason; ///< for people
};

/// A run with its moment, for drift.
struct TimedResidual {
    RunResidual residual;
    Timestamp ended_at{};
};

/// Unit types whose newest jobs since their last measurement (at least `least_jobs`) ran longer or shorter than
/// predicted by more than `threshold` times, with a probability of chance below 1 %: they are to be measured again. The
/// common error of each job type is taken away as in judge_trust().
/// @param measured_at  when each unit type was last measured.
std::vector<Drift> find_drift(std::span<const TimedResidual> residuals,
                              const std::map<std::string, Timestamp>& measured_at, std::int64_t least_jobs = 5,
                              double threshold = 1.1);

} // namespace fathom
