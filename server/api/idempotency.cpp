#include "server/api/idempotency.hpp"

#include "core/base/log.hpp"
#include "core/base/secret.hpp"
#include "server/store/database_now.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"
#include "server/store/steady_age.hpp"

namespace fathom::server {
namespace {

// Waits for a transaction in flight that has taken the same key, and then sees its outcome: by the lock, which single
// submissions of many try for without waiting (jobs_insert_jobs), and by ON CONFLICT where an earlier version took
// none. A claim without an answer after a minute belongs to a replica that died: it is taken over.
constexpr Statement kClaim{"api_claim_idempotency_key", R"sql(
    WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock(7233019, hashtext($1::text || ' ' || $2::text)))
    INSERT INTO idempotency_key AS mine (token_id, key, request_sha256) SELECT $1::text, $2::text, $3::text FROM held
    ON CONFLICT (token_id, key) DO UPDATE SET created_at = now(), request_sha256 = $3::text
        WHERE mine.response_status = 0 AND mine.created_at < now() - interval '1 minute'
    RETURNING 1)sql"};
constexpr Statement kFind{"api_find_idempotency_key", R"sql(
    SELECT request_sha256, response_status, response_body, response_location, to_json(response_jobs) AS jobs
    FROM idempotency_key WHERE token_id = $1 AND key = $2)sql"};
constexpr Statement kStore{"api_store_idempotent_answer", R"sql(
    UPDATE idempotency_key SET response_status = $3, response_body = $4, response_location = $5,
        response_jobs = $6::text[]
    WHERE token_id = $1 AND key = $2)sql"};
constexpr Statement kRelease{"api_release_idempotency_key",
                             "DELETE FROM idempotency_key WHERE token_id = $1 AND key = $2 AND response_status = 0"};
constexpr Statement kRemoveOld{"api_remove_old_idempotency_keys", R"sql(
    DELETE FROM idempotency_key WHERE ctid IN (
        SELECT ctid FROM idempotency_key WHERE created_at < $2::timestamptz LIMIT $1))sql"};

constexpr std::int64_t kRemovedAtOnce = 5000;
constexpr std::chrono::hours kKeysAreKept{24};
constexpr std::chrono::seconds kRemovalTime{2}; // what is left then is left to the next turn

/// What idempotent() shares between its requests.
struct Guard {
    Database* database;
    ApiHandler handler;
    std::string secret_field;
    Guard(Database& db, ApiHandler next, std::string secret)
        : database(&db), handler(std::move(next)), secret_field(std::move(secret))
    {
    }
};

StoredAnswer to_answer(const net::Response& response, const std::string& secret_field)
{
    StoredAnswer answer{response.status, response.body, {}, {}};
    if (const auto location = response.headers.find("Location"); location != response.headers.end())
        answer.location = location->second;
    if (!secret_field.empty()) {
        Json body = Json::parse(response.body, nullptr, false);
        if (body.is_object()) body[secret_field] = nullptr;
        answer.body = body.dump();
    }
    return answer;
}

/// Stores the answer, or gives the key back when it was refused.
asio::awaitable<void> settle(std::shared_ptr<const Guard> guard, IdempotencyKey key, StoredAnswer answer)
{
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        if (answer.status < 400)
            store_answer(transaction, key, answer);
        else
            exec(transaction, kRelease, key.token_id, key.key);
        return {};
    };
    const Result<void> settled = co_await guard->database->run(work);
    // The work itself is done, so the client gets its answer; a repeat gets a conflict or runs again.
    if (!settled) log_warning("idempotent_answer_not_stored", {{"error", describe(settled.error())}});
}

