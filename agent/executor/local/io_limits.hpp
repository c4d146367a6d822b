#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace fathom::agent {

/// How fast a job may read and write the disk of its working folder; 0: as fast as it can.
struct IoLimits {
    std::string device{}; ///< a whole disk as MAJOR:MINOR; empty where it is not known yet
    std::int64_t read_bytes_per_s{};
    std::int64_t write_bytes_per_s{};
    std::int64_t reads_per_s{};
    std::int64_t writes_per_s{};

    bool has_any() const
    {
        return read_bytes_per_s > 0 || write_bytes_per_s > 0 || reads_per_s > 0 || writes_per_s > 0;
    }
    bool operator==(const IoLimits&) const = default;
};

/// The same for each of `processors`, 1 at least.
IoLimits scaled(IoLimits limits, std::int64_t processors);

/// A line of `io.max` of a control group of version 2.
std::string io_max_line(const IoLimits& limits);

/// The disk that holds a folder, as MAJOR:MINOR; of a partition the whole disk, which is what the kernel limits.
/// @error kNotFound     its file system is on no block device of its own, as are tmpfs, overlay, NFS and btrfs.
/// @error kUnavailable  there is no such folder, or the system does not say.
Result<std::string> disk_of(const std::filesystem::path& folder);

/// The whole disk of a block device.
/// @param devices  where links are named MAJOR:MINOR, and lead to a device's folder: /sys/dev/block
/// @error kUnavailable  nothing of it there.
Result<std::string> whole_disk(const std::filesystem::path& devices, const std::string& device);

} // namespace fathom::agent
