#include "probes/runner/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace fathom::probes {
namespace {

/// "1.35 ms"
std::string time_text(double seconds)
{
    if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
    if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
    return fmt::format("{:.3g} s", seconds);
}

/// "79 GFLOP/s", or bytes for operators that move more of them than they do operations.
std::string rate_text(const OperatorResult& item)
{
    return item.operations > item.bytes ? fmt::format("{:.3g} GFLOP/s", item.rate_flops() / 1e9)
                                        : fmt::format("{:.3g} GB/s", item.rate_bytes() / 1e9);
}

/// "3: preempted 2, load 1"
std::string disturbed_text(const OperatorResult& item)
{
    if (item.disturbed.empty()) return "0";
    std::map<std::string, int> causes;
    for (const DisturbedSample& one : item.disturbed) {
        for (const std::string& cause : one.causes)
            ++causes[cause];
    }
    std::string text = fmt::format("{}:", item.disturbed.size());
    for (const auto& [cause, times] : causes)
        text += fmt::format("{} {} {}", text.ends_with(':') ? "" : ",", cause, times);
    return text;
}

std::string row(const OperatorResult& item, std::size_t name_width)
{
    const double half_width = (item.ci_high_s - item.ci_low_s) / 2 / item.median_s;
    const std::string interval = fmt::format("{:.1f} %{}", 100 * half_width, item.is_target_reached ? "" : " !");
    return fmt::format("{:<{}}  {:>10}  {:>10}  {:>14}  {:>7}  {:>10}  {}\n", operator_key(item.id, item.parameters),
                       name_width, time_text(item.median_s), interval, rate_text(item), item.samples_s.size(),
                       time_text(item.first_s), disturbed_text(item));
}

} // namespace

std::string result_table(const ProbeResult& result)
{
    std::size_t name_width = 8;
    for (const OperatorResult& item : result.operators)
        name_width = std::max(name_width, operator_key(item.id, item.parameters).size());
    std::string text = fmt::format("{:<{}}  {:>10}  {:>10}  {:>14}  {:>7}  {:>10}  {}\n", "OPERATOR", name_width,
                                   "MEDIAN", "+-", "RATE", "SAMPLES", "FIRST", "DISTURBED");
    bool all_reached = true;
    for (const OperatorResult& item : result.operators) {
        text += row(item, name_width);
        all_reached = all_reached && item.is_target_reached;
    }
    if (!all_reached) text += "!: not known as well as the task asks for; its time for samples was spent.\n";
    text += fmt::format("{} core{}, {:.2f} s in all, {} to start.\n", result.cores, result.cores == 1 ? "" : "s",
                        result.wall_s, time_text(result.start_up_s));
    if (std::abs(result.clock_step_s) >= 1e-3)
        text += fmt::format("The wall clock was set by {:+.3f} s meanwhile; times are of the steady clock.\n",
                            result.clock_step_s);
    return text;
}

} // namespace fathom::probes
