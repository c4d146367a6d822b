#pragma once

#include "server/routing/catalog_snapshot.hpp"

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom::server {

/// Units of one type that are taken for some time. Seconds count from now.
struct Reservation {
    UnitTypeId unit_type_id;
    std::int64_t unit_count{1};
    double release_s{}; ///< when they are free again
    double from_s{};    ///< when they are taken
};

/// The router's working copy: the catalog with what is reserved, and with what it has planned for the jobs
/// before the one in hand (list scheduling). Not thread-safe.
class UnitLedger {
  public:
    UnitLedger(const CatalogSnapshot& catalog, std::span<const Reservation> reserved,
               std::span<const Reservation> planned);

    std::span<const UnitTypeView> views() const { return views_; }
    /// Takes units for the time of the reservation.
    void reserve(const Reservation& reservation);
    /// True when an open unit type has a free unit.
    bool has_free_unit() const;

  private:
    std::vector<UnitTypeView> views_;
    std::unordered_map<std::string, std::size_t> index_;
};

} // namespace fathom::server
