#pragma once

#include "core/schedule/unit_ledger.hpp"
#include "server/catalog/catalog_snapshot.hpp"
#include "server/routing/in_use/attempts_in_use.hpp"
#include "server/routing/in_use/gpu_shares.hpp"
#include "server/routing/in_use/queue_room.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace fathom::server {

/// The ledger of a cycle of the router: made by the first batch and used by the next ones, which so need not make it
/// again. All batches decide at the moment of the first. What other replicas start meanwhile is found when placements
/// are written. Not thread-safe.
struct CycleLedger {
    AttemptsInUse attempts;          ///< kept from cycle to cycle
    std::optional<UnitLedger> units; ///< empty: the next batch makes one
    CatalogPointer catalog;          ///< of the ledger
    Timestamp now{};                 ///< that the ledger's seconds count from
    std::vector<Reservation> reserved;
    std::vector<Reservation> planned; ///< when the ledger was made
    std::vector<KnownGpuRoom> gpu_rooms;
    GpuShares gpu_shares; ///< of those that ran when the ledger was made
    QueueRoom queue_room; ///< less what earlier batches have taken

    /// Whether a batch may decide on the ledger: it is of this catalog, and its moment is not long ago.
    bool serves(const CatalogPointer& wanted, Timestamp at) const
    {
        constexpr std::chrono::seconds kMaxDuration{5};
        return units && catalog == wanted && at >= now && at - now <= kMaxDuration;
    }
};

} // namespace fathom::server
