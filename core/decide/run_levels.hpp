#pragma once

#include "core/decide/run_history.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace fathom {

/// The corrections of RunHistory. With r = ln(actual / promised) of a run and w its weight (recency()):
///
/// 1. Where a (job type, unit type) stands is first told by medians, which a wild run does not move. Runs farther from
///    there than three deviations, of runs and of what is not known yet, count as if they were so far (winsorized: a
///    run that is ten times slower still says "slower", and one rule serves one run as well as a hundred; weights that
///    fall with the distance would silence a unit type whose jobs are all slow).
/// 2. Bottom up, with W = Σ w of a (t, u): its mean y_tu = Σ w r / W counts c = W / (W + kPriorJobs) of a unit type;
/// the
///    job type's mean y_t = Σ c y_tu / Σ c counts f = Σ c / (Σ c + 1) of a job type; m = Σ f y_t / (Σ f + 1).
/// 3. Top down: A_t = m + f (y_t − m), and B_tu = A_t + c (y_tu − A_t): the factor is exp(B_tu), that of a unit type
///    that never ran the job type exp(A_t), that of an unknown job type exp(m).
/// 4. The deviation is the root of the variance from run to run in excess of what promises admit, and that of the
///    level: how much levels differ, as far as its own runs do not tell.
///
/// Immutable.
class RunLevels {
  public:
    RunLevels() = default;
    RunLevels(std::span<const PastRun> runs, Timestamp now);

    /// Without width factor. Of nothing nothing: {}.
    RunCorrection find(std::string_view job_type, std::string_view unit_type) const;
    /// The smallest factor that find() gives for the job type.
    double least_factor(std::string_view job_type) const;

  private:
    struct Type {
        RunCorrection elsewhere;
        std::map<std::string, RunCorrection, std::less<>> by_unit_type;
    };
    std::map<std::string, Type, std::less<>> types_;
    RunCorrection other_;
};

inline constexpr double kPriorJobs = 4;

} // namespace fathom
