#include "probes/runner/run_task.hpp"

#include "probes/operators/registry.hpp"
#include "probes/runner/memory_pressure.hpp"
#include "probes/runner/one_thread.hpp"
#include "probes/runner/resources.hpp"
#include "probes/runner/sampled_operator.hpp"
#include "probes/runner/seconds_since.hpp"
#include "probes/runner/task_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace fathom::probes {
namespace {

/// The share of the limit that longer samples may use, when a task asks for counts above what
/// min_sample_s needs.
constexpr double kCountShare = 0.25;
/// The share of the limit after which no sample beyond `repeats` is begun: results have to be verified, too, and how
/// long that takes shows only then.
constexpr double kExtraShare = 0.6;
/// The same of samples with one thread, which say more than further ones with all.
constexpr double kOneThreadShare = 0.75;
/// Of one operator and of all together. More say nothing new, and every one is kept.
constexpr std::int64_t kMaxSamplesEach = 1000;
constexpr std::int64_t kMaxSamples = 20'000;
/// With one thread, so that as many operators as possible can be measured.
constexpr std::int64_t kMaxSamplesWithOneThread = 4;
/// Of each time that is measured in turn with bubbles: what they cost is far more than two sendings differ by.
constexpr std::int64_t kMaxPressureSamples = 5;
/// Preparing a bubble and timing the reporter, on a slow machine. Less time than that is left for the task itself.
constexpr double kReporter_s = 2;
/// How much longer than alone a sample in step is taken to last, and how few rounds still tell it.
constexpr double kSlowdownInStep = 1.5;
constexpr std::int64_t kMinRoundsOfCopies = 3;
/// A task is given up early only when it is far from its limit; near it, the limit itself decides.
constexpr double kClearlyOver = 1.25;

/// @param copies  that share what a control group grants.
SampleRule sample_rule(const ProbeTask& task, int cores, int copies)
{
    std::optional<double> quota = cpu_quota_cores();
    if (quota) *quota /= copies;
    const auto samples = static_cast<double>(task.repeats) * static_cast<double>(task.operators.size());
    return {.min_sample_s = task.min_sample_s,
            .count_budget_s = kCountShare * task.limit_s / samples,
            // The operators before it have emptied the caches and, where they use threads, those are
            // still spinning. A job executes an operator many times in a row: that is what is timed.
            .warm_up_each = task.operators.size() > 1,
            .quota_cores = quota && *quota < cores ? *quota : 0};
}

class TaskRun {
  public:
    TaskRun(const ProbeTask& task, const RunConditions& conditions)
        : task_(task), conditions_(conditions),
          seed_(task.seed != 0 ? static_cast<std::uint64_t>(task.seed) : kInputSeed), watch_(conditions.cores),
          rounds_(task.repeats)
    {
    }

    Result<void> start_operators()
    {
        for (const OperatorUse& use : task_.operators) {
            operators_.emplace_back(*operator_for(task_, use, conditions_.uploads), use, conditions_.cores, &watch_);
            tell("preparing " + operators_.back().name());
            if (Result<void> started =
                    operators_.back().start(seed_, sample_rule(task_, conditions_.cores, copy_count()));
                !started)
                return started;
        }
        return {};
    }

    Result<void> feed_operators()
    {
        std::map<std::string, std::vector<double>> means;
        for (const std::size_t i : data_flow_order(task_.operators)) {
            const OperatorUse& use = task_.operators[i];
            if (is_in_flow(use)) tell("feeding " + operators_[i].name());
            for (std::size_t input = 0; input < use.inputs.size(); ++input) {
                const std::vector<double>& values = means.at(use.inputs[input]);
                if (Result<void> fed = operators_[i].feed(input, values); !fed) return fed;
            }
            if (!feeds_others(use)) continue;
            Result<std::vector<double>> mean = operators_[i].mean_values(seed_);
            if (!mean) return mean.error();
            means[use.label] = std::move(*mean);
        }
        return {};
    }

    Result<void> check_limit() const
    {
        const bool are_copies = conditions_.copies != nullptr;
        const double end_s = expected_end_s(are_copies ? std::min(kMinRoundsOfCopies, rounds_) : rounds_);
        if (end_s <= kClearlyOver * task_.limit_s) return {};
        return Error{Errc::kDeadline, fmt::format("took longer than its limit of {:g} s: it would take about {:.1f} s, "
                                                  "by the first executions of its operators",
                                                  task_.limit_s, end_s)};
    }

