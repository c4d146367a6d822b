#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The caches of processors, as the kernel describes them.
namespace fathom {

/// One cache behind which there is only memory: a level-3 cache, or a level-2 cache where there is none.
struct LastLevelCache {
    std::int64_t size_bytes{};
    std::set<std::int64_t> cpus; ///< processors that share it
};

/// The numbers of "0-3,8,10-11", as the kernel writes lists of processors; what is no number is passed over.
std::set<std::int64_t> read_kernel_cpu_list(std::string_view text);

/// The last-level caches of these processors, each once. Data caches and unified ones count, from level 2 on. A
/// processor of which the kernel tells none, as in some virtual machines, is in none of them. Reads files.
/// @param system  "/sys", or a folder like it
std::vector<LastLevelCache> read_last_level_caches(const std::string& system, std::span<const std::int64_t> cpus);

/// The data caches of one level that some processors share.
struct CacheSizes {
    std::int64_t one_bytes{}; ///< the smallest of them
    std::int64_t all_bytes{}; ///< of each once, together
};

/// By level, from 1 on. A level that one of these processors lacks, or of which the kernel tells nothing, is left out.
/// Reads files.
std::map<std::int64_t, CacheSizes> read_cache_levels(const std::string& system, std::span<const std::int64_t> cpus);

/// The sizes of all caches that one of these processors shares, together. Empty where the cache of one of them is not
/// known, or there are no processors: then the sum would be too small. Pure.
std::optional<std::int64_t> last_level_cache_bytes(std::span<const LastLevelCache> caches,
                                                   std::span<const std::int64_t> cpus);

} // namespace fathom
