#include "core/decide/probing/size_beyond_caches.hpp"

#include "core/decide/measurement/cache_rule.hpp"
#include "core/model/formula.hpp"
#include "core/model/operator_manifest.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace fathom {
namespace {

/// Other operators of a full benchmark are ready at the same time, and the rest of the machine needs some, too.
constexpr double kMaxMemoryShare = 0.5;

/// The smallest that draw_size() may make of it.
Parameters least_drawn(const OperatorManifest& manifest, Parameters size)
{
    for (const OperatorParameter& parameter : manifest.parameters) {
        std::int64_t& value = size.at(parameter.name);
        const double reach = parameter.draw_share * static_cast<double>(value);
        value = std::max(value - static_cast<std::int64_t>(std::ceil(reach)), parameter.min);
    }
    return size;
}

} // namespace

Parameters size_beyond_caches(const OperatorManifest& manifest, const UnitMemory& unit)
{
    const Parameters defaults = manifest.default_parameters();
    if (!manifest.cache_rule) return defaults;
    const auto is_beyond = [&](const Parameters& size) {
        return check_cache_rule(manifest, least_drawn(manifest, size), unit.last_level_caches_bytes).empty();
    };
    if (is_beyond(defaults)) return defaults;
    const double most_bytes = kMaxMemoryShare * static_cast<double>(unit.memory_bytes);
    for (const Parameters& size : manifest.cache_rule->larger_sizes) {
        if (formula_value(manifest.cache_rule->memory_bytes, size) > most_bytes) break;
        if (is_beyond(size)) return size;
    }
    return defaults;
}

} // namespace fathom