asio::awaitable<net::Response> serve(std::shared_ptr<const Guard> guard, Call call)
{
    const Result<std::optional<IdempotencyKey>> read = read_idempotency_key(call);
    if (!read) co_return net::problem(read.error(), call.request.request_id);
    const std::optional<IdempotencyKey>& given = *read;
    if (!given) co_return co_await guard->handler(std::move(call));

    const IdempotencyKey taken = *given;
    auto claim = [&taken](pqxx::work& transaction) { return claim_key(transaction, taken); };
    const Result<std::optional<StoredAnswer>> claimed = co_await guard->database->run(claim);
    if (!claimed) co_return net::problem(claimed.error(), call.request.request_id);
    if (const std::optional<StoredAnswer>& earlier = *claimed) co_return replay(*earlier);

    std::exception_ptr thrown;
    net::Response response;
    try {
        response = co_await guard->handler(std::move(call));
    } catch (...) {
        thrown = std::current_exception();
        response.status = 500;
    }
    StoredAnswer answer = to_answer(response, guard->secret_field);
    co_await settle(guard, taken, std::move(answer));
    if (thrown) std::rethrow_exception(thrown);
    co_return response;
}

void remove_keys_before(pqxx::work& transaction, Timestamp before)
{
    const std::string least = format_rfc3339(before);
    const auto limit = std::chrono::steady_clock::now() + kRemovalTime;
    while (exec(transaction, kRemoveOld, kRemovedAtOnce, least).affected_rows() >= kRemovedAtOnce &&
           std::chrono::steady_clock::now() < limit) {
    }
}

} // namespace

Result<std::optional<IdempotencyKey>> read_idempotency_key(const Call& call)
{
    const std::string_view header = call.request.header("Idempotency-Key");
    if (header.empty()) return std::optional<IdempotencyKey>();
    const bool printable = std::all_of(header.begin(), header.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (header.size() > 255 || !printable)
        return Error{Errc::kInvalid, "the Idempotency-Key must be 1 to 255 printable ASCII characters"};
    const net::Request& request = call.request;
    const std::string what = std::string(net::to_string(request.method)) + " " + request.target + "\n" + request.body;
    IdempotencyKey key{call.principal.token_id.value, std::string(header), sha256_hex(what)};
    return std::optional<IdempotencyKey>(std::move(key));
}

net::Response replay(const StoredAnswer& answer)
{
    net::Response response = net::json_response(answer.status, answer.body);
    if (!answer.location.empty()) response.headers["Location"] = answer.location;
    response.headers["Idempotent-Replayed"] = "true";
    return response;
}

Result<std::optional<StoredAnswer>> claim_key(pqxx::work& transaction, const IdempotencyKey& key)
{
    if (!exec(transaction, kClaim, key.token_id, key.key, key.request_sha256).empty())
        return std::optional<StoredAnswer>();
    const pqxx::result rows = exec(transaction, kFind, key.token_id, key.key);
    // Given back in between: the first request was refused just now.
    if (rows.empty())
        return Error{Errc::kConflict, "the first request with this Idempotency-Key just ended; try again"};
    if (rows[0][0].as<std::string>() != key.request_sha256)
        return Error{Errc::kConflict, "this Idempotency-Key was used with another request; take a new key"};
    StoredAnswer answer{rows[0][1].as<int>(), rows[0][2].as<std::string>(), rows[0][3].as<std::string>(),
                        Json::parse(rows[0][4].c_str()).get<std::vector<std::string>>()};
    if (answer.status == 0)
        return Error{Errc::kConflict, "the first request with this Idempotency-Key still runs; try again"};
    return std::optional<StoredAnswer>(std::move(answer));
}

void store_answer(pqxx::work& transaction, const IdempotencyKey& key, const StoredAnswer& answer)
{
    exec(transaction, kStore, key.token_id, key.key, answer.status, answer.body, answer.location,
         sql_array(answer.jobs));
}

ApiHandler idempotent(Database& database, ApiHandler handler, std::string secret_field)
{
    auto guard = std::make_shared<const Guard>(database, std::move(handler), std::move(secret_field));
    return [guard](Call call) { return serve(guard, std::move(call)); };
}

std::function<Result<void>(pqxx::work&)> old_key_removal()
{
    return [age = std::make_shared<SteadyAge>(kKeysAreKept)](pqxx::work& transaction) -> Result<void> {
        remove_keys_before(transaction, age->look(database_now(transaction), std::chrono::steady_clock::now()));
        return {};
    };
}

} // namespace fathom::server
