#pragma once

#include "server/api/api_router.hpp"
#include "server/store/database.hpp"

#include <functional>
#include <optional>

namespace fathom::server {

/// What a request with an Idempotency-Key header carries: who, the key, and the SHA-256 of method, path and body.
struct IdempotencyKey {
    std::string token_id;
    std::string key;
    std::string request_sha256;
};

/// Empty when the request has no such header.
/// @error kInvalid  the key is longer than 255 bytes or not printable ASCII.
Result<std::optional<IdempotencyKey>> read_idempotency_key(const Call& call);

/// The answer that the first request with a key got.
struct StoredAnswer {
    int status{};
    std::string body;
    std::string location;          ///< empty for none
    std::vector<std::string> jobs; ///< ids of those that the request made; then the body is made of them, and not kept
};

/// The answer again, with `Idempotent-Replayed: true`.
net::Response replay(const StoredAnswer& answer);

// Inside the transaction that does the work, the exact way: the key, the effect and the answer commit
// together, so that a crash at any moment leaves all or nothing. A duplicate that runs at the same time waits
// in claim_key() until the first has committed.

/// Takes the key, or gives the answer to replay.
/// @error kConflict  the key was used with another request, or its first request still runs.
Result<std::optional<StoredAnswer>> claim_key(pqxx::work& transaction, const IdempotencyKey& key);
void store_answer(pqxx::work& transaction, const IdempotencyKey& key, const StoredAnswer& answer);

/// The simple way, around a whole handler: the key is taken in a transaction of its own before `handler`
/// runs, and its answer is stored right after. Answers of 4xx and 5xx are not kept: the client may send the key
/// again. A crash between effect and answer lets a repeat run once more after a minute: where that matters use
/// claim_key(). Requests without the header go straight through.
/// @param secret_field  name of a field of the answer that must not be stored; a replay has null there.
ApiHandler idempotent(Database& database, ApiHandler handler, std::string secret_field = "");

/// The work of the clean-up periodic task: removes keys older than a day, for at most about two seconds. Where the
/// database's clock jumps ahead between two of its turns, keys are kept for a day all the same (SteadyAge).
std::function<Result<void>(pqxx::work&)> old_key_removal();

} // namespace fathom::server
