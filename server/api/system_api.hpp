#pragma once

#include "core/base/metrics.hpp"
#include "core/net/router.hpp"
#include "server/api/api_router.hpp"
#include "server/store/database.hpp"

#include <functional>
#include <string>

namespace fathom::server {

/// Adds what lives outside /api/v1, open to all: /healthz, /readyz, /openapi.json.
/// `embedded_state` says how the embedded PostgreSQL is ("ok" or what is wrong); null when there is none.
/// `is_disk_low` says whether new jobs are refused for want of room; null: they never are. All must outlive the router.
void add_system_routes(net::Router& router, Database& database, std::function<std::string()> embedded_state,
                       std::function<bool()> is_disk_low = nullptr);

/// /metrics for whoever may read the network; the metrics must outlive the router.
void add_metrics_route(ApiRouter& router, Metrics& metrics);
/// The same for all who reach the listener.
void add_open_metrics_route(net::Router& router, Metrics& metrics);

} // namespace fathom::server
