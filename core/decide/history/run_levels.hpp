#pragma once

#include "core/decide/history/run_history.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace fathom {

/// The corrections of RunHistory. With r = ln(actual / raw prediction) of a run and w its weight (recency()):
///
/// 1. Where a (job type, unit type) stands is first told by medians, which a wild run does not move. Runs farther from
///    there than three deviations, of runs and of what is not known yet, count as if they were so far (winsorized: a
///    run that is ten times slower still says "slower", and one rule serves one run as well as a hundred; weights that
///    fall with the distance would silence a unit type whose jobs are all slow).
/// 2. Bottom up, by variances. With W = Σ w of a (t, u), σ² from run to run, τ_u² and τ_t² of unit types of a type and
///    of types: the mean y_tu = Σ w r / W counts c = τ_u² / (τ_u² + σ² / W); the job type's mean y_t = Σ c y_tu / Σ c
///    counts f = τ_t² / (τ_t² + τ_u² / Σ c); m = Σ f y_t / (Σ f + τ_t² / τ_m²).
/// 3. Top down: A_t = m + f (y_t − m).
/// 4. What raw predictions are off by on a unit type whatever the job type, because its probes came at a bad moment,
/// say, is
///    told by all types that ran there: M_u is the median of their y_tu − A_t, each counting c, and of a 0 that counts
///    two; U_u = M_u · τ_U² / (τ_U² + s² / Σ c), with s how far the types are from M_u. So one type or two say nothing
///    of others, and many that agree do.
/// 5. B_tu = A_t + U_u + c (y_tu − A_t − U_u): the factor is exp(B_tu), that of a unit type that never ran the job type
///    exp(A_t + U_u), that of an unknown job type exp(m + U_u).
/// 6. The deviation is the root of the variance from run to run in excess of what raw predictions admit, and that of
/// the
///    level: how much levels differ, as far as its own runs do not tell.
///
/// σ, τ_u, τ_t are told by the runs, held towards what is usual for the basis of the raw predictions (LevelPriors).
///
/// Immutable.
class RunLevels {
  public:
    RunLevels() = default;
    /// Of the runs whose raw predictions have this basis.
    RunLevels(std::span<const PastRun> runs, Timestamp now, RawBasis basis = RawBasis::kOperators);

    /// Without width factor. Of a default one: {}.
    RunCorrection find(std::string_view job_type, std::string_view unit_type) const;
    /// As if none of its runs had been on the unit type.
    RunCorrection elsewhere(std::string_view job_type, std::string_view unit_type) const;
    /// No elsewhere() of the job type has a smaller factor.
    double least_elsewhere(std::string_view job_type) const;
    /// No find() of the job type has a smaller factor.
    double least_factor(std::string_view job_type) const;

    /// What is known of a job type on a unit type from its runs elsewhere, and from other types there.
    struct Level {
        double log_factor{};
        double variance{}; ///< of the raw prediction's error there around it, without the noise of runs
        std::int64_t run_count{};
    };
    /// @param unit_type  empty: of the job type alone, wherever it runs.
    Level level(std::string_view job_type, std::string_view unit_type = {}) const;

  private:
    struct Type {
        RunCorrection elsewhere;
        Level level;
        std::map<std::string, RunCorrection, std::less<>> by_unit_type;
    };
    /// U_u.
    struct UnitError {
        double log_factor = 0;
        double factor = 1;
    };
    UnitError error_of(std::string_view unit_type) const;

    std::map<std::string, Type, std::less<>> types_;
    std::map<std::string, UnitError, std::less<>> unit_errors_;
    double least_unit_factor_ = 1;
    RunCorrection other_;
    Level other_level_;
};

/// How far raw predictions of a basis usually are off, as deviations of ln(actual / raw prediction).
struct LevelPriors {
    double noise;            ///< from run to run
    double unit_type;        ///< of a job type on one unit type from the type's own error
    double job_type;         ///< of a job type from the error that is common to all
    double all;              ///< of that
    double all_on_unit_type; ///< of the error on one unit type that is common to all job types
};
/// Sums of operators: what a program does beside them is unknown before its first run; between a third and twice the
/// sum are within one deviation. Known runs: they have all of the program, so that a type's error is that of one run;
/// on other units two probes differ by 5 % each from sending to sending, and programs from their probes as much again.
/// What all operators of one sending have in common is no more than that.
LevelPriors priors_of(RawBasis basis);

/// As how many runs counts what is known of noise from elsewhere.
inline constexpr double kPriorJobs = 4;

} // namespace fathom
