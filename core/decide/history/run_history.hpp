#pragma once

#include "core/base/clock.hpp"
#include "core/decide/prediction/predict_units.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What jobs that have run teach about those that come.
namespace fathom {

struct KnownRun;

/// Of whose runs a prediction is made. Views: what they point at must outlive it.
struct RunOwner {
    std::string_view owner{};   ///< who submits; empty: nobody in particular, so that all runs teach
    std::string_view project{}; ///< whose runs of a type stand in where the owner has none; empty: none do
};

/// A job that has run.
struct PastRun {
    std::string owner{};   ///< who submitted it
    std::string project{}; ///< that it was of
    std::string job_type;
    std::string unit_type; ///< id
    std::int64_t unit_count{1};
    /// What its measurements alone let expect, on unit_count units, with the limits of the 80 % interval; of a known
    /// run as its place had taken it until then (RunHistory::known_run_factor()). 0: nothing was.
    double raw_s{};
    double raw_low_s{};
    double raw_high_s{};
    RawBasis basis{RawBasis::kOperators}; ///< of the raw prediction
    /// In raw_s: what others on its host and its GPU were expected to make of it, over the run alone; 1: not known.
    double slowdown{1};
    /// What was predicted for it in the end, corrected, with its interval: what calibration is judged by. 0: nothing
    /// was.
    double predicted_s{};
    double low_s{};
    double high_s{};
    double width_factor{1}; ///< RunCorrection::width_factor that this interval was made with
    double actual_s{};
    Timestamp ended_at{};
    Timestamp decided_at{}; ///< when it was predicted; the epoch: not known
    double asked_s{};       ///< how long its user had said that it runs at most; 0: not said
    bool is_cut_off{};      ///< ended at that limit: nothing but how much is asked for is learned from it
};

/// How a raw prediction becomes a prediction: run = raw prediction × factor, and its logarithm is off by `deviation`
/// beside what the measurements themselves are unsure of.
struct RunCorrection {
    double factor = 1;
    double deviation = 0;      ///< of ln(actual / (raw prediction × factor)); never 0 once anything is known
    double raw_share = 1;      ///< of the deviation of the raw prediction: the rest is known from runs
    double own_share = 0;      ///< 0..1: how much the runs of this job type on this unit type weigh in it
    std::int64_t job_count{};  ///< runs of this job type on this unit type
    std::int64_t like_count{}; ///< other runs that it leans on
    bool knows_type = false;   ///< there are runs of the job type, wherever, that tell what raw predictions leave out
    double width_factor = 1;   ///< RungCalibration::width_factor() there: what corrected() is to be given
    /// RawPrediction::known_factor, which is in `factor`; where the known run ran, by what its runs there say.
    double known_factor = 1;
};

/// A raw prediction that is to be corrected.
struct RawPrediction {
    RawBasis basis{RawBasis::kOperators};
    /// The job itself says what it executes: other runs of its type may have done other work, and only how far they
    /// were from their raw predictions tells anything.
    bool is_of_own_work = true;
    const DividedRun* run = nullptr; ///< alone, by count of units; needed unless is_of_own_work
    double known_factor = 1;         ///< RunHistory::known_run_factor(), where it was made of a known run
    /// It is that known run itself, where it ran: what the type takes there its runs there tell, and known_factor,
    /// which is told by the same runs, is no further reason to believe it.
    bool is_known_run = false;
};

/// The run time of a job of which no operator is known, from its type's runs and the time asked for.
struct RunEstimate {
    RunTime time;
    /// "4 runs of its type there", "runs of its type elsewhere", "runs of 12 other types", "37 % of the time asked for
    /// (118 runs of project P)", or two of these; for people.
    std::string basis;
    std::int64_t job_count{};
};

/// What a history says of one job type on one unit type.
struct RunAnswer {
    std::string job_type;
    std::string unit_type; ///< id
    RunCorrection correction;
    std::optional<RunEstimate> estimate;
};

/// How often actual run times fell into the interval that was predicted.
struct Calibration {
    std::int64_t job_count{};
    double within_share{}; ///< of jobs inside their 80 % interval; 0.8 is perfect
    double below_share{};  ///< faster than it
    double above_share{};  ///< slower
    double median_ratio{}; ///< actual / predicted
    double median_error{}; ///< median of |actual / predicted − 1|
    /// What half the width of these intervals is to be multiplied by, so that they hold 80 %. Further intervals take
    /// that of what they rest on (RungCalibration).
    double width_factor{1};
};

class AskedTimes;
struct AskedShare;
struct RunCalibrations;

/// What the time that a job's user asks for lets expect of it, wherever it runs.
struct AskedTime {
    double asked_s{};
    std::shared_ptr<const AskedShare> share; ///< of it that is used
};

/// Learned from past runs; immutable, so any thread may read it.
///
/// The upper rungs of the ladder of predictions: what runs of a job's type say on top of the raw prediction.
/// Every rung counts by its variance. A raw prediction is off by an error common to all of its basis, one of the job
/// type, one of the unit type and one of the job type on this unit type (RunLevels); how large these usually are, per
/// basis, says how much a run elsewhere tells of it: much of what named operators do not cover, next to nothing of how
/// a known run is carried over. On top of that come the runs of the type on this unit type: for a job that says what it
/// executes by how far they were from their raw predictions; for one that does what its type does by the times that
/// they took (RecentRuns). With errors of raw predictions of 0.1 to 0.2 and runs that differ by 0.05 the first of them
/// counts 0.8 to 0.94. Without any run the factor is 1.
///
/// Names of job types are anybody's to use, so each owner's runs make a model of their own: nothing that others run
/// changes what it says. A type that the owner never ran starts from the model of its project, where that knows the
/// type; what neither knows is asked of the owner's, the project's, or else of the model of all runs.
///
/// How much of the time that is asked for jobs use is people's habit, not a type's: there others' runs count as far as
/// the owner's own are few (AskedTimes).
class RunHistory {
  public:
    RunHistory() = default;
    /// Runs in any order; those whose times are not positive and finite are left out.
    RunHistory(std::span<const PastRun> runs, Timestamp now);

