#pragma once

#include "core/decide/statistics/sample_statistics.hpp"
#include "core/model/probe_result.hpp"
#include "probes/operators/data_flow.hpp"
#include "probes/operators/registry.hpp"
#include "probes/runner/disturbance_watch.hpp"
#include "probes/runner/process_times.hpp"

#include <memory>
#include <vector>

namespace fathom::probes {

/// How long samples are.
struct SampleRule {
    double min_sample_s{0.02}; ///< a sample executes its operator until at least this long
    double count_budget_s{0};  ///< a sample executes the task's whole count if that takes no longer
    bool warm_up_each{};       ///< true: one execution before each sample is not timed
    double quota_cores{0};     ///< processor time that a control group grants, in cores; 0: as much as there is
};

/// The seed of the inputs of run `run` of an operator that feeds others; run 0 has `seed` itself.
constexpr std::uint64_t flow_seed(std::uint64_t seed, std::int64_t run)
{
    return seed + 7919 * static_cast<std::uint64_t>(run);
}

/// One operator of a task: executed first apart, then in samples.
/// Not thread-safe.
class SampledOperator {
  public:
    /// `use` must be complete (validate_task).
    /// @param watch  sees what disturbs the samples; nullptr: nobody looks. Must outlive this.
    SampledOperator(RegisteredOperator registered, OperatorUse use, int threads, DisturbanceWatch* watch = nullptr);

    /// Makes inputs and plans; then the first execution, whose time is kept apart, and a few more to
    /// learn how many a sample needs.
    Result<void> start(std::uint64_t seed, const SampleRule& rule);

    /// The mean of the results of its `count` executions, each on other inputs (M5); at most 64 are run, and
    /// one where the inputs come from other operators and are the same each time. After start.
    /// @error kUnavailable  its result is of no use to others, or its library refuses it.
    Result<std::vector<double>> mean_values(std::uint64_t seed);

    /// Makes it compute on others' results from now on. After start.
    Result<void> feed(std::size_t index, std::span<const double> values);

    /// From now on samples come from changing instances, each with memory of its own: caches serve one place in memory
    /// better than another, by up to a tenth, and a job gets any. As often as that takes at most half as long as the
    /// samples do. Not for operators whose inputs come from others, or whose code was uploaded. After start.
    void change_instances();
    /// No more, from now on.
    void keep_instance() { changes_instances_ = false; }

    /// Takes one sample and keeps it: seconds per execution.
    /// @error kForbidden  an uploaded operator misbehaved.
    Result<double> sample();

    /// Seconds that one sample will take, by what was seen so far.
    double expected_sample_s() const;

    /// What its samples say. At least one must have been taken.
    SampledTimes times() const;
    /// What the samples so far say, whatever disturbed them; its result will be of those that follow. At least one must
    /// have been taken, and another must follow.
    SampledTimes set_samples_apart();

    std::int64_t sample_count() const { return static_cast<std::int64_t>(samples_s_.size()); }

    /// Whether half the width of the median's 95 % interval is at most `target` of the median; no with fewer samples
    /// than such an interval needs. After a sample.
    bool is_within(double target) const;

    /// Statistics, error and checksum. At least one sample must have been taken.
    /// @error kForbidden  an uploaded operator misbehaved, or claims what cannot be.
    Result<OperatorResult> result();

    /// `dgemm(k=…,m=…,n=…)`
    std::string name() const { return operator_key(use_.id, use_.parameters); }

  private:
    /// Makes another instance and then ends the old one, so that it gets other memory.
    Result<void> renew();
    /// Seconds for `executions` in a row. Under a quota a sample is shorter than the stretches in which the kernel
    /// lets a group run and stand, and sees either all or nothing of them: its time is then that in which the quota
    /// grants the processor time used, or, if longer, the time that it ran or waited for something else.
    Result<double> time_executions(std::int64_t executions);
    ProcessTimes times_now() const;
    /// The times of the first executions; how many a sample needs.
    Result<void> learn_times();
    /// The samples during which something else took the processor or the clock.
    std::vector<DisturbedSample> disturbed() const;
    SampleStatistics statistics() const { return summarize(samples_s_, disturbed()); }
    /// Whether a result may be believed: built-in operators are, uploaded ones are put to the test.
    Result<void> check_honesty(const OperatorResult& result);
    /// The error with this operator's name.
    Error named(const Error& error) const;

    Result<void> add_values(ProbeOperator& from, MeanOfResults& mean) const;

    RegisteredOperator registered_;
    int threads_;
    OperatorUse use_;
    DisturbanceWatch* watch_;
    std::unique_ptr<ProbeOperator> operator_;
    SampleRule rule_;
    std::uint64_t seed_{};
    std::int64_t executions_{1}; ///< of one sample
    double estimate_s_{};        ///< of one execution
    double first_s_{};
    bool changes_instances_{};
    double prepare_s_{};  ///< what making an instance takes
    double renewing_s_{}; ///< spent so far
    double sampling_s_{}; ///< spent so far
    std::vector<double> samples_s_;
    std::vector<std::int64_t> sample_executions_;
    std::vector<SampleEvidence> evidence_; ///< of each sample; empty when nobody looked
};

} // namespace fathom::probes
