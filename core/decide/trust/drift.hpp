#pragma once

#include "core/base/clock.hpp"
#include "core/decide/trust/trust.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

/// Whether unit types still run as they did (self-correction).
namespace fathom {

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
