#include "server/centers/heartbeat_monitor.hpp"

#include "core/base/log.hpp"
#include "server/store/database_now.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {
namespace {

/// Looks that may be missed in a row before silence counts anew.
constexpr int kMissedLooks = 3;

} // namespace

std::vector<SilentCenter> HeartbeatMonitor::look(pqxx::work& transaction)
{
    const Timestamp now = database_now(transaction);
    const bool paused = !watched_since_ || now - last_look_ > kMissedLooks * limits_.period;
    if (paused) watched_since_ = now;
    last_look_ = now;
    std::vector<SilentCenter> marked =
        mark_silent_centers(transaction, *watched_since_, limits_.suspect_after, limits_.lost_after);
    for (const SilentCenter& center : marked) {
        notify(transaction, "catalog", center.id.value);
        log_warning("center_silent", {{"center", center.name},
                                      {"center_id", center.id.value},
                                      {"state", center.state},
                                      {"silent_s", center.silent_s}});
    }
    if (!marked.empty()) notify(transaction, "route", "");
    return marked;
}

} // namespace fathom::server
