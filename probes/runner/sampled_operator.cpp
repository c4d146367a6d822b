#include "probes/runner/sampled_operator.hpp"

#include "probes/operators/projection.hpp"
#include "probes/runner/seconds_since.hpp"
#include "probes/upload/plausible_rate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <malloc.h>
#include <utility>

namespace fathom::probes {
namespace {

constexpr std::int64_t kMaxExecutions = 1'000'000'000;
constexpr std::int64_t kMaxFlowRuns = 64;
constexpr double kMinSeconds = 1e-9; ///< the clock's step: no sample is shorter
constexpr double kLargestError = 1e300;
constexpr std::size_t kMaxProjectedBytes = 256UL << 20U; ///< as numbers they take up to four times as much
/// Of the time that samples take, what changing instances may take.
constexpr double kRenewingShare = 0.5;

std::int64_t executions_for(double seconds, double each_s)
{
    const double wanted = std::ceil(seconds / std::max(each_s, kMinSeconds));
    return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(kMaxExecutions)));
}

} // namespace

SampledOperator::SampledOperator(RegisteredOperator registered, OperatorUse use, int threads, DisturbanceWatch* watch)
    : registered_(std::move(registered)), threads_(threads), use_(std::move(use)), watch_(watch),
      operator_(registered_.make(use_.parameters, threads))
{
}

Error SampledOperator::named(const Error& error) const
{
    return Error{error.code, name() + ": " + error.detail};
}

Result<void> SampledOperator::start(std::uint64_t seed, const SampleRule& rule)
{
    rule_ = rule;
    seed_ = seed;
    const auto begin = std::chrono::steady_clock::now();
    if (Result<void> prepared = operator_->prepare(seed); !prepared) return named(prepared.error());
    prepare_s_ = seconds_since(begin);
    return learn_times();
}

void SampledOperator::change_instances()
{
    changes_instances_ = use_.inputs.empty() && !registered_.manifest.is_uploaded();
}

Result<void> SampledOperator::renew()
{
    const auto start = std::chrono::steady_clock::now();
    std::unique_ptr<ProbeOperator> fresh = registered_.make(use_.parameters, threads_);
    if (Result<void> prepared = fresh->prepare(seed_); !prepared) return named(prepared.error());
    if (Result<void> touched = fresh->execute_times(1); !touched) return named(touched.error());
    operator_ = std::move(fresh);
    malloc_trim(0); // else the next one would get the pages of the one that has just ended
    prepare_s_ = seconds_since(start);
    renewing_s_ += prepare_s_;
    return {};
}

Result<void> SampledOperator::learn_times()
{
    const Result<double> first = time_executions(1);
    const Result<double> second = first ? time_executions(1) : first;
    if (!second) return second.error();
    first_s_ = *first;
    estimate_s_ = *second;
    if (estimate_s_ < rule_.min_sample_s / 8) { // one execution is too short to judge by
        const std::int64_t several = executions_for(rule_.min_sample_s / 8, estimate_s_);
        const Result<double> together = time_executions(several);
        if (!together) return together.error();
        estimate_s_ = *together / static_cast<double>(several);
    }
    executions_ = executions_for(rule_.min_sample_s, estimate_s_);
    if (use_.count > executions_ && static_cast<double>(use_.count) * estimate_s_ <= rule_.count_budget_s)
        executions_ = use_.count;
    return {};
}

Result<void> SampledOperator::add_values(ProbeOperator& from, MeanOfResults& mean) const
{
    const std::vector<double> values = from.values();
    if (values.empty()) return Error{Errc::kUnavailable, name() + ": its result is of no use to other operators"};
    mean.add(values);
    return {};
}

Result<std::vector<double>> SampledOperator::mean_values(std::uint64_t seed)
{
    MeanOfResults mean;
    if (Result<void> executed = operator_->execute_times(1); !executed) return named(executed.error());
    if (Result<void> added = add_values(*operator_, mean); !added) return added.error();
    const std::int64_t runs = use_.inputs.empty() ? std::min(use_.count, kMaxFlowRuns) : 1;
    for (std::int64_t run = 1; run < runs; ++run) {
        // Another instance, not another prepare: plans and memory of the measured one stay as they are.
        const std::unique_ptr<ProbeOperator> other = registered_.make(use_.parameters, threads_);
        if (Result<void> prepared = other->prepare(flow_seed(seed, run)); !prepared) return named(prepared.error());
        if (Result<void> executed = other->execute_times(1); !executed) return named(executed.error());
        if (Result<void> added = add_values(*other, mean); !added) return added.error();
    }
    return mean.mean();
}

Result<void> SampledOperator::feed(std::size_t index, std::span<const double> values)
{
    if (Result<void> fed = operator_->feed(index, values); !fed) return named(fed.error());
    return {};
}

Result<double> SampledOperator::sample()
{
    if (changes_instances_ && renewing_s_ + prepare_s_ <= kRenewingShare * sampling_s_) {
        if (Result<void> renewed = renew(); !renewed) return renewed.error();
    }
    const auto start = std::chrono::steady_clock::now();
    if (rule_.warm_up_each) {
        if (Result<void> warm = operator_->execute_times(1); !warm) return named(warm.error());
    }
    if (watch_ != nullptr) watch_->begin_sample();
    std::int64_t done = executions_;
    Result<double> elapsed_s = time_executions(done);
    while (elapsed_s && *elapsed_s < rule_.min_sample_s && done < kMaxExecutions) { // the estimate was too high
        const std::int64_t more =
            executions_for(rule_.min_sample_s - *elapsed_s, *elapsed_s / static_cast<double>(done));
        const Result<double> added_s = time_executions(more);
        elapsed_s = added_s ? Result<double>(*elapsed_s + *added_s) : added_s;
        done += more;
    }
    if (!elapsed_s) return elapsed_s.error();
    if (watch_ != nullptr) evidence_.push_back(watch_->end_sample());
    samples_s_.push_back(std::max(*elapsed_s / static_cast<double>(done), kMinSeconds));
    sample_executions_.push_back(done);
    sampling_s_ += seconds_since(start);
    return samples_s_.back();
}

