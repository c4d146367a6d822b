#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom::agent {

/// An amount as Kubernetes writes it ("500m", "2Gi", "1e3", "0.5"), times `scale` (1000 for processors, as
/// thousandths), rounded up as Kubernetes does. Pure.
/// @return empty for what is no such amount, is negative, or does not fit.
std::optional<std::int64_t> parse_quantity(std::string_view text, std::int64_t scale);

} // namespace fathom::agent
