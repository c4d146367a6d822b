#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "server/catalog/catalog_cache.hpp"
#include "server/catalog/columns_of_catalog.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/ports/waiting_job_terminator.hpp"
#include "server/routing/cycles/cycle_recorder.hpp"
#include "server/routing/in_use/cycle_ledger.hpp"
#include "server/routing/project_use/project_uses.hpp"

#include <chrono>

namespace fathom::server {

struct RoutingSettings {
    ReplicaId replica;
    std::chrono::seconds metering_period{604800};
    CycleRecorder* recorder = nullptr; ///< keeps what each batch is decided on; nullptr: nothing is kept
};

/// What the batches of a router work with. All of it outlives them.
struct BatchTools {
    const RoutingSettings* settings{};
    CatalogCache* cache{};
    ProbePlanner* planner{};
    WaitingJobTerminator* terminator{};
    ProjectUses* uses{};
    ColumnsOfCatalog* columns{};
    const Clock* clock{};
    CycleLedger* ledger{}; ///< of the cycle
};

} // namespace fathom::server
