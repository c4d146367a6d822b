#include "core/base/last_level_cache.hpp"

#include "core/base/parse_number.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::int64_t kMaxCpu = 65535;
constexpr std::int64_t kMinLevel = 2;
constexpr int kMaxCachesOfCpu = 16;                 ///< index0, index1, …
constexpr std::int64_t kMaxCacheBytes = 1LL << 40U; ///< more is not believed

/// The first line of a file; empty when there is none.
std::string first_line(const std::string& path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// "32768K" or "32M" in bytes; 0 for anything else.
std::int64_t size_in_bytes(std::string_view text)
{
    const std::int64_t number = take_number<std::int64_t>(text).value_or(0);
    const std::int64_t unit = text.starts_with('K') ? 1LL << 10U : text.starts_with('M') ? 1LL << 20U : 1;
    return number > 0 && number <= kMaxCacheBytes / unit ? number * unit : 0;
}

struct FoundCache {
    std::int64_t level{};
    LastLevelCache cache;
};

/// What one folder indexN describes, with 0 bytes where its size is not told; empty for caches of instructions.
std::optional<FoundCache> read_cache(const std::string& folder, std::int64_t cpu)
{
    const std::string level = first_line(folder + "/level");
    if (level.empty() || first_line(folder + "/type").starts_with("Instruction")) return std::nullopt;
    std::string_view text = level;
    FoundCache found{.level = take_number<std::int64_t>(text).value_or(0), .cache = {}};
    found.cache.size_bytes = size_in_bytes(first_line(folder + "/size"));
    found.cache.cpus = read_kernel_cpu_list(first_line(folder + "/shared_cpu_list"));
    found.cache.cpus.insert(cpu);
    if (found.level < 1) return std::nullopt;
    return found;
}

/// All data caches of one processor.
std::vector<FoundCache> caches_of(const std::string& system, std::int64_t cpu)
{
    const std::string folder = system + "/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index";
    std::vector<FoundCache> caches;
    for (int i = 0; i < kMaxCachesOfCpu; ++i) {
        if (std::optional<FoundCache> found = read_cache(folder + std::to_string(i), cpu))
            caches.push_back(std::move(*found));
    }
    return caches;
}

std::optional<LastLevelCache> last_cache_of(const std::string& system, std::int64_t cpu)
{
    std::optional<FoundCache> last;
    for (FoundCache& found : caches_of(system, cpu)) {
        if (found.level >= kMinLevel && (!last || found.level > last->level)) last = std::move(found);
    }
    if (!last || last->cache.size_bytes == 0) return std::nullopt; // a smaller one is not the last
    return std::move(last->cache);
}

} // namespace

std::set<std::int64_t> read_kernel_cpu_list(std::string_view text)
{
    std::set<std::int64_t> cpus;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        std::string_view part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::optional<std::int64_t> first = take_number<std::int64_t>(part);
        if (!first || *first < 0) continue;
        std::int64_t last = *first;
        if (part.starts_with('-')) {
            part.remove_prefix(1);
            last = take_number<std::int64_t>(part).value_or(*first);
        }
        for (std::int64_t cpu = *first; cpu <= std::min(last, kMaxCpu); ++cpu)
            cpus.insert(cpu);
    }
    return cpus;
}

std::vector<LastLevelCache> read_last_level_caches(const std::string& system, std::span<const std::int64_t> cpus)
{
    std::vector<LastLevelCache> caches;
    std::set<std::int64_t> seen;
    for (const std::int64_t cpu : cpus) {
        if (seen.contains(cpu)) continue;
        std::optional<LastLevelCache> cache = last_cache_of(system, cpu);
        if (!cache) continue;
        seen.insert(cache->cpus.begin(), cache->cpus.end());
        caches.push_back(std::move(*cache));
    }
    return caches;
}

std::map<std::int64_t, CacheSizes> read_cache_levels(const std::string& system, std::span<const std::int64_t> cpus)
{
    std::map<std::int64_t, std::vector<LastLevelCache>> levels;
    for (const std::int64_t cpu : cpus) {
        for (FoundCache& found : caches_of(system, cpu)) {
            if (found.cache.size_bytes == 0) break; // what lies beyond has no name either
            std::vector<LastLevelCache>& known = levels[found.level];
            const bool is_known = std::any_of(known.begin(), known.end(),
                                              [&](const LastLevelCache& cache) { return cache.cpus.contains(cpu); });
            if (!is_known) known.push_back(std::move(found.cache));
        }
    }
    std::map<std::int64_t, CacheSizes> sizes;
    for (const auto& [level, caches] : levels) {
        const std::optional<std::int64_t> sum_bytes = last_level_cache_bytes(caches, cpus);
        if (!sum_bytes) continue;
        const auto smallest =
            std::min_element(caches.begin(), caches.end(), [](const LastLevelCache& a, const LastLevelCache& b) {
                return a.size_bytes < b.size_bytes;
            });
        sizes[level] = {.one_bytes = smallest->size_bytes, .all_bytes = *sum_bytes};
    }
    return sizes;
}

std::optional<std::int64_t> last_level_cache_bytes(std::span<const LastLevelCache> caches,
                                                   std::span<const std::int64_t> cpus)
{
    std::set<std::int64_t> left(cpus.begin(), cpus.end());
    if (left.empty()) return std::nullopt;
    std::int64_t sum_bytes = 0;
    for (const LastLevelCache& cache : caches) {
        const std::size_t covered = std::erase_if(left, [&](std::int64_t cpu) { return cache.cpus.contains(cpu); });
        if (covered > 0) sum_bytes += cache.size_bytes;
    }
    if (!left.empty()) return std::nullopt;
    return sum_bytes;
}

} // namespace fathom
