#pragma once

#include "core/model/operator_manifest.hpp"

#include <cstdint>

namespace fathom {

/// The size at which an operator is really measured when `asked` is wanted: every parameter with a draw rule is moved
/// by a random multiple of its step, at most by its share of the asked value, within its range (design: "Trust").
/// A center cannot prepare itself for a size that it does not know. Same seed, same size, on every machine.
/// @param asked  complete and in range.
Parameters draw_size(const OperatorManifest& manifest, const Parameters& asked, std::uint64_t seed);

} // namespace fathom
