#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>

namespace fathom::server {

/// UnitTypeView::units_per_device, by what an agent says of its unit type's devices (facts `device`; null: nothing).
std::int64_t units_per_device_of(const Json& device);

} // namespace fathom::server