    /// Where there is time and memory for it.
    void change_instances()
    {
        if (conditions_.copies != nullptr) return; // making another one would keep all copies waiting
        if (expected_end_s(rounds_) > kExtraShare * task_.limit_s) return;
        double largest = 0;
        for (const OperatorUse& use : task_.operators) {
            const RegisteredOperator item = *operator_for(task_, use, conditions_.uploads);
            if (item.device_memory) return; // a device lays its memory out itself
            largest = std::max(largest, item.memory ? item.memory(use.parameters) : 0);
        }
        if (needed_memory(task_, conditions_, &RegisteredOperator::memory) + largest > conditions_.usable_memory_bytes)
            return;
        for (SampledOperator& item : operators_)
            item.change_instances();
    }

    /// Of the first of several copies, while the others stand still.
    Result<void> take_samples_alone()
    {
        alone_.resize(operators_.size());
        if (conditions_.copies == nullptr) return {};
        tell("waiting until all copies are ready");
        conditions_.copies->wait(CopiesInStep::kLongPause);
        agree_on_rounds();
        if (conditions_.copies->is_first()) {
            if (Result<void> sampled = sample_rounds(); !sampled) return sampled;
            for (std::size_t i = 0; i < operators_.size(); ++i)
                alone_[i] = operators_[i].set_samples_apart();
        }
        tell("waiting until the first copy was measured alone");
        conditions_.copies->wait(CopiesInStep::kLongPause);
        return {};
    }

    /// In turn with bubbles, where there are several copies, and as far as there is time and memory for it: the first
    /// copy says how far, and all do the same.
    Result<void> measure_pressure()
    {
        pressure_.resize(operators_.size());
        if (conditions_.copies == nullptr) return {};
        const double held = needed_memory(task_, conditions_, &RegisteredOperator::memory);
        const bool has_room = held + MemoryPressure::memory_bytes() <= conditions_.usable_memory_bytes;
        const double latest_s = kExtraShare * task_.limit_s;
        if (!conditions_.copies->agree(has_room && expected_end_s(rounds_) + kReporter_s <= latest_s)) return {};
        tell("measuring what memory pressure costs");
        MemoryPressure pressure(*conditions_.copies, conditions_.cores, std::min(task_.repeats, kMaxPressureSamples));
        if (Result<void> started = pressure.start(seed_, sample_rule(task_, conditions_.cores, copy_count())); !started)
            return started;
        reporter_ = pressure.reporter();
        // On a host of many cores copies in step may be as slow as bubbles are: these samples go before.
        const double slowdown = pressure.slowdown();
        for (std::size_t i = 0; i < operators_.size(); ++i) {
            SampledOperator& item = operators_[i];
            const double end_s = end_in_step_s(slowdown) + pressure.expected_s(item);
            if (!conditions_.copies->agree(end_s <= latest_s)) return {};
            tell("measuring what memory pressure costs " + item.name() + ", and how much it makes");
            if (Result<void> measured = pressure.measure(item); !measured) return measured;
            pressure_[i] = pressure.take_last();
        }
        return {};
    }

    Result<void> take_samples()
    {
        is_in_step_ = conditions_.copies != nullptr;
        if (Result<void> sampled = sample_rounds(); !sampled) return sampled;
        watch_.end_stretch();
        return {};
    }

    /// Of what programs compute in threads of their own, and as far as there is time and memory for it.
    Result<void> measure_one_thread()
    {
        one_thread_.resize(operators_.size());
        if (conditions_.cores == 1 || conditions_.copies != nullptr) return {};
        const double held = needed_memory(task_, conditions_, &RegisteredOperator::memory);
        const auto factor = static_cast<double>(conditions_.cores);
        for (const std::size_t i : shortest_first()) {
            const OperatorUse& use = task_.operators[i];
            const RegisteredOperator item = *operator_for(task_, use, conditions_.uploads);
            if (!item.has_program_threads || !use.inputs.empty()) continue;
            if (held + item.memory(use.parameters) > conditions_.usable_memory_bytes) continue;
            tell("measuring " + operators_[i].name() + " with one thread");
            Result<std::optional<SampledTimes>> times =
                probes::measure_one_thread(item, use,
                                           {.seed = seed_,
                                            .rule = sample_rule(task_, 1, 1),
                                            .samples = std::min(task_.repeats, kMaxSamplesWithOneThread),
                                            .process_start = conditions_.process_start,
                                            .end_s = kOneThreadShare * task_.limit_s,
                                            .expected_s = factor * operators_[i].expected_sample_s()});
            if (!times) return times.error();
            one_thread_[i] = std::move(*times);
        }
        return {};
    }

