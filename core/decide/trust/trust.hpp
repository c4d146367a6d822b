#pragma once

#include "core/base/json_reader.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

/// Whether a unit type does for jobs what it does for probes (design: "Trust").
namespace fathom {

/// A job that has run: what the probes of its unit type let expect, and what it took.
struct RunResidual {
    std::string unit_type; ///< id
    std::string job_type;
    double predicted_s{};
    double actual_s{};
};

/// A result of a unit type that cannot have come about honestly, and that no expert has dismissed.
struct TrustFinding {
    std::string unit_type;      ///< id
    std::int64_t right_since{}; ///< its results that the metascheduler has computed since, and found right
};

/// How far a unit type's probes can be believed.
struct Trust {
    std::int64_t job_count{}; ///< jobs that say something (judge_trust)
    double slowdown{1};       ///< jobs take so many times longer than its probes let expect, against the others
    double low{1};            ///< 80 % interval of the slowdown
    double high{1};
    std::int64_t finding_count{};
    double finding_factor{1}; ///< what the findings leave
    double factor{1};         ///< 0..1: scores are multiplied by it; 1 until there is evidence
};

/// The trust in every unit type that a residual names.
///
/// A job type's predictions may be wrong everywhere alike (its start-up, what no operator covers): that says
/// nothing about one center. So ln(actual / predicted) is compared with the median of the job type over the
/// medians of its unit types. A type that only one unit type has run cannot be compared; there only what no error of
/// prediction explains counts: of at least four jobs, when their median ln((actual − 2 s) / predicted) is above ln 3,
/// each counts with its excess over ln 3. The mean of what remains is
/// shrunk towards 0 as if eight jobs had gone exactly as expected, so that one odd job condemns nobody; what jobs leave
/// is 1 / slowdown, but only from the interval's lower end on: what may be chance costs nothing, and being faster than
/// expected gains nothing.
///
/// Each finding halves the factor; with every eight results that were verified right since, its exponent halves:
/// 2^−(2^−(right / 8)).
/// Jobs with times that are not positive are left out. Order does not matter.
std::map<std::string, Trust> judge_trust(std::span<const RunResidual> residuals,
                                         std::span<const TrustFinding> findings = {});

Json to_json(const Trust& trust);

} // namespace fathom
