#pragma once

#include "core/decide/measurement/processor_peak.hpp"
#include "core/model/operator_manifest.hpp"

namespace fathom::probes {

/// processor_bounds of this machine; where it has AVX-512, it is taken to have AMX as well.
/// @param precision  of the manifest: "fp64", "fp32", "fp16", "bf16", "int8"; others count as 8 bits.
RateBounds rate_bounds(const std::string& precision, int cores);

/// Checks what an uploaded operator claims to have done in `seconds`.
/// @error kForbidden  it is more than the bounds allow; the detail has the figures.
Result<void> check_rate(const OperatorManifest& manifest, double operations, double bytes, double seconds, int cores);

} // namespace fathom::probes