double SampledOperator::expected_sample_s() const
{
    return estimate_s_ * static_cast<double>(executions_ + (rule_.warm_up_each ? 1 : 0));
}

SampledTimes SampledOperator::times() const
{
    const SampleStatistics statistics = this->statistics();
    return {.samples_s = samples_s_,
            .executions = sample_executions_,
            .median_s = statistics.median,
            .ci_low_s = statistics.ci_low,
            .ci_high_s = statistics.ci_high};
}

SampledTimes SampledOperator::set_samples_apart()
{
    const SampleStatistics statistics = summarize(samples_s_, {});
    evidence_.clear();
    return {.samples_s = std::exchange(samples_s_, {}),
            .executions = std::exchange(sample_executions_, {}),
            .median_s = statistics.median,
            .ci_low_s = statistics.ci_low,
            .ci_high_s = statistics.ci_high};
}

bool SampledOperator::is_within(double target) const
{
    const SampleStatistics now = statistics();
    return now.counted >= kMinForInterval && (now.ci_high - now.ci_low) / 2 <= target * now.median;
}

std::vector<DisturbedSample> SampledOperator::disturbed() const
{
    std::vector<double> clocks_hz;
    for (const SampleEvidence& evidence : evidence_)
        clocks_hz.push_back(evidence.clock_hz);
    const std::vector<std::size_t> other_clock = samples_at_another_clock(clocks_hz);

    std::vector<DisturbedSample> disturbed;
    for (std::size_t i = 0; i < evidence_.size(); ++i) {
        DisturbedSample one{static_cast<std::int64_t>(i), evidence_[i].causes};
        const std::vector<std::string>& around = watch_->causes_of_stretch(evidence_[i].stretch);
        one.causes.insert(one.causes.end(), around.begin(), around.end());
        const bool has_step = std::find(one.causes.begin(), one.causes.end(), "clock") != one.causes.end();
        if (!has_step && std::binary_search(other_clock.begin(), other_clock.end(), i))
            one.causes.emplace_back("clock");
        if (!one.causes.empty()) disturbed.push_back(std::move(one));
    }
    return disturbed;
}

Result<OperatorResult> SampledOperator::result()
{
    const OperatorManifest& manifest = registered_.manifest;
    const SampleStatistics statistics = this->statistics();
    OperatorResult result;
    result.id = use_.id;
    result.version = manifest.version;
    result.parameters = use_.parameters;
    result.count = use_.count;
    result.label = use_.label;
    result.first_s = first_s_;
    result.samples_s = samples_s_;
    result.executions = sample_executions_;
    result.disturbed = disturbed();
    result.outliers = statistics.outliers;
    result.median_s = statistics.median;
    result.ci_low_s = statistics.ci_low;
    result.ci_high_s = statistics.ci_high;
    result.spread = statistics.spread;
    // The manifest's formulas were evaluated at the ends of all ranges when it was read.
    result.operations = evaluate_formula(manifest.operation_count, use_.parameters).value();
    result.bytes = evaluate_formula(manifest.byte_count, use_.parameters).value();
    if (Result<void> honest = check_honesty(result); !honest) return named(honest.error());
    const double error = operator_->error();
    // JSON has no NaN or infinity; a result that is not a number is as wrong as can be.
    result.error = std::isfinite(error) ? std::min(error, kLargestError) : kLargestError;
    result.tolerance = manifest.tolerance;
    result.precision = manifest.precision;
    result.library = operator_->library();
    result.checksum = operator_->checksum();
    result.figures = operator_->figures();
    if (operator_->output().size() <= kMaxProjectedBytes) result.projection = project(operator_->values(), seed_);
    return result;
}

Result<void> SampledOperator::check_honesty(const OperatorResult& result)
{
    if (Result<void> verified = operator_->verify(); !verified) return verified;
    if (!registered_.manifest.is_uploaded()) return {};
    return check_rate(registered_.manifest, result.operations, result.bytes, result.median_s, threads_);
}

ProcessTimes SampledOperator::times_now() const
{
    ProcessTimes times = process_tree_times();
    // /proc brings a running thread up to date every few milliseconds only; this clock is exact, but of one process.
    timespec own{};
    if (!registered_.manifest.is_uploaded() && clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) == 0)
        times.used_s = static_cast<double>(own.tv_sec) + static_cast<double>(own.tv_nsec) * 1e-9;
    return times;
}

Result<double> SampledOperator::time_executions(std::int64_t executions)
{
    const bool has_quota = rule_.quota_cores > 0;
    const ProcessTimes before = has_quota ? times_now() : ProcessTimes{};
    const auto start = std::chrono::steady_clock::now();
    const Result<void> executed = operator_->execute_times(executions);
    const auto end = std::chrono::steady_clock::now();
    if (!executed) return named(executed.error());
    const double elapsed_s = std::chrono::duration<double>(end - start).count();
    if (const std::optional<double> own_s = operator_->timed_s()) return std::min(*own_s, elapsed_s);
    if (!has_quota) return elapsed_s;
    const ProcessTimes after = times_now();
    const double granted_s = (after.used_s - before.used_s) / rule_.quota_cores;
    return std::max(granted_s, elapsed_s - std::max(0.0, after.waited_s - before.waited_s));
}

} // namespace fathom::probes
