#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/base/metrics.hpp"
#include "core/net/router.hpp"
#include "core/net/task_group.hpp"
#include "core/net/tls.hpp"
#include "server/api/api_router.hpp"
#include "server/app/periodic_task.hpp"
#include "server/app/server_settings.hpp"
#include "server/app/supervisor_link.hpp"
#include "server/identity/identity_service.hpp"
#include "server/identity/network_authorities.hpp"
#include "server/retention/free_space.hpp"
#include "server/store/database.hpp"
#include "server/store/notifier.hpp"

#include <memory>

namespace fathom::server {

/// What the rooms are built from. Owned by Application; outlives the rooms.
struct RoomContext {
    asio::any_io_executor executor; ///< of the io threads; make a strand where order matters
    Database& database;
    Notifier& notifier;                 ///< subscribe in a constructor; it starts after all rooms are built
    PeriodicTaskRunner& periodic_tasks; ///< add in a constructor; it starts after all rooms are built
    net::TaskGroup& tasks;              ///< background coroutines; closed first when the server stops
    Metrics& metrics;
    const Clock& clock;
    IdentityService& identity;
    AuthorityHolder& authorities; ///< sign agents' certificates
    const ServerSettings& settings;
    const FreeSpace& space;     ///< of the database
    SupervisorLink& supervisor; ///< runs verifying probes
    const ReplicaId& replica;   ///< fresh at each start of fathomd
    ApiRouter& api;             ///< REST listener, prefix /api/v1
    net::Router& router;        ///< REST listener, any path
    ApiRouter& agent_api;       ///< agent listener, prefix /api/v1 (enrolment)
    net::Router& agent_router;  ///< agent listener, any path (the agents' WebSocket)
};

/// The features. The constructor builds each room in the order of who needs whom and adds its routes,
/// subscriptions and periodic tasks; nothing runs yet. Not thread-safe.
class Rooms {
  public:
    explicit Rooms(const RoomContext& context);
    ~Rooms(); ///< in reverse order
    Rooms(const Rooms&) = delete;
    Rooms& operator=(const Rooms&) = delete;

    /// Before the listeners open: first snapshots and the like; may block. An error stops the start.
    Result<void> start();
    /// Before the listeners close, which waits for requests: those that compute for long are told to end. Thread-safe.
    void interrupt();
    /// The listeners are closed and no request runs; io threads still run. Ends what start() began.
    void stop();
    /// The database has stopped, so nothing waits for it any more. False when something of the rooms still runs after
    /// `limit`: then nothing that it may use can be destroyed.
    bool wait(std::chrono::milliseconds limit);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace fathom::server
