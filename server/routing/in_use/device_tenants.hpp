#pragma once

#include "core/schedule/unit_ledger.hpp"

#include <pqxx/pqxx>

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom::server {

/// Who has units of one type whose units have devices together.
class DeviceTenants {
  public:
    /// @param row  with units (jsonb), unit_count, is_exclusive. When it releases them is not known: no set_takes().
    void add(const pqxx::row& row);
    /// @param reservation  index into the list that set_takes() gets.
    void add(DeviceTenant tenant, std::size_t reservation);
    /// Says in each reservation how many units of whole devices it takes.
    void set_takes(std::vector<Reservation>& reservations, const UnitTypeView& view) const;
    /// How many units are on devices that are free as a whole.
    std::int64_t whole_units(std::int64_t unit_count, std::int64_t units_per_device) const;

  private:
    std::vector<DeviceTenant> tenants_;
    std::vector<std::size_t> reservations_;
};

/// Whether any units are parts of devices; without such units, tenants need not be read.
bool has_divided_devices(std::span<const UnitTypeView> unit_types);

/// Those unit types of which it is known how many units have a device together.
std::unordered_map<std::string, const UnitTypeView*> with_shared_devices(std::span<const UnitTypeView> unit_types);

} // namespace fathom::server