    /// A history that gives these answers, and none else: for a decision that is made again.
    static RunHistory from(std::span<const RunAnswer> answers);

    RunCorrection correction(std::string_view job_type, std::string_view unit_type, RunOwner owner = {},
                             const RawPrediction& raw = {}) const;
    /// What jobs of the type take where their known run was made, over what that run took, as far as the runs there
    /// tell; 1 where they do not. Wherever a known run is carried to, its own error comes along: it may have been a
    /// first run, which read its files from disks, or one on a busy day.
    double known_run_factor(std::string_view job_type, RunOwner owner, const KnownRun& known) const;
    /// No correction() of such a raw prediction for the job type has a smaller factor, on whatever unit type; of raw
    /// predictions that are not of the job's own work: on those without runs of the type.
    double least_factor(std::string_view job_type, RunOwner owner = {}, const RawPrediction& raw = {}) const;
    /// Ids of the unit types of which times of runs of the type are known to this owner. They live as long as it does.
    std::vector<std::string_view> unit_types_with_runs(std::string_view job_type, RunOwner owner = {}) const;
    /// For a job without known operators: from the runs of its type there, else of its type elsewhere carried over by
    /// how other types' times compare between the unit types, else of all types as a class; and from the time that its
    /// user asks for, each by its variance. Empty: nothing has ever run.
    /// @param asked  of asked_time(), for this job type and owner.
    std::optional<RunEstimate> estimate(std::string_view job_type, std::string_view unit_type, RunOwner owner = {},
                                        const AskedTime& asked = {}) const;
    /// What jobs of the type and owner use of the time that is asked for. Without a share where nothing was asked for
    /// or nothing is known.
    AskedTime asked_time(std::string_view job_type, RunOwner owner, double asked_s) const;
    /// Of all runs with a prediction; per unit type below.
    const Calibration& calibration() const { return calibration_; }
    const std::map<std::string, Calibration, std::less<>>& by_unit_type() const { return by_unit_type_; }
    const std::map<std::string, Calibration, std::less<>>& by_job_type() const { return by_job_type_; }

    /// What it was learned from, and when: of the same comes the same history again. Of one that was rebuilt from
    /// answers none.
    std::span<const PastRun> runs() const
    {
        return runs_ ? std::span<const PastRun>(*runs_) : std::span<const PastRun>();
    }
    Timestamp learned_at() const { return learned_at_; }

  private:
    struct Model;
    using Models = std::map<std::string, std::shared_ptr<const Model>, std::less<>>;
    static std::shared_ptr<const Model> make_model(std::span<const PastRun> runs, Timestamp now,
                                                   const RunCalibrations& calibrations);
    const Model* find_model(std::string_view job_type, RunOwner owner) const;

    std::shared_ptr<const Model> model_; ///< of all runs
    std::shared_ptr<const AskedTimes> asked_times_;
    Models by_owner_;
    Models by_project_;
    Calibration calibration_;
    std::map<std::string, Calibration, std::less<>> by_unit_type_;
    std::map<std::string, Calibration, std::less<>> by_job_type_;
    std::shared_ptr<const std::vector<PastRun>> runs_;
    Timestamp learned_at_{};
};

/// The raw prediction with the correction: run time and interval. The interval's half width, on the log scale, is
/// width_factor × 1.28 × hypot(raw_share × deviation of the raw prediction, deviation of the correction).
RunTime corrected(const RunTime& raw, const RunCorrection& correction, double width_factor);
/// The same of a run beside neighbours. What these make of it no run of its type tells, so the interval is as much
/// wider than that of the run alone as theirs makes the raw prediction's.
/// @param alone  the raw prediction of the run without them.
RunTime corrected_beside(const RunTime& alone, const RunTime& raw, const RunCorrection& correction,
                         double width_factor);

Json to_json(const Calibration& calibration);

} // namespace fathom