    /// Goes on in rounds over the operators whose median is not known well enough, until all are or the budget is
    /// spent. Nothing is sampled after it.
    Result<void> sharpen_medians()
    {
        watch_.end_stretch(); // that without a watched sample
        Result<void> sharpened = add_rounds();
        watch_.end_stretch();
        return sharpened;
    }

    Result<void> collect(ProbeResult& result)
    {
        for (std::size_t i = 0; i < operators_.size(); ++i) {
            SampledOperator& item = operators_[i];
            tell("verifying " + item.name());
            Result<OperatorResult> one = item.result();
            if (!one) return one.error();
            one->is_target_reached = task_.target_interval <= 0 || item.is_within(task_.target_interval);
            one->one_thread = std::move(one_thread_[i]);
            one->alone = std::move(alone_[i]);
            one->pressure = std::move(pressure_[i]);
            result.task_s += static_cast<double>(one->count) * one->median_s;
            result.operators.push_back(std::move(*one));
        }
        result.reporter = std::move(reporter_);
        result.host = {{"disturbance", watch_.totals()}};
        result.clock_step_s = watch_.clock_step_s();
        return {};
    }

  private:
    /// As many as there is time for, alone and in step, by the first copy.
    void agree_on_rounds()
    {
        const auto is_in_time = [&] { return expected_end_s(rounds_) <= kExtraShare * task_.limit_s; };
        while (rounds_ > kMinRoundsOfCopies && !conditions_.copies->agree(is_in_time()))
            --rounds_;
    }

    int copy_count() const { return conditions_.copies != nullptr ? conditions_.copies->count() : 1; }

    Result<void> sample_rounds()
    {
        const double begin_s = seconds_since(conditions_.process_start);
        for (std::int64_t round = 1; round <= rounds_; ++round) {
            keep_instances_when_late(begin_s, round);
            for (SampledOperator& item : operators_) {
                tell(fmt::format("sample {} of {} of {}", round, rounds_, item.name()));
                if (is_in_step_) conditions_.copies->wait(CopiesInStep::kShortPause);
                if (Result<double> sampled = item.sample(); !sampled) return sampled.error();
            }
        }
        return {};
    }

    /// Operators in order of what a sample takes: as many as possible fit into the time that is left.
    std::vector<std::size_t> shortest_first() const
    {
        std::vector<std::size_t> order(operators_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(operators_[a].expected_sample_s(), a) < std::pair(operators_[b].expected_sample_s(), b);
        });
        return order;
    }

    /// Other instances cost time: a machine that has become slow shall still end all rounds.
    void keep_instances_when_late(double begin_s, std::int64_t round)
    {
        if (round == 1) return;
        const double now_s = seconds_since(conditions_.process_start);
        const double round_s = (now_s - begin_s) / static_cast<double>(round - 1);
        if (now_s + round_s * static_cast<double>(rounds_ - round + 1) <= kExtraShare * task_.limit_s) return;
        for (SampledOperator& item : operators_)
            item.keep_instance();
    }

    /// Seconds from the process's start to the end of so many rounds of samples, by the first executions.
    double expected_end_s(std::int64_t rounds) const
    {
        double expected_s = seconds_since(conditions_.process_start);
        const double times = conditions_.copies != nullptr ? 1 + kSlowdownInStep : 1; // alone, and in step
        for (const SampledOperator& item : operators_)
            expected_s += item.expected_sample_s() * times * static_cast<double>(rounds);
        return expected_s;
    }

    /// The same where only the samples in step are still to come, each so many times as long as alone.
    double end_in_step_s(double slowdown) const
    {
        double expected_s = seconds_since(conditions_.process_start);
        for (const SampledOperator& item : operators_)
            expected_s += slowdown * item.expected_sample_s() * static_cast<double>(rounds_);
        return expected_s;
    }

