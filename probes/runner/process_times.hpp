#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace fathom::probes {

/// Seconds since their start, over the threads that live now.
struct ProcessTimes {
    double used_s{};                                ///< on a processor
    double waited_s{};                              ///< ready to run, without a processor
    std::map<std::int64_t, double> thread_waited_s; ///< waited_s of each thread, by its id
};

/// Of all threads of this process, of the processes that it started, and of those that these started. The kernel's
/// figures, in nanoseconds; zeros where it does not keep them.
ProcessTimes process_tree_times();

/// Seconds that some processors were busy, and that the hypervisor took from them.
struct ProcessorTimes {
    double busy_s{};
    double stolen_s{};
};

/// @param stat  the text of /proc/stat
/// @param cpus  the processors that count, ascending
ProcessorTimes processor_times(std::string_view stat, const std::vector<int>& cpus);

} // namespace fathom::probes
