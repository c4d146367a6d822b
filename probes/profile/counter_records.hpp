#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

/// What the kernel writes of a sampled program, read as text and bytes. Everything in it may be wrong.
namespace fathom::profile {

/// Where a thread was.
struct CounterSample {
    pid_t process{};
    std::uint64_t address{};
};

/// The samples of a stretch of records of perf_event_open(2) with PERF_SAMPLE_IP and PERF_SAMPLE_TID, up to the first
/// record that does not fit. `lost` grows by what the kernel had no room for.
std::vector<CounterSample> read_samples(std::string_view records, std::uint64_t& lost);

/// A stretch of a process's memory that holds code of a file.
struct CodeMapping {
    std::uint64_t begin{};
    std::uint64_t end{};
    std::uint64_t offset{}; ///< of begin in the file
    std::string path;
    std::string identity; ///< device, inode and path: another file at the same path is another one
    bool is_deleted{};    ///< whatever is at the path now is another file
};

/// The mappings of /proc/PID/maps that may be executed and are of files, by address; at most 4096.
std::vector<CodeMapping> read_code_mappings(std::string_view maps);

} // namespace fathom::profile
