#pragma once

#include "core/model/operator_manifest.hpp"

namespace fathom::probes {

/// What bounds a rate from above.
struct RateBounds {
    double flops{}; ///< operations/s
    double bytes_per_s{};
};

/// What no processor of this kind can exceed, by a wide margin: at 6 GHz, for each core, two multiply-add units of
/// the widest vectors that this processor has (tiles of AMX count 16 vectors for numbers of 16 bits or less); for
/// memory 2 TB/s a socket, or, where it is more, 128 bytes a core and clock out of caches.
/// @param precision  of the manifest: "fp64", "fp32", "fp16", "bf16", "int8"; others count as 8 bits.
RateBounds rate_bounds(const std::string& precision, int cores);

/// Checks what an uploaded operator claims to have done in `seconds`.
/// @error kForbidden  it is more than the bounds allow; the detail has the figures.
Result<void> check_rate(const OperatorManifest& manifest, double operations, double bytes, double seconds, int cores);

} // namespace fathom::probes
