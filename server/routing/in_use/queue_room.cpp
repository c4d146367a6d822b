#include "server/routing/in_use/queue_room.hpp"

#include "core/schedule/schedule.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

/// Of its units together; 0 for one that is gone.
std::int64_t most_queued(const CatalogSnapshot& catalog, const std::string& id)
{
    const UnitTypeView* const view = catalog.find_unit_type(id);
    return view == nullptr ? 0 : kMaxQueuedPerUnit * view->unit_count;
}

} // namespace

QueueRoom queue_room_of(const UseOfUnits& use, const CatalogSnapshot& catalog)
{
    QueueRoom room;
    for (const auto& [id, queued] : use.queued) {
        const std::int64_t most = most_queued(catalog, id);
        room.left[id] = queued <= most / 2 ? most - queued : 0;
    }
    for (const std::string& id : use.with_long)
        room.left[id] = 0;
    room.has_some = std::any_of(use.with_short.begin(), use.with_short.end(), [&](const std::string& id) {
        const auto known = room.left.find(id);
        return known == room.left.end() || known->second > 0;
    });
    return room;
}

} // namespace fathom::server
