#pragma once

#include "core/base/clock.hpp"
#include "core/schedule/project_use.hpp"
#include "core/schedule/unit_ledger.hpp"
#include "server/routing/batch/gang_store.hpp"
#include "server/routing/batch/routing_store.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fathom::server {

/// Units that are planned for a job that waits.
struct PlannedUnits {
    std::string job;
    Reservation reservation;
};
std::vector<Reservation> reservations_of(const std::vector<PlannedUnits>& planned);

/// What a cycle of the router carries from batch to batch. A value: a transaction that runs again begins with the
/// same one.
struct CycleCursor {
    LinePlace after; ///< of the last job that was looked at by priority rank
    std::set<std::string>
        seen;                ///< ids of all that were looked at: a new priority rank may put a job into a later batch
    std::set<GangKey> gangs; ///< whose members were claimed
    std::vector<PlannedUnits> planned; ///< for jobs that were looked at and wait
    bool is_tick{false};               ///< look at waiting jobs even when no unit is free
    /// Job types whose probes have ended; looked up by the first batch.
    std::vector<std::string> metered_types;
    std::map<std::string, std::string> refusals; ///< of those, why their probe task was refused
    bool are_types_known{false};
};

/// What one batch did.
struct BatchReport {
    CycleCursor next;
    bool is_done{false};       ///< nothing more to do in this cycle
    bool is_end{false};        ///< no waiting job comes after these
    bool has_free_unit{false}; ///< after what was placed and planned
    std::int64_t placed{};
    std::set<std::string> placed_jobs; ///< ids
    std::int64_t waiting{};
    std::int64_t metering{};
    std::int64_t conflicts{};        ///< placements that another replica's made impossible; decided again
    std::int64_t overdue{};          ///< ended, since their deadline had passed
    double decision_s{};             ///< time in decisions
    std::vector<TakenUnits> started; ///< units that were given to projects
    /// When the first of these jobs that wait for a network window must be looked at again.
    std::optional<Timestamp> next_window;
};

} // namespace fathom::server
