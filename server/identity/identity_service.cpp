#include "server/identity/identity_service.hpp"

#include "core/base/secret.hpp"
#include "core/net/network.hpp"
#include "server/identity/audit.hpp"

namespace fathom::server {
namespace {

constexpr std::size_t kCachedTokens = 10000;
constexpr double kFailureBurst = 60;
constexpr double kFailuresPerSecond = 2;
constexpr std::size_t kWatchedNetworks = 10000;

const char* what_is_wrong(const ApiCredential& credential)
{
    return credential.kind == ApiCredential::Kind::kSession ? "the session is over; sign in again"
                                                            : "the token is unknown, expired or revoked";
}

std::optional<UsableToken> find_usable(pqxx::work& transaction, ApiCredential::Kind kind,
                                       const std::string& secret_sha256)
{
    return kind == ApiCredential::Kind::kSession ? find_usable_session(transaction, secret_sha256)
                                                 : find_usable_token(transaction, secret_sha256);
}

} // namespace

IdentityService::IdentityService(Database& database, Notifier& notifier, const Clock& clock, Metrics& metrics,
                                 std::chrono::seconds longest_validity)
    : database_(&database), clock_(&clock), longest_validity_(longest_validity), cache_(kCachedTokens),
      limiter_(kFailureBurst, kFailuresPerSecond, kWatchedNetworks),
      failures_(metrics.counter("fathom_authentication_failures_total", "Requests with a wrong or missing token")),
      limited_(metrics.counter("fathom_authentication_limited_total",
                               "Requests refused because their network sent too many wrong tokens"))
{
    notifier.subscribe("identity", [this](const std::string&) { cache_.clear(); });
}

asio::awaitable<Result<Principal>> IdentityService::authenticate(ApiCredential credential, std::string remote_address)
{
    if (credential.kind == ApiCredential::Kind::kNone)
        co_return reject("send an API token: Authorization: Bearer fth_…");
    if (credential.kind == ApiCredential::Kind::kMalformed)
        co_return reject("the Authorization header holds no API token (fth_…)");
    const std::string hash = sha256_hex(credential.secret);
    const auto now = std::chrono::steady_clock::now();
    if (std::optional<Principal> known = cache_.find(hash, now, clock_->now())) co_return std::move(*known);
    const std::string network = net::network_of(remote_address);
    // A secret that was good before is not a guess, so that a noisy neighbour cannot lock others out.
    if (!cache_.knows(hash) && !limiter_.allows(network, now)) {
        limited_.add();
        co_return Error{Errc::kTooMany, "too many wrong tokens from your address; try again in a minute"};
    }
    auto work = [&](pqxx::work& transaction) -> Result<std::optional<UsableToken>> {
        return find_usable(transaction, credential.kind, hash);
    };
    Result<std::optional<UsableToken>> found = co_await database_->run(work, DatabaseLine::kVital);
    if (!found) co_return found.error();
    std::optional<UsableToken>& token = *found;
    if (!token) {
        cache_.erase(hash);
        // Only what costs a query counts: a missing or malformed header is no guess.
        limiter_.record_failure(network, now);
        co_return reject(what_is_wrong(credential));
    }
    Principal principal = token->principal;
    cache_.put(hash, std::move(*token), now);
    co_return principal;
}

asio::awaitable<bool> IdentityService::still_allows(ApiCredential credential,
                                                    std::function<bool(const Principal&)> allows)
{
    const std::string hash = sha256_hex(credential.secret);
    const auto now = std::chrono::steady_clock::now();
    if (const std::optional<Principal> known = cache_.find(hash, now, clock_->now())) co_return allows(*known);
    auto work = [&](pqxx::work& transaction) -> Result<std::optional<UsableToken>> {
        return find_usable(transaction, credential.kind, hash);
    };
    Result<std::optional<UsableToken>> found = co_await database_->run(work, DatabaseLine::kVital);
    if (!found) co_return true;
    std::optional<UsableToken>& token = *found;
    if (!token) co_return false;
    const bool is_allowed = allows(token->principal);
    cache_.put(hash, std::move(*token), now);
    co_return is_allowed;
}

Result<Principal> IdentityService::reject(std::string why) const
{
    failures_.add();
    return Error{Errc::kUnauthenticated, std::move(why)};
}

asio::awaitable<Result<IdentityService::CreatedToken>>
IdentityService::create_token(Principal actor, TokenRequest wanted, std::string request_id)
{
    if (longest_validity_.count() > 0) {
        if (!wanted.valid_s) wanted.valid_s = longest_validity_.count();
        if (*wanted.valid_s > longest_validity_.count()) {
            const std::string most = std::to_string(longest_validity_.count());
            co_return Error(Errc::kInvalid, "the token would be good for too long",
                            {{"valid_s", "must be at most " + most + " here"}});
        }
    }
    const std::string secret = new_secret(kApiSecretPrefix);
    const NewToken token{.id = TokenId::make().value,
                         .name = wanted.name,
                         .secret_sha256 = sha256_hex(secret),
                         .role = wanted.role,
                         .created_by = actor.token_id.value,
                         .valid_s = wanted.valid_s};
    auto work = [&](pqxx::work& transaction) -> Result<TokenRow> {
        TokenRow row = insert_token(transaction, token);
        audit(transaction, actor.token_id.value, "token.create", row.id, request_id,
              {{"name", token.name}, {"role", std::string(to_string(token.role))}});
        return row;
    };
    Result<TokenRow> row = co_await database_->run(work);
    if (!row) co_return row.error();
    co_return CreatedToken{std::move(*row), secret};
}

asio::awaitable<Result<std::vector<TokenRow>>> IdentityService::list_tokens(std::string after, std::int64_t limit)
{
    auto work = [&](pqxx::work& transaction) -> Result<std::vector<TokenRow>> {
        return server::list_tokens(transaction, after, limit);
    };
    co_return co_await database_->run(work);
}

asio::awaitable<Result<void>> IdentityService::revoke_token(Principal actor, std::string id, std::string request_id)
{
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        lock_admin_tokens(transaction);
        const std::optional<TokenRow> row = find_token(transaction, id);
        if (!row) return Error{Errc::kNotFound, "there is no token " + id};
        if (row->revoked_at) return {};
        server::revoke_token(transaction, id);
        if (row->role == "admin" && count_usable_admin_tokens(transaction) == 0)
            return Error{Errc::kConflict, "this is the last admin token; make another one first"};
        audit(transaction, actor.token_id.value, "token.revoke", id, request_id, {{"name", row->name}});
        notify(transaction, "identity", "");
        return {};
    };
    Result<void> outcome = co_await database_->run(work);
    // This replica at once; the others when the wake-up reaches them.
    if (outcome) cache_.clear();
    co_return outcome;
}

} // namespace fathom::server
