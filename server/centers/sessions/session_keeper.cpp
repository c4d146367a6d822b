#include "server/centers/sessions/session_keeper.hpp"

#include "core/base/log.hpp"
#include "core/net/task_group.hpp"
#include "server/store/notifier.hpp"
#include "server/store/transaction.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// A newer connection or a revocation ends a session within so long, on whatever replica.
constexpr std::chrono::milliseconds kMaxRound = 1s;
constexpr std::chrono::milliseconds kMinRound = 50ms;

} // namespace

SessionKeeper::SessionKeeper(AgentSessionParts parts, SessionKeeperOptions options, Sessions sessions)
    : parts_(parts), options_(std::move(options)), sessions_(std::move(sessions))
{
}

asio::awaitable<void> SessionKeeper::run()
{
    const std::chrono::milliseconds round =
        std::clamp(std::min(options_.order_tick, options_.touch_period), kMinRound, kMaxRound);
    SteadyTime next_orders = std::chrono::steady_clock::now() + options_.order_tick;
    for (;;) {
        co_await net::TaskGroup::sleep(round);
        const SteadyTime now = std::chrono::steady_clock::now();
        std::vector<Due> due = due_sessions(now);
        if (!due.empty()) co_await keep_standing(std::move(due), now);
        if (now < next_orders) continue;
        next_orders = now + options_.order_tick;
        co_await look_for_orders();
    }
}

std::vector<SessionKeeper::Due> SessionKeeper::due_sessions(SteadyTime now) const
{
    std::vector<Due> due;
    for (std::shared_ptr<AgentSession>& session : sessions_()) {
        const AgentSession::Standing standing = session->take_standing(now, options_.touch_period);
        if (standing == AgentSession::Standing::kKnown) continue;
        due.push_back({std::move(session), standing == AgentSession::Standing::kHeard});
    }
    return due;
}

asio::awaitable<void> SessionKeeper::keep_standing(std::vector<Due> due, SteadyTime now)
{
    std::vector<SessionGrant> heard;
    std::vector<SessionGrant> asked;
    for (const Due& one : due)
        (one.is_touched ? heard : asked).push_back(one.session->grant());
    auto work = [&](pqxx::work& transaction) -> Result<HeldSessions> {
        HeldSessions held = touch_sessions(transaction, heard);
        held.centers.merge(held_sessions(transaction, asked));
        for (const CenterId& center : held.returned)
            notify(transaction, "catalog", center.value);
        if (!held.returned.empty()) notify(transaction, "route", "");
        return held;
    };
    const Result<HeldSessions> held = co_await parts_.database->run(std::move(work), DatabaseLine::kVital);
    if (!held) {
        // The next round looks again, and silence counts from when the database is back.
        for (const Due& one : due)
            one.session->standing_unknown(one.is_touched);
        note_away(std::chrono::steady_clock::now());
        co_return;
    }
    away_since_.reset();
    for (const Due& one : due) {
        if (one.is_touched) one.session->was_touched(now);
        const SessionGrant& grant = one.session->grant();
        if (held->returned.contains(grant.center_id)) log_info("center_returned", {{"center", grant.center_name}});
        if (held->centers.contains(grant.center_id)) continue;
        log_info("agent_session_superseded", {{"center", grant.center_name}, {"epoch", grant.epoch}});
        one.session->end("superseded by a newer connection, or revoked");
    }
}

void SessionKeeper::note_away(SteadyTime now)
{
    if (!away_since_) away_since_ = now;
    if (now - *away_since_ < options_.longest_away) return;
    const std::vector<std::shared_ptr<AgentSession>> open = sessions_();
    log_warning("agent_sessions_given_up",
                {{"sessions", open.size()},
                 {"away_s", std::chrono::duration_cast<std::chrono::seconds>(now - *away_since_).count()},
                 {"reason", "the database cannot be reached"},
                 {"effect", "agents connect again, to a replica that reaches it"}});
    for (const std::shared_ptr<AgentSession>& session : open)
        session->end("this replica cannot reach the database");
    away_since_.reset();
}

asio::awaitable<void> SessionKeeper::look_for_orders() const
{
    std::string replica = options_.replica;
    const Result<std::vector<CenterId>> waited_for = co_await parts_.gateway->centers_with_orders(std::move(replica));
    if (!waited_for) {
        log_warning("agent_orders_failed", {{"error", describe(waited_for.error())}});
        co_return;
    }
    if (waited_for->empty()) co_return;
    const std::set<CenterId> centers(waited_for->begin(), waited_for->end());
    for (const std::shared_ptr<AgentSession>& session : sessions_()) {
        if (centers.contains(session->grant().center_id)) session->wake();
    }
}

} // namespace fathom::server
