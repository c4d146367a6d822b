#include "probes/runner/disturbance.hpp"

#include "core/decide/statistics/sample_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::probes {
namespace {

/// A sample of which one thread waited for longer than this share of its time is marked: the others wait for that
/// thread. Two measurements shall agree within 5 %, so what can move one by 2 % matters. The short waits after each
/// wake-up, which many threads have, are not added up: they pass side by side.
constexpr double kWaitedShare = 0.02;
/// Both clocks are slewed together, so any difference is a step; reading them one after the other takes microseconds.
constexpr double kClockStep_s = 1e-3;
/// As for waiting.
constexpr double kStolenShare = 0.02;
/// Others may use this share of a core beside each of ours: daemons do, and it costs little. A neighbour that computes
/// shares caches and memory with us and uses far more.
constexpr double kOthersShare = 0.1;
/// Ticks of a hundredth of a second are counted for whoever runs when they end: a few are chance.
constexpr double kChance_s = 0.03;
/// A change of the clock rate by more is marked: the measured rate is right within about 1 %, and times follow it.
constexpr double kClockRateShare = 0.03;

} // namespace

double clock_step_s(const MachineCounters& before, const MachineCounters& after)
{
    return (after.wall_s - before.wall_s) - (after.steady_s - before.steady_s);
}

double used_by_others_s(const MachineCounters& before, const MachineCounters& after)
{
    return std::max(0.0, (after.busy_s - before.busy_s) - (after.used_s - before.used_s));
}

double longest_wait_s(const MachineCounters& before, const MachineCounters& after)
{
    double longest_s = 0;
    for (const auto& [thread, waited_s] : after.thread_waited_s) {
        const auto earlier = before.thread_waited_s.find(thread); // a thread that started since has waited since then
        longest_s = std::max(longest_s, waited_s - (earlier == before.thread_waited_s.end() ? 0 : earlier->second));
    }
    return longest_s;
}

std::vector<std::string> causes_in_sample(const MachineCounters& before, const MachineCounters& after)
{
    std::vector<std::string> causes;
    const double elapsed_s = after.steady_s - before.steady_s;
    if (longest_wait_s(before, after) > kWaitedShare * elapsed_s) causes.emplace_back("preempted");
    if (std::abs(clock_step_s(before, after)) > kClockStep_s) causes.emplace_back("clock");
    return causes;
}

std::vector<std::string> causes_in_stretch(const MachineCounters& before, const MachineCounters& after, int cores)
{
    std::vector<std::string> causes;
    const double available_s = (after.steady_s - before.steady_s) * cores;
    if (after.stolen_s - before.stolen_s > kStolenShare * available_s) causes.emplace_back("steal");
    if (used_by_others_s(before, after) > kOthersShare * available_s + kChance_s) causes.emplace_back("load");
    return causes;
}

std::vector<std::size_t> samples_at_another_clock(std::span<const double> clock_hz)
{
    std::vector<double> known(clock_hz.begin(), clock_hz.end());
    std::erase(known, 0.0);
    if (known.empty()) return {};
    const double usual = median(std::move(known));
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < clock_hz.size(); ++i) {
        if (clock_hz[i] > 0 && std::abs(clock_hz[i] / usual - 1) > kClockRateShare) others.push_back(i);
    }
    return others;
}

} // namespace fathom::probes
