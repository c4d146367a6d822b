#pragma once

#include "core/model/probe_result.hpp"

#include <string>

namespace fathom {

/// Whether two runs of one operator, at one size and with one seed, computed the same (design: "Trust").
///
/// Equal checksums are the same result. Where they differ, the projections decide, for results in floating point have
/// no single right digest: the root mean squares must agree within a share of 16 · tolerance, and each of the sums,
/// which are about 1 whatever was computed, within 16 · tolerance. An operator's tolerance is what a right result may
/// differ from the truth; 16 of it (1e-11 at least, for adding up the sums themselves) leave room for both sides and
/// for chance, and are still far below what leaving anything out would change.
/// @param tolerance  of the operator's manifest, relative.
/// @return empty when they are the same; else what differs, for people.
std::string difference_of(const OperatorResult& claimed, const OperatorResult& computed, double tolerance);

} // namespace fathom
