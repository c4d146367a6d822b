#include "server/app/room_options.hpp"

#include "core/net/tls_context.hpp"
#include "server/identity/oidc/https_fetch.hpp"
#include "server/metering/metering_store.hpp"
#include "server/operators/followed_library.hpp"

#include <utility>

namespace fathom::server {
namespace {

/// Cycles in which nothing started are many, and say little that the next one does not.
constexpr std::chrono::hours kKeepIdleCycles{1};

} // namespace

AgentHubOptions hub_options(const RoomContext& context)
{
    AgentHubOptions options =
        options_within({.suspect_after = context.settings.suspect_after, .lost_after = context.settings.lost_after});
    options.replica = context.replica.value;
    return options;
}

VerificationChoice verification_choice(const ServerSettings& settings, bool can_verify)
{
    VerificationChoice choice;
    choice.is_possible = can_verify;
    choice.share = settings.verify_one_in > 0 ? 1 / static_cast<double>(settings.verify_one_in) : 0;
    return choice;
}

std::optional<MetricPolicy> active_policy(pqxx::work& transaction)
{
    Result<PolicyRecord> found = find_policy(transaction, "");
    if (!found) return std::nullopt;
    return std::move(found->policy);
}

VerificationState verification_state(const RoomContext& context, bool can_verify)
{
    const VerificationChoice choice = verification_choice(context.settings, can_verify);
    return {choice.is_possible, choice.share};
}

CycleLimits cycle_limits(const RetentionRule& keep, Timestamp now)
{
    CycleLimits limits{.most_bytes = keep.cycle_bytes, .oldest = {}, .oldest_idle = now - kKeepIdleCycles};
    if (keep.cycles > std::chrono::days(0)) limits.oldest = now - keep.cycles;
    return limits;
}

std::unique_ptr<OidcService> make_oidc(const RoomContext& context, SessionService& sessions)
{
    const OidcSettings& settings = context.settings.oidc;
    if (!settings.is_on()) return nullptr;
    net::TlsContext tls = net::make_client_context(settings.authority_pem, nullptr).value(); // tried with the settings
    return std::make_unique<OidcService>(settings, https_fetch(std::move(tls)), context.database, context.identity,
                                         sessions, context.clock, context.metrics);
}

std::unique_ptr<LibraryFollower> make_library_follower(const RoomContext& context, OperatorsService& operators,
                                                       ProbeRunTerminator& runs)
{
    const LibraryPlace& place = context.settings.library;
    if (!place.is_on()) return nullptr;
    operators.copy_from(place.url);
    LibrarySite site = library_over_https(place).value(); // tried with the settings
    return std::make_unique<LibraryFollower>(context.database, operators, runs, place, std::move(site),
                                             context.metrics);
}

JobRules job_rules(const RoomContext& context)
{
    return {.unknown_projects = context.settings.unknown_projects,
            .space = &context.space,
            .quota = context.settings.quota,
            .most_priority = context.settings.most_priority,
            .keep_jobs = context.settings.keep.jobs};
}

} // namespace fathom::server
