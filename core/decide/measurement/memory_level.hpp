#pragma once

#include "core/model/operator_manifest.hpp"
#include "core/model/probe_result.hpp"

#include <string>

namespace fathom {

/// Where what an operator went through lies (WorkingSet): "L1", "L2", … of the first level of which all caches together
/// hold it, and one the part of one processor; "memory" where it has at least four times the size of the last level, as
/// STREAM's rule asks; between the two "L3 and memory", for then some accesses end in one and some in the other. Empty
/// where the manifest tells no working set or the host no `caches`, and of a GPU. Pure.
/// @param result  that the operator is of: its host, and the processors that computed.
std::string memory_level(const OperatorManifest& manifest, const Parameters& parameters, const ProbeResult& result);

} // namespace fathom
