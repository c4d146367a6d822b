#pragma once

#include "server/app/server_settings.hpp"
#include "server/app/supervisor_link.hpp"

#include <functional>

namespace fathom::server {

/// What the server does in its own process; returns its exit status.
using ServerMain = std::function<int(SupervisorLink&)>;

/// fathomd is two processes. The *supervisor* keeps the rights it was started with and hears only the server: it holds
/// the state folder, runs the embedded PostgreSQL and verifying probes, each as a user of its own, writes two files,
/// and passes SIGTERM and SIGINT on; who asks for a stop again has the server killed. The *server* (`serve`, in a
/// child) hears the network. Started as root it becomes the user `fathomd`, or one of its own where there is no such
/// account (own_user), once `prepare` has been called in it: `prepare` binds ports. Neither outlives the other: what
/// one does when the other is killed, the kernel does. Call it before there are threads. Blocks until both have ended.
/// @return the server's exit status, 128 + N when signal N ended it, 1 when it could not be started or had to stop at
/// once.
int run_supervised(const ServerSettings& settings, const std::function<Result<void>()>& prepare,
                   const ServerMain& serve);

} // namespace fathom::server
