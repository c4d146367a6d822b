#include "agent/app/input_cache_place.hpp"

#include <algorithm>
#include <limits>
#include <sys/statvfs.h>

namespace fathom::agent {
namespace {

constexpr const char* kFolderName = "input-cache";
constexpr std::uint64_t kShareOfDisk = 20; ///< one part of so many

/// Of the disk of this folder; 0 where nothing is known of it.
std::int64_t share_of_disk(const std::filesystem::path& folder)
{
    struct statvfs disk{};
    if (::statvfs(folder.c_str(), &disk) != 0) return 0;
    // Some file systems say sizes near the largest number.
    constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::int64_t>::max();
    const std::uint64_t block_bytes = std::max<std::uint64_t>(disk.f_frsize, 1);
    return static_cast<std::int64_t>(std::min(disk.f_blocks / kShareOfDisk, kMaxBytes / block_bytes) * block_bytes);
}

} // namespace

InputCachePlace local_input_cache(const AgentConfig& config, const std::filesystem::path& state_dir)
{
    const std::int64_t limit_bytes = config.input_cache_bytes ? *config.input_cache_bytes : share_of_disk(state_dir);
    return {.folder = state_dir / kFolderName, .limit_bytes = limit_bytes};
}

InputCachePlace slurm_input_cache(const AgentConfig& config, const std::filesystem::path& jobs)
{
    InputCachePlace place{.folder = jobs / kFolderName, .limit_bytes = 0, .jobs_open_files = true};
    if (config.input_cache_bytes) {
        place.limit_bytes = *config.input_cache_bytes;
        return place;
    }
    std::filesystem::path there = jobs;
    std::error_code error;
    while (!std::filesystem::exists(there, error) && there.has_relative_path())
        there = there.parent_path();
    place.limit_bytes = std::min(share_of_disk(there), kMaxSlurmCacheBytes);
    return place;
}

} // namespace fathom::agent
