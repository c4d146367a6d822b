#include "core/decide/measurement/memory_level.hpp"

#include "core/base/json_reader.hpp"
#include "core/model/formula.hpp"
#include "core/model/operator_manifest.hpp"
#include "core/model/probe_result.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr double kClearlyBeyond = 4; ///< times the last level

struct CacheLevel {
    std::string name;
    double one_bytes{};
    double all_bytes{};
};

/// The first level first; a host may tell anything, and what is no size is passed over.
std::vector<CacheLevel> cache_levels(const Json& host)
{
    std::vector<CacheLevel> levels;
    const auto caches = host.find("caches");
    if (caches == host.end() || !caches->is_object()) return levels;
    const auto size_of = [](const Json& cache, const char* field) {
        return cache.is_object() && cache.contains(field) && cache[field].is_number() ? cache[field].get<double>() : 0;
    };
    for (const char* const name : {"L1", "L2", "L3", "L4"}) {
        const auto found = caches->find(name);
        if (found == caches->end()) continue;
        CacheLevel level{name, size_of(*found, "one_bytes"), size_of(*found, "all_bytes")};
        if (level.one_bytes > 0 && level.all_bytes > 0) levels.push_back(std::move(level));
    }
    return levels;
}

} // namespace

std::string memory_level(const OperatorManifest& manifest, const Parameters& parameters, const ProbeResult& result)
{
    if (!manifest.working_set || !result.host.is_object() || result.host.contains("gpu")) return {};
    const std::vector<CacheLevel> levels = cache_levels(result.host);
    if (levels.empty()) return {};
    const double bytes = formula_value(manifest.working_set->bytes, parameters);
    const double parts = std::clamp(formula_value(manifest.working_set->parts, parameters), 1.0,
                                    static_cast<double>(std::max<std::int64_t>(result.cores, 1)));
    const auto found = std::find_if(levels.begin(), levels.end(), [&](const CacheLevel& level) {
        return bytes <= level.all_bytes && bytes / parts <= level.one_bytes;
    });
    if (found != levels.end()) return found->name;
    const CacheLevel& last = levels.back();
    return bytes >= kClearlyBeyond * last.all_bytes ? "memory" : last.name + " and memory";
}

} // namespace fathom
