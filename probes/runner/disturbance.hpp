#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

/// What disturbs a sample, decided from counters that were read before and after it. Pure.
namespace fathom::probes {

/// Counters at one moment. Only differences mean something.
struct MachineCounters {
    double steady_s{}; ///< the clock that samples are timed with
    double wall_s{};   ///< the clock on the wall, which may be set while we measure
    double used_s{};   ///< processor time of this process and of those that it started
    double waited_s{}; ///< how long their threads were ready to run and had no processor, in sum
    std::map<std::int64_t, double> thread_waited_s{}; ///< the same of each thread, by its id
    double busy_s{};                                  ///< of the processors that we may use, by whomever
    double stolen_s{};                                ///< that the hypervisor took from those processors
};

/// How far the wall clock moved against the steady clock between two moments; seconds.
double clock_step_s(const MachineCounters& before, const MachineCounters& after);

/// What other processes used of the processors that we may use; seconds, at least 0.
double used_by_others_s(const MachineCounters& before, const MachineCounters& after);

/// The longest that one thread was ready to run and had no processor between two moments; seconds, at least 0.
double longest_wait_s(const MachineCounters& before, const MachineCounters& after);

/// What disturbed one sample: "preempted", "clock". Thresholds and their reasons are in the source.
std::vector<std::string> causes_in_sample(const MachineCounters& before, const MachineCounters& after);

/// What disturbed the samples of a stretch of time of at least a tenth of a second: "steal", "load". The kernel counts
/// these in hundredths of a second, too coarse for one sample.
/// @param cores  that are measured, >= 1
std::vector<std::string> causes_in_stretch(const MachineCounters& before, const MachineCounters& after, int cores);

/// Indices of the samples after which the core's clock rate was another than it mostly was after this operator's.
/// Wide vector instructions lower the rate: only samples of one operator can be compared.
/// @param clock_hz  of each sample; 0 where it is not known
std::vector<std::size_t> samples_at_another_clock(std::span<const double> clock_hz);

} // namespace fathom::probes
