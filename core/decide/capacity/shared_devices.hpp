#pragma once

#include "core/decide/capacity/availability.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// Units that are parts of devices: which devices are whole, that is, nobody has a part of them. Units that have a
/// device together stand beside each other, so many of them on each device; what is left beyond full devices counts for
/// none.
namespace fathom {

/// So many units are all units of some devices, `units` of them at least.
std::int64_t units_of_whole_devices(std::int64_t units, std::int64_t units_per_device);

/// Who has some of the units. Seconds count from now.
struct DeviceTenant {
    std::vector<std::int64_t> units; ///< their indices; empty: its center has not told yet
    std::int64_t unit_count{};
    bool is_exclusive{}; ///< it has whole devices
    double release_s{};
};

/// For each of them, units of how many devices are not whole because of it until its release. A device counts for who
/// has a part of it longest. Where it is not known yet, each unit may be on another device.
/// @param unit_count        in all.
/// @param units_per_device  at least 1.
std::vector<std::int64_t> whole_device_takes(std::span<const DeviceTenant> tenants, std::int64_t unit_count,
                                             std::int64_t units_per_device);

/// Units of how many more devices are not whole when `units` are given away from `from_s` to `to_s`: centers give
/// those first that are on devices of which somebody has a part.
/// @param free   of all units, before.
/// @param whole  of those on whole devices, before.
std::int64_t newly_shared_units(const Availability& free, const Availability& whole, double from_s, double to_s,
                                std::int64_t units, std::int64_t units_per_device);

} // namespace fathom
