#include "core/decide/measurement/plausibility.hpp"

#include "core/decide/measurement/processor_peak.hpp"
#include "core/model/probe_result.hpp"
#include "core/model/probe_task.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>

namespace fathom {
namespace {

constexpr double kMinClockSlack_s = 4;
constexpr double kClockShare = 0.3;
constexpr std::size_t kClockWindow = 8;
constexpr std::size_t kMinClockRuns = 5;
constexpr double kSteadyRatio = 1.25;
constexpr double kSteadySlack_s = 1;

constexpr double kSumSlack_s = 1e-3; ///< numbers are printed with finitely many digits
constexpr double kUnexplainedEach_s = 4;
constexpr double kFreeBytes = 1e9; ///< of one execution, within the above
constexpr double kCheckedBytesPerS = 1e9;
constexpr std::int64_t kMaxFlowRuns = 64; ///< the runner's: executions that feed others
constexpr double kFlowExecutions = 3;     ///< inputs of each are made anew, which takes as long as a few

constexpr std::int64_t kMaxMultiprocessors = 1024;
constexpr std::int64_t kSockets = 8; ///< of one node, at most; what it says of sockets itself proves nothing

std::string figure(double value)
{
    std::array<char, 32> text{};
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 4);
    return error == std::errc{} ? std::string(text.data(), end) : std::string("?");
}

/// @param times  samples_s and executions of one operator, with all threads or with one, or alone.
double sampling_s(const auto& times)
{
    double sum = 0;
    for (std::size_t i = 0; i < times.samples_s.size(); ++i) {
        const auto executions = i < times.executions.size() ? static_cast<double>(times.executions[i]) : 1.0;
        sum += times.samples_s[i] * executions;
    }
    return sum;
}

double samples_s(const OperatorResult& item)
{
    return sampling_s(item) + (item.one_thread ? sampling_s(*item.one_thread) : 0) +
           (item.alone ? sampling_s(*item.alone) : 0);
}

bool counts_executions(const auto& times)
{
    const bool is_complete = times.executions.empty() || times.executions.size() == times.samples_s.size();
    return is_complete &&
           std::all_of(times.executions.begin(), times.executions.end(), [](std::int64_t n) { return n > 0; });
}

/// To learn how long one execution takes, and before samples to warm up.
double untimed_executions(const auto& times, bool is_alone)
{
    return 2 + (is_alone ? 0 : static_cast<double>(times.samples_s.size()));
}

/// Executions that are not timed, by the runner's rules.
double untimed_s(const OperatorResult& item, bool is_alone)
{
    double executions = untimed_executions(item, is_alone);
    if (!item.label.empty()) executions += kFlowExecutions * static_cast<double>(std::min(item.count, kMaxFlowRuns));
    double untimed = executions * item.median_s;
    if (item.alone && !is_alone) untimed += static_cast<double>(item.alone->samples_s.size()) * item.alone->median_s;
    if (!item.one_thread) return untimed;
    return untimed + untimed_executions(*item.one_thread, is_alone) * item.one_thread->median_s;
}

bool is_steadily_slow(std::span<const ClockedRun> runs)
{
    const std::span<const ClockedRun> newest = runs.last(std::min(runs.size(), kClockWindow));
    return newest.size() >= kMinClockRuns && std::all_of(newest.begin(), newest.end(), [](const ClockedRun& run) {
               return run.seen_s > kSteadyRatio * run.claimed_s + kSteadySlack_s;
           });
}

} // namespace

double accounted_s(const ProbeResult& result)
{
    double sum = 0;
    for (const OperatorResult& item : result.operators)
        sum += item.first_s + samples_s(item);
    return sum;
}

std::string check_sums(const ProbeResult& result)
{
    for (const OperatorResult& item : result.operators) {
        if (!counts_executions(item) || (item.one_thread && !counts_executions(*item.one_thread)) ||
            (item.alone && !counts_executions(*item.alone)))
            return operator_key(item.id, item.parameters) + " does not say how many executions each sample holds";
    }
    const double parts_s = result.start_up_s + accounted_s(result);
    if (parts_s <= result.wall_s + kSumSlack_s) return {};
    return "start, first executions and samples took " + figure(parts_s) + " s together, the whole run " +
           figure(result.wall_s) + " s";
}

std::string check_unexplained(const ProbeResult& result)
{
    double explained_s = result.start_up_s + accounted_s(result);
    double unexplained_each_s = 0;
    for (const OperatorResult& item : result.operators) {
        explained_s += untimed_s(item, result.operators.size() == 1);
        unexplained_each_s += kUnexplainedEach_s + std::max(0.0, item.bytes - kFreeBytes) / kCheckedBytesPerS;
    }
    const double bound_s = unexplained_each_s + explained_s;
    const double unexplained_s = result.wall_s - explained_s;
    if (unexplained_s <= bound_s) return {};
    return "of " + figure(result.wall_s) + " s, " + figure(unexplained_s) +
           " s are explained by nothing in the result; at most " + figure(bound_s) + " s could be";
}

std::string check_clock(std::span<const ClockedRun> runs)
{
    const ClockedRun& run = runs.back();
    const double slack_s = std::max(kMinClockSlack_s, kClockShare * run.claimed_s);
    const std::string figures =
        "the run took " + figure(run.claimed_s) + " s by the center's clock, " + figure(run.seen_s) + " s by ours";
    if (std::abs(run.seen_s - run.claimed_s) > slack_s) return figures;
    if (is_steadily_slow(runs)) return figures + ", and those before it were too short alike";
    return {};
}

std::string check_rates(const OperatorResult& result, const ClaimedHardware& hardware)
{
    RateBounds bounds = processor_bounds(hardware.isa, result.precision, hardware.cores, kSockets);
    if (hardware.is_gpu) {
        bounds = gpu_bounds(result.precision, hardware.multiprocessors);
        bounds.flops *= static_cast<double>(hardware.gpu_count);
        bounds.bytes_per_s *= static_cast<double>(hardware.gpu_count);
    }
    const auto describe = [&](double rate, double bound, const char* unit) {
        return operator_key(result.id, result.parameters) + " at " + figure(rate / 1e9) + " " + unit +
               ", more than the " + figure(bound / 1e9) + " " + unit + " that this hardware can do at all";
    };
    if (result.rate_flops() > bounds.flops) return describe(result.rate_flops(), bounds.flops, "GFLOP/s");
    if (result.rate_bytes() > bounds.bytes_per_s) return describe(result.rate_bytes(), bounds.bytes_per_s, "GB/s");
    return {};
}

ClaimedHardware claimed_hardware(const ProbeResult& result, std::int64_t gpu_count)
{
    ClaimedHardware hardware;
    hardware.cores = result.cores;
    hardware.gpu_count = gpu_count;
    const auto isa = result.host.find("isa");
    if (isa != result.host.end() && isa->is_array()) {
        for (const Json& name : *isa) {
            if (name.is_string()) hardware.isa.push_back(name.get<std::string>());
        }
    }
    const auto gpu = result.host.find("gpu");
    hardware.is_gpu = gpu != result.host.end() && gpu->is_object();
    if (!hardware.is_gpu) return hardware;
    const auto count = gpu->find("multiprocessors");
    const bool is_number = count != gpu->end() && count->is_number_integer();
    hardware.multiprocessors =
        is_number ? std::clamp<std::int64_t>(count->get<std::int64_t>(), 1, kMaxMultiprocessors) : kMaxMultiprocessors;
    return hardware;
}

} // namespace fathom
