#pragma once

#include "core/model/probe_task.hpp"

#include <map>
#include <optional>

namespace fathom {

/// A sample during which something else was seen to take the processor or the clock.
struct DisturbedSample {
    std::int64_t sample{};           ///< index into samples_s
    std::vector<std::string> causes; ///< "preempted", "steal", "clock", "load"
};

/// An operator's samples under other conditions than those that its result is of. Seconds per execution.
struct SampledTimes {
    std::vector<double> samples_s;        ///< all of them, in order
    std::vector<std::int64_t> executions; ///< of each sample
    double median_s{};
    double ci_low_s{}; ///< 95 % confidence interval of the median
    double ci_high_s{};
};

/// What the first of several copies took in turn with a bubble, a known pressure on memory.
struct PressureTimes {
    SampledTimes beside_bubbles; ///< the operator's, while the others were bubbles
    SampledTimes reporter;       ///< the reporter's, while the others executed the operator
};

/// Of the reporter, which tells the pressure that others make on memory.
struct ReporterTimes {
    SampledTimes alone;
    SampledTimes beside_bubbles;
};

/// What one operator at one size did in a probe run (M15). Times are seconds per execution.
struct OperatorResult {
    std::string id;
    std::int64_t version{1};
    Parameters parameters;
    std::int64_t count{1};                  ///< as in the task
    std::string label{};                    ///< as in the task
    double first_s{};                       ///< the first execution, kept apart: caches, page faults, plans
    std::vector<double> samples_s;          ///< all of them, in order (M17)
    std::vector<std::int64_t> executions;   ///< of each sample; its time is that of one of them
    std::vector<std::int64_t> outliers;     ///< indices into samples_s: marked, not dropped
    std::vector<DisturbedSample> disturbed; ///< marked, kept
    bool is_target_reached{true};           ///< half the interval's width is within the task's target
    double median_s{};
    double ci_low_s{}; ///< 95 % confidence interval of the median
    double ci_high_s{};
    double spread{};     ///< interquartile range / median
    double operations{}; ///< floating-point operations of one execution, by the manifest's formula
    double bytes{};      ///< bytes of one execution, by the manifest's formula
    double error{};      ///< relative, against the truth value
    double tolerance{};
    std::string precision;
    std::string library;  ///< with version and what it chose: "OpenBLAS 0.3.21 SkylakeX"
    std::string checksum; ///< hex; only the real computation gives it
    /// Of results in floating point: what is compared where checksums differ (check_same_result). Empty: nothing is.
    std::vector<double> projection{};
    /// With one thread, on a unit of several cores, where it was measured, too: what a program's own loops, and
    /// libraries whose threads the program chooses, take there.
    std::optional<SampledTimes> one_thread{};
    /// Of the first of several copies side by side: what it took while the others stood still.
    std::optional<SampledTimes> alone{};
    /// Of the first of several copies, where there was time for it: how sensitive it is to pressure on memory, and how
    /// much of it it makes itself.
    std::optional<PressureTimes> pressure{};
    /// Further figures of the result, by name: "compressed_fraction".
    std::map<std::string, double> figures{};
    /// Set by the metascheduler: why the rate is none of memory although the operator is to measure memory
    /// (check_cache_rule). Empty: nothing is against it.
    std::string cache_verdict{};
    /// Set by the metascheduler: the level of memory that a measure of latency is of (memory_level); empty: not known.
    std::string memory_level{};

    double rate_flops() const { return median_s > 0 ? operations / median_s : 0; }
    double rate_bytes() const { return median_s > 0 ? bytes / median_s : 0; }
};

/// What `fathom-probe` prints: one JSON object.
struct ProbeResult {
    std::string task; ///< its name
    std::string runner_version;
    double wall_s{};            ///< from process start to the result
    double start_up_s{};        ///< from process start to the first operator
    double task_s{};            ///< Σ count × median over the operators
    std::int64_t cores{1};      ///< threads that the operators used
    std::int64_t unit_count{1}; ///< FATHOM_UNITS
    std::int64_t seed{};        ///< the inputs' seed, as in the task
    double clock_step_s{};      ///< how far the wall clock moved against the steady one; times are of the steady one
    std::vector<OperatorResult> operators; ///< one for each of the task's, in its order
    Json host = Json::object();            ///< facts: hostname, cpu_model, isa, cpus, load_before, …
    /// Of a probe of several copies side by side: this is the result of the first, and these are those of the others,
    /// without facts of the host.
    std::vector<ProbeResult> copies{};
    std::optional<ReporterTimes> reporter{}; ///< of copies, where an operator has `pressure`
};

/// Copies of one probe side by side (M19, throughput), each on a unit of its own.
inline constexpr std::int64_t kMaxProbeCopies = 64;

/// @error kInvalid  with every field error. Unknown fields are ignored: runners may be newer.
Result<ProbeResult> parse_probe_result(const Json& json);
Json to_json(const ProbeResult& result);

} // namespace fathom
