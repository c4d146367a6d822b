#pragma once

#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"
#include "server/api/caller.hpp"

#include <string>

namespace pqxx {
class transaction_base;
}

/// Changes of centers that people and periodic tasks make alike. All functions take the caller's transaction, block,
/// and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// Routing, lists and sessions look again.
void announce_center(pqxx::transaction_base& transaction, const CenterId& center);

/// Closes a center to jobs; its probes go on. One that is closed already stays as it is.
/// @param reason    for people. @param evidence  for the audit log.
/// @return false when it was closed already.
bool quarantine_center(pqxx::transaction_base& transaction, const Caller& caller, const CenterId& center,
                       const std::string& reason, Json evidence);
/// Says with the reason of a quarantine why no probe can end it; writes and logs only what has changed.
/// @param obstacle  for people; empty: there is none any more.
void note_quarantine_obstacle(pqxx::transaction_base& transaction, const CenterId& center, const std::string& obstacle);
/// Lets a quarantined center take jobs again; what they came to before is forgiven.
/// @return false when it was not closed.
bool release_center(pqxx::transaction_base& transaction, const Caller& caller, const CenterId& center, Json evidence);

} // namespace fathom::server
