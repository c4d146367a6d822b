#pragma once

#include "schema/link/messages.hpp"
#include "server/store/transaction.hpp"

#include <vector>

/// How attempts wait at their centers. All functions take the caller's transaction, block, and let pqxx's exceptions
/// through to Database::run.
namespace fathom::server {

/// How those of these attempts wait that are waiting ones of the center; of the others it writes nothing.
void upsert_attempt_queues(pqxx::work& transaction, const CenterId& center,
                           const std::vector<link::QueuedAttempt>& attempts);

/// The queues before those of these unit types that are the center's.
void upsert_type_queues(pqxx::work& transaction, const CenterId& center, const std::vector<TypeQueue>& queues);

} // namespace fathom::server
