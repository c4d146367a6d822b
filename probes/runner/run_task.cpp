#include "probes/runner/run_task.hpp"

#include "probes/operators/registry.hpp"
#include "probes/runner/sampled_operator.hpp"

#include <fmt/format.h>

namespace fathom::probes {
namespace {

/// Every run has the same inputs: checksums of different centers can be compared.
constexpr std::uint64_t kSeed = 20261120;
/// The share of the limit that longer samples may use, when a task asks for counts above what
/// min_sample_s needs.
constexpr double kCountShare = 0.25;
/// A task is given up early only when it is far from its limit; near it, the limit itself decides.
constexpr double kClearlyOver = 1.25;

double seconds_since(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Σ over the operators, for all are kept ready at the same time.
Result<void> check_memory(const ProbeTask& task, double usable_bytes)
{
    double needed = 0;
    for (const OperatorUse& use : task.operators)
        needed += find_operator(use.id)->memory(use.parameters);
    if (needed <= usable_bytes) return {};
    return Error{Errc::kTooLarge, fmt::format("out of memory: the task needs {:.1f} MB, {:.1f} MB are usable here",
                                              needed / 1e6, usable_bytes / 1e6)};
}

SampleRule sample_rule(const ProbeTask& task)
{
    const auto samples = static_cast<double>(task.repeats) * static_cast<double>(task.operators.size());
    return {.min_sample_s = task.min_sample_s,
            .count_budget_s = kCountShare * task.limit_s / samples,
            // The operators before it have emptied the caches and, where they use threads, those are
            // still spinning. A job executes an operator many times in a row: that is what is timed.
            .warm_up_each = task.operators.size() > 1};
}

class TaskRun {
  public:
    TaskRun(const ProbeTask& task, const RunConditions& conditions) : task_(task), conditions_(conditions) {}

    Result<void> start_operators()
    {
        for (const OperatorUse& use : task_.operators) {
            operators_.emplace_back(*find_operator(use.id), use, conditions_.cores);
            tell("preparing " + operators_.back().name());
            if (Result<void> started = operators_.back().start(kSeed, sample_rule(task_)); !started) return started;
        }
        return {};
    }

    Result<void> check_limit() const
    {
        double expected_s = seconds_since(conditions_.process_start);
        for (const SampledOperator& item : operators_)
            expected_s += item.expected_sample_s() * static_cast<double>(task_.repeats);
        if (expected_s <= kClearlyOver * task_.limit_s) return {};
        return Error{Errc::kDeadline, fmt::format("took longer than its limit of {:g} s: it would take about {:.1f} s, "
                                                  "by the first executions of its operators",
                                                  task_.limit_s, expected_s)};
    }

    void take_samples()
    {
        for (std::int64_t round = 1; round <= task_.repeats; ++round) {
            for (SampledOperator& item : operators_) {
                tell(fmt::format("sample {} of {} of {}", round, task_.repeats, item.name()));
                item.sample();
            }
        }
    }

    void collect(ProbeResult& result)
    {
        for (SampledOperator& item : operators_) {
            tell("verifying " + item.name());
            result.operators.push_back(item.result());
            const OperatorResult& last = result.operators.back();
            result.task_s += static_cast<double>(last.count) * last.median_s;
        }
    }

  private:
    void tell(const std::string& what) const
    {
        if (conditions_.progress) conditions_.progress(what);
    }

    const ProbeTask& task_;
    const RunConditions& conditions_;
    std::vector<SampledOperator> operators_;
};

} // namespace

Result<ProbeTask> validate_task(ProbeTask task)
{
    std::vector<FieldError> errors;
    for (std::size_t i = 0; i < task.operators.size(); ++i) {
        OperatorUse& use = task.operators[i];
        const std::string path = fmt::format("operators[{}]", i);
        const RegisteredOperator* const found = find_operator(use.id);
        if (found == nullptr) {
            errors.push_back({path + ".id", "there is no operator \"" + use.id + "\" here; see --list"});
            continue;
        }
        const std::int64_t version = found->manifest.version;
        if (use.version != 0 && use.version != version) {
            errors.push_back({path + ".version", fmt::format("this program has version {} of {}", version, use.id)});
        }
        use.version = version;
        use.parameters = complete_parameters(found->manifest, use.parameters, path + ".parameters", errors);
    }
    return value_or_errors(std::move(task), std::move(errors), "the probe task");
}

Result<ProbeResult> run_task(const ProbeTask& task, const RunConditions& conditions)
{
    if (Result<void> fits = check_memory(task, conditions.usable_memory_bytes); !fits) return fits.error();
    limit_library_threads(conditions.cores);
    ProbeResult result;
    result.task = task.name;
    result.runner_version = FATHOM_VERSION;
    result.cores = conditions.cores;
    result.unit_count = conditions.unit_count;
    result.start_up_s = seconds_since(conditions.process_start);

    TaskRun run(task, conditions);
    if (Result<void> started = run.start_operators(); !started) return started.error();
    if (Result<void> in_time = run.check_limit(); !in_time) return in_time.error();
    run.take_samples();
    run.collect(result);
    return result;
}

} // namespace fathom::probes
