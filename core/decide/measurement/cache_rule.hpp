#pragma once

#include "core/model/operator_manifest.hpp"
#include "core/model/probe_result.hpp"

#include <optional>
#include <string>

/// Whether an operator that is to measure memory has measured caches (CacheRule, after STREAM's rule).
namespace fathom {

/// The sizes of the last-level caches together, as facts of a unit or of a result's host tell them
/// (`last_level_cache_bytes`). Empty where they are absent or no number that can be one.
std::optional<std::int64_t> last_level_cache_fact(const Json& facts);

/// The same of the processors that a result was measured on; empty for a result of a GPU, whose caches are others.
std::optional<std::int64_t> measured_caches(const ProbeResult& result);

/// Empty where nothing is against taking the rate at this size for one of memory: the manifest has no rule, the arrays
/// are large enough, or the caches are not known. Else the figures, for people.
/// @param last_level_caches_bytes  of all processors that computed.
std::string check_cache_rule(const OperatorManifest& manifest, const Parameters& parameters,
                             std::optional<std::int64_t> last_level_caches_bytes);

} // namespace fathom
