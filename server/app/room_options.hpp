#pragma once

// Internal to server/app.

#include "core/decide/scoring/metric_policy.hpp"
#include "server/app/rooms.hpp"
#include "server/centers/sessions/agent_hub.hpp"
#include "server/identity/oidc/oidc_service.hpp"
#include "server/jobs/jobs_service.hpp"
#include "server/metering/trust_api.hpp"
#include "server/operators/library_follower.hpp"
#include "server/probing/results/probe_results.hpp"
#include "server/retention/retention_task.hpp"
#include "server/routing/cycles/cycle_store.hpp"

#include <memory>
#include <optional>

/// What rooms are built with, from the settings of the server.
namespace fathom::server {

/// Of the connections with agents.
AgentHubOptions hub_options(const RoomContext& context);

/// Which results of probes are verified. @param can_verify  here.
VerificationChoice verification_choice(const ServerSettings& settings, bool can_verify);
/// The same, as users are told.
VerificationState verification_state(const RoomContext& context, bool can_verify);

/// For scores of unit types; none while the active one cannot be read.
std::optional<MetricPolicy> active_policy(pqxx::work& transaction);

/// Which scheduling cycles stay.
CycleLimits cycle_limits(const RetentionRule& keep, Timestamp now);

/// Null where no provider is set up.
std::unique_ptr<OidcService> make_oidc(const RoomContext& context, SessionService& sessions);

/// Null where the library is this network's own.
std::unique_ptr<LibraryFollower> make_library_follower(const RoomContext& context, OperatorsService& operators,
                                                       ProbeRunTerminator& runs);

/// Which jobs are taken.
JobRules job_rules(const RoomContext& context);

} // namespace fathom::server
