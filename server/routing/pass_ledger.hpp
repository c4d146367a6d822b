#pragma once

#include "core/schedule/unit_ledger.hpp"
#include "server/catalog/catalog_snapshot.hpp"
#include "server/routing/queue_room.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace fathom::server {

/// The ledger of a pass of the router: laid out by its first page, and used by the next ones, which then know at once
/// what they would else lay out again. All of them decide at the moment of the first. What other replicas start
/// meanwhile is seen when placements are written. Not thread-safe.
struct PassLedger {
    std::optional<UnitLedger> units; ///< empty: the next page makes it
    CatalogPointer catalog;          ///< that it is made of
    Timestamp now{};                 ///< that its seconds count from
    std::vector<Reservation> reserved;
    std::vector<Reservation> planned; ///< when it was made
    std::vector<KnownGpuRoom> gpu_rooms;
    QueueRoom queue_room; ///< less what the pages before have taken of it

    /// A page may decide on it: it is of this catalog, and its moment is not long ago.
    bool serves(const CatalogPointer& wanted, Timestamp at) const
    {
        constexpr std::chrono::seconds kMaxDuration{5};
        return units && catalog == wanted && at >= now && at - now <= kMaxDuration;
    }
};

} // namespace fathom::server
