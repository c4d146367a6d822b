#include "server/centers/sessions/heartbeat_monitor.hpp"

#include "core/base/log.hpp"
#include "server/store/database_now.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {
namespace {

/// Looks that may be missed in a row before silence counts anew.
constexpr int kMissedLooks = 3;
/// The database's clock has jumped when between two looks it went on by so much more or less than the steady clock.
/// No limit of silence is as short as two of these.
constexpr std::chrono::milliseconds kMinJump{1000};

} // namespace

bool HeartbeatMonitor::counts_anew(const Moment& now) const
{
    if (!last_look_) return true;
    const auto elapsed = now.steady - last_look_->steady;
    const auto jump = now.database - last_look_->database - elapsed;
    if (std::chrono::abs(jump) >= kMinJump) {
        log_warning("database_clock_jumped",
                    {{"by_s", std::chrono::duration<double>(jump).count()}, {"effect", "silence counts anew"}});
        return true;
    }
    return elapsed > kMissedLooks * limits_.period;
}

std::vector<SilentCenter> HeartbeatMonitor::look(pqxx::work& transaction, SteadyTime now)
{
    const Moment moment{.database = database_now(transaction), .steady = now};
    if (counts_anew(moment)) watched_since_ = moment.database;
    last_look_ = moment;
    std::vector<SilentCenter> marked =
        mark_silent_centers(transaction, watched_since_, limits_.suspect_after, limits_.lost_after);
    for (const SilentCenter& center : marked) {
        notify(transaction, "catalog", center.id.value);
        log_after_commit(LogLevel::kWarning, "center_silent",
                         {{"center", center.name},
                          {"center_id", center.id.value},
                          {"state", center.state},
                          {"silent_s", center.silent_s}});
    }
    if (!marked.empty()) notify(transaction, "route", "");
    return marked;
}

} // namespace fathom::server
