#pragma once

#include "core/model/operator_manifest.hpp"

#include <optional>

namespace fathom {

/// What a unit has, as far as the sizes of arrays go by it.
struct UnitMemory {
    std::optional<std::int64_t> last_level_caches_bytes{}; ///< all that its processors share; empty: not known
    std::int64_t memory_bytes{};                           ///< 0: not known
};

/// The size at which an operator is measured on a unit when none is asked for: the default, or for an operator with a
/// CacheRule that its default does not satisfy there, the smallest larger size that does, also where it is drawn
/// smaller (draw_size), and that takes at most half of the unit's memory. Where there is none, the default, and the
/// result is no rate of memory (check_cache_rule). Pure.
Parameters size_beyond_caches(const OperatorManifest& manifest, const UnitMemory& unit);

} // namespace fathom
