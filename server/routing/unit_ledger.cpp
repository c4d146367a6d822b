#include "server/routing/unit_ledger.hpp"

#include <algorithm>

namespace fathom::server {

UnitLedger::UnitLedger(const CatalogSnapshot& catalog, std::span<const Reservation> reserved,
                       std::span<const Reservation> planned)
    : views_(catalog.unit_types)
{
    for (std::size_t i = 0; i < views_.size(); ++i)
        index_[views_[i].id.value] = i;
    for (const Reservation& one : reserved) {
        // In use, not planned: it counts even where a center now offers fewer units than it has given away.
        const auto found = index_.find(one.unit_type_id.value);
        if (found == index_.end()) continue;
        std::vector<double>& busy = views_[found->second].busy_s;
        busy.insert(busy.end(), static_cast<std::size_t>(one.unit_count), one.release_s);
    }
    for (const Reservation& one : planned)
        reserve(one);
}

void UnitLedger::reserve(const Reservation& reservation)
{
    const auto found = index_.find(reservation.unit_type_id.value);
    if (found == index_.end()) return;
    UnitTypeView& view = views_[found->second];
    std::vector<double>& busy = view.busy_s;
    const auto taken = static_cast<std::int64_t>(busy.size());
    const std::int64_t from_free = std::clamp<std::int64_t>(view.unit_count - taken, 0, reservation.unit_count);
    const std::int64_t from_busy = std::min(reservation.unit_count - from_free, taken);
    std::sort(busy.begin(), busy.end());
    for (std::int64_t i = 0; i < from_busy; ++i)
        busy[static_cast<std::size_t>(i)] = std::max(busy[static_cast<std::size_t>(i)], reservation.release_s);
    busy.insert(busy.end(), static_cast<std::size_t>(from_free), reservation.release_s);
}

bool UnitLedger::has_free_unit() const
{
    return std::any_of(views_.begin(), views_.end(), [](const UnitTypeView& view) {
        return view.closed_reason.empty() && static_cast<std::int64_t>(view.busy_s.size()) < view.unit_count;
    });
}

} // namespace fathom::server
