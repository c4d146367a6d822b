#pragma once

#include "agent/catalog/device.hpp"

namespace fathom::agent {

/// The devices that no unit has yet. Pure.
class DevicePool {
  public:
    explicit DevicePool(std::vector<HostDevice> devices);

    /// How many devices are left that this cut could have, parts counted.
    std::size_t left(const UnitCut& cut) const;
    /// How many units of it can still be taken.
    std::size_t fitting(const UnitCut& cut) const;
    /// The devices of `units` units, or parts of them, each unit's from as few devices as can be. A device of which
    /// some parts are taken is gone for other cuts. The caller has checked that they fit.
    std::vector<std::vector<UnitDevice>> take(const UnitCut& cut, std::size_t units);

  private:
    std::vector<HostDevice> devices_; ///< those of a NUMA node beside each other
};

} // namespace fathom::agent
