#include "server/routing/unit_ledger.hpp"

#include <algorithm>

namespace fathom::server {

UnitLedger::UnitLedger(const CatalogSnapshot& catalog, std::span<const Reservation> reserved,
                       std::span<const Reservation> planned)
    : views_(catalog.unit_types)
{
    for (std::size_t i = 0; i < views_.size(); ++i)
        index_[views_[i].id.value] = i;
    for (const Reservation& one : reserved)
        reserve(one);
    for (const Reservation& one : planned)
        reserve(one);
}

void UnitLedger::reserve(const Reservation& reservation)
{
    const auto found = index_.find(reservation.unit_type_id.value);
    if (found == index_.end()) return;
    views_[found->second].availability.take(reservation.from_s, reservation.release_s, reservation.unit_count);
}

bool UnitLedger::has_free_unit() const
{
    return std::any_of(views_.begin(), views_.end(), [](const UnitTypeView& view) {
        const bool is_open = view.closed_reason.empty() || view.is_open_to_probes;
        return is_open && view.availability.free_now() > 0;
    });
}

} // namespace fathom::server
