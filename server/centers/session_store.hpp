#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/model/center.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// What agents' sessions keep in the database. All functions take the caller's transaction, block, and
/// let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// A connection that may act for a center until a newer one takes its place.
struct SessionGrant {
    CenterId center_id;
    std::string center_name;
    std::int64_t epoch{};
};

/// Opens a session for the holder of a certificate; older sessions of the center end by it. Empty when
/// the certificate is not, or no longer, this center's. An agent that comes with its newest certificate
/// ends the time of grace of the one before.
/// @param host_id  of the host that the center's jobs run on; empty: the agent does not say.
std::optional<SessionGrant> open_session(pqxx::transaction_base& transaction, const CenterId& center,
                                         const std::string& certificate_serial, const std::string& replica,
                                         const std::string& agent_version, const Json& facts,
                                         const std::string& host_id);

/// Keeps which authorities' certificates (SHA-256, in hex) a center's agent trusts, where this session is its newest.
/// @param authorities  empty: an older agent, which does not say.
void store_trusted_authorities(pqxx::transaction_base& transaction, const SessionGrant& grant,
                               const std::optional<std::vector<std::string>>& authorities);

/// Sessions that hold; those that are missing were superseded or revoked.
struct HeldSessions {
    std::set<CenterId> centers;
    std::set<CenterId> returned; ///< of them, those that were suspect or lost until now
};
/// Notes that the agents of these sessions, one a center, were heard.
HeldSessions touch_sessions(pqxx::transaction_base& transaction, std::span<const SessionGrant> grants);
/// Only looks which of them hold.
std::set<CenterId> held_sessions(pqxx::transaction_base& transaction, std::span<const SessionGrant> grants);
bool holds_session(pqxx::transaction_base& transaction, const SessionGrant& grant);

/// Keeps the facts of a center whose session this is. True when they changed.
bool store_facts(pqxx::transaction_base& transaction, const SessionGrant& grant, const Json& facts);

/// How many names of unit types the center would have used, ever, with those of this catalog; 0 where none is new.
std::int64_t count_unit_type_names(pqxx::transaction_base& transaction, const CenterId& center, const Catalog& catalog);

/// Adds and changes unit types by name and makes those that are not named inactive. True when anything
/// that routing looks at changed.
bool store_catalog(pqxx::transaction_base& transaction, const CenterId& center, const Catalog& catalog);

/// A center whose state the heartbeat monitor changed.
struct SilentCenter {
    CenterId id;
    std::string name;
    std::string state; ///< "suspect" or "lost"
    double silent_s{};
};
/// Marks centers that were silent too long. Silence counts from `watched_since` on at the earliest.
std::vector<SilentCenter> mark_silent_centers(pqxx::transaction_base& transaction, Timestamp watched_since,
                                              std::chrono::seconds suspect_after, std::chrono::seconds lost_after);

} // namespace fathom::server
