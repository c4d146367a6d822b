#pragma once

#include "server/catalog/catalog_snapshot.hpp"
#include "server/routing/in_use/attempts_in_use.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace fathom::server {

/// How many more jobs may be sent to centers before there are units for them.
struct QueueRoom {
    std::unordered_map<std::string, std::int64_t> left; ///< ScheduleInput::queue_room
    bool has_some{}; ///< where all units are taken there may be room behind short jobs
};

/// None where a job that is not short is expected to end soon: it may take longer, and a job that waits at its center
/// cannot go where units become free sooner. None either where more than half of kMaxQueuedPerUnit wait for each unit
/// already: so they go there several at a time.
QueueRoom queue_room_of(const UseOfUnits& use, const CatalogSnapshot& catalog);

} // namespace fathom::server