    Result<void> add_rounds()
    {
        if (task_.target_interval <= 0 || conditions_.copies != nullptr) return {};
        const auto begin = std::chrono::steady_clock::now();
        const double budget_s = task_.sample_budget_s > 0 ? task_.sample_budget_s : task_.limit_s / 3;
        const double end_s = std::min(seconds_since(conditions_.process_start) + budget_s, kExtraShare * task_.limit_s);
        auto total = task_.repeats * static_cast<std::int64_t>(operators_.size());
        while (true) {
            const std::vector<SampledOperator*> wide = wide_operators();
            double round_s = 0;
            for (const SampledOperator* const item : wide)
                round_s += item->expected_sample_s();
            total += static_cast<std::int64_t>(wide.size());
            const bool is_spent = seconds_since(conditions_.process_start) + round_s > end_s || total > kMaxSamples;
            if (wide.empty() || is_spent) return {};
            for (SampledOperator* const item : wide) {
                tell(fmt::format("sample {} of {}, {:.1f} s beyond the first {}", item->sample_count() + 1,
                                 item->name(), seconds_since(begin), task_.repeats));
                if (Result<double> sampled = item->sample(); !sampled) return sampled.error();
            }
        }
    }

    std::vector<SampledOperator*> wide_operators()
    {
        std::vector<SampledOperator*> wide;
        for (SampledOperator& item : operators_) {
            if (item.sample_count() < kMaxSamplesEach && !item.is_within(task_.target_interval)) wide.push_back(&item);
        }
        return wide;
    }

    bool feeds_others(const OperatorUse& use) const
    {
        return std::any_of(task_.operators.begin(), task_.operators.end(), [&](const OperatorUse& other) {
            return std::find(other.inputs.begin(), other.inputs.end(), use.label) != other.inputs.end();
        });
    }

    bool is_in_flow(const OperatorUse& use) const { return !use.inputs.empty() || feeds_others(use); }

    void tell(const std::string& what) const
    {
        if (conditions_.progress) conditions_.progress(what);
    }

    const ProbeTask& task_;
    const RunConditions& conditions_;
    std::uint64_t seed_;
    DisturbanceWatch watch_;
    std::int64_t rounds_; ///< of samples: `repeats`, or fewer of copies that have not the time
    std::vector<SampledOperator> operators_;
    std::vector<std::optional<SampledTimes>> one_thread_; ///< of each operator, where it was measured
    std::vector<std::optional<SampledTimes>> alone_;      ///< of each operator of the first of several copies
    std::vector<std::optional<PressureTimes>> pressure_;  ///< of each operator of the first of several copies
    std::optional<ReporterTimes> reporter_;
    bool is_in_step_ = false; ///< from here on samples begin in all copies at once
};

} // namespace

Result<ProbeResult> run_task(const ProbeTask& task, const RunConditions& conditions)
{
    if (Result<void> fits = check_memory(task, conditions); !fits) return fits.error();
    const LibraryThreads threads = limit_library_threads(conditions.cores);
    ProbeResult result;
    result.task = task.name;
    result.runner_version = FATHOM_VERSION;
    result.cores = conditions.cores;
    result.unit_count = conditions.unit_count;
    result.seed = task.seed;
    result.start_up_s = seconds_since(conditions.process_start);

    TaskRun run(task, conditions);
    if (Result<void> started = run.start_operators(); !started) return started.error();
    if (Result<void> fed = run.feed_operators(); !fed) return fed.error();
    if (Result<void> in_time = run.check_limit(); !in_time) return in_time.error();
    run.change_instances();
    if (Result<void> sampled = run.take_samples_alone(); !sampled) return sampled.error();
    if (Result<void> measured = run.measure_pressure(); !measured) return measured.error();
    if (Result<void> sampled = run.take_samples(); !sampled) return sampled.error();
    // First of what needs time that may not be there: a time with one thread says more than a narrower interval.
    if (Result<void> measured = run.measure_one_thread(); !measured) return measured.error();
    if (Result<void> sharpened = run.sharpen_medians(); !sharpened) return sharpened.error();
    if (Result<void> collected = run.collect(result); !collected) return collected.error();
    result.host["library_threads"] = {{"openblas", threads.openblas}};
    if (threads.openmp > 0) result.host["library_threads"]["openmp"] = threads.openmp;
    return result;
}

} // namespace fathom::probes
