#pragma once

#include "core/net/router.hpp"
#include "core/net/task_group.hpp"
#include "server/centers/enrolment_service.hpp"
#include "server/centers/sessions/heartbeat_monitor.hpp"
#include "server/ports/attempt_gateway.hpp"
#include "server/ports/balance_gateway.hpp"
#include "server/ports/library_source.hpp"
#include "server/ports/sub_unit_gateway.hpp"
#include "server/store/notifier.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace fathom::server {

struct AgentHubOptions {
    std::string replica;
    std::chrono::seconds heartbeat{10};               ///< what agents are asked for
    std::chrono::milliseconds hello_time{10000};      ///< from the connection to its first message
    std::chrono::milliseconds order_tick{5000};       ///< orders are looked for at least so often
    std::chrono::milliseconds touch_period{3000};     ///< last_seen_at is written at most so often
    std::chrono::milliseconds catalog_pause{2000};    ///< between changed catalogs of a center, after some in a row
    std::chrono::milliseconds notice_pause{1000};     ///< between catalogs read for what one center reports often
    int connections_in_a_row = 30;                    ///< of one certificate
    std::chrono::milliseconds connection_pause{2000}; ///< between further ones
    /// Sessions end when the database could not be reached for so long: other replicas may reach it.
    std::chrono::milliseconds longest_away{150000};
};

/// What the sessions work with. All outlive the hub.
struct AgentHubParts {
    Database& database;
    AttemptGateway& gateway;
    EnrolmentService& enrolment;
    SubUnitGateway* sub_units = nullptr;    ///< none: agents' sub-units are refused
    BalanceGateway* balance = nullptr;      ///< none: agents are told not to tell what their balance loops do
    const LibrarySource* library = nullptr; ///< none: agents match with what they have
};

/// A center that is well must be heard, and that be written down, well before it would count as silent, on another
/// replica before its jobs would count as lost.
/// @param limits  suspect_after: 3 s at least
AgentHubOptions options_within(const HeartbeatLimits& limits);

/// The agents' connections on this replica. One session a center: a newer connection ends the older one,
/// here at once, on other replicas through the wake-up "center". A certificate that connects again and again is turned
/// away for a while, before that costs the database anything: two agents with one certificate end each other's
/// sessions. Thread-safe.
class AgentHub {
  public:
    AgentHub(const AgentHubParts& parts, AgentHubOptions options);
    ~AgentHub();
    AgentHub(const AgentHub&) = delete;
    AgentHub& operator=(const AgentHub&) = delete;

    /// Adds `/link/v1` to the router of the agents' listener.
    void add_route(net::Router& router);
    /// Listens to "dispatch" (orders wait), "question" (so do questions), "sub_unit" (a center is to have other ones),
    /// "center_resources" (or to offer something else) and "center" (a session may be superseded). Before
    /// Notifier::start().
    void subscribe(Notifier& notifier);

    /// What profiled jobs are matched with has changed: agents are told.
    void library_changed();
    /// What the network trusts, or signs by, has changed: agents are told.
    void authorities_changed();

    /// Begins to keep the sessions (SessionKeeper), on a strand of its own.
    void start(asio::any_io_executor executor);

    /// Ends all sessions and takes no new ones.
    void close();
    /// Blocks until their work has ended; false at the limit.
    bool wait(std::chrono::milliseconds limit);

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace fathom::server
