#include "probes/runner/disturbance_watch.hpp"

#include "core/decide/statistics/sample_statistics.hpp"
#include "probes/runner/core_clock.hpp"
#include "probes/runner/proc_files.hpp"
#include "probes/runner/process_times.hpp"
#include "probes/runner/resources.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace fathom::probes {
namespace {

/// Counters of hundredths of a second say something about a tenth.
constexpr double kStretch_s = 0.1;

double seconds_of(auto time)
{
    return std::chrono::duration<double>(time.time_since_epoch()).count();
}

MachineCounters read_counters()
{
    ProcessTimes own = process_tree_times();
    MachineCounters counters;
    counters.used_s = own.used_s;
    counters.waited_s = own.waited_s;
    counters.thread_waited_s = std::move(own.thread_waited_s);
    counters.wall_s = seconds_of(std::chrono::system_clock::now());
    counters.steady_s = seconds_of(std::chrono::steady_clock::now());
    return counters;
}

void add_processors(MachineCounters& counters, const std::vector<int>& cpus)
{
    const ProcessorTimes processors = processor_times(proc_text("/proc/stat"), cpus);
    counters.busy_s = processors.busy_s;
    counters.stolen_s = processors.stolen_s;
}

} // namespace

DisturbanceWatch::DisturbanceWatch(int cores) : cores_(cores), cpus_(allowed_cpus()), stretches_(1)
{
    start_ = read_counters();
    add_processors(start_, cpus_);
    stretch_start_ = start_;
    before_ = start_;
}

void DisturbanceWatch::begin_sample()
{
    before_ = read_counters();
}

SampleEvidence DisturbanceWatch::end_sample()
{
    const MachineCounters after = read_counters();
    SampleEvidence evidence;
    evidence.causes = causes_in_sample(before_, after);
    evidence.stretch = stretches_.size() - 1;
    evidence.clock_hz = measure_core_clock_hz();
    if (evidence.clock_hz > 0) clocks_hz_.push_back(evidence.clock_hz);
    if (after.steady_s - stretch_start_.steady_s >= kStretch_s) end_stretch();
    return evidence;
}

void DisturbanceWatch::end_stretch()
{
    MachineCounters end = read_counters();
    add_processors(end, cpus_);
    stretches_.back() = causes_in_stretch(stretch_start_, end, cores_);
    stretches_.emplace_back();
    stretch_start_ = end;
}

const std::vector<std::string>& DisturbanceWatch::causes_of_stretch(std::size_t stretch) const
{
    return stretches_.at(stretch);
}

Json DisturbanceWatch::totals() const
{
    MachineCounters now = read_counters();
    add_processors(now, cpus_);
    Json totals = {{"waited_s", std::max(0.0, now.waited_s - start_.waited_s)},
                   {"stolen_s", std::max(0.0, now.stolen_s - start_.stolen_s)},
                   {"used_by_others_s", used_by_others_s(start_, now)}};
    if (clocks_hz_.empty()) return totals;
    totals["core_clock_hz"] = median(clocks_hz_);
    const auto [low, high] = std::minmax_element(clocks_hz_.begin(), clocks_hz_.end());
    totals["core_clock_low_hz"] = *low;
    totals["core_clock_high_hz"] = *high;
    return totals;
}

double DisturbanceWatch::clock_step_s() const
{
    return probes::clock_step_s(start_, read_counters());
}

} // namespace fathom::probes
