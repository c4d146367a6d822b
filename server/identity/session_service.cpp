#include "server/identity/session_service.hpp"

#include "core/base/log_limit.hpp"
#include "core/base/secret.hpp"
#include "core/net/network.hpp"
#include "server/identity/account_service.hpp"
#include "server/identity/audit.hpp"
#include "server/identity/password_hash.hpp"
#include "server/identity/session_store.hpp"

namespace fathom::server {
namespace {

constexpr std::int64_t kMaxSessions = 20; ///< of one token or account
constexpr std::size_t kWatched = 10000;

Error wrong_sign_in()
{
    return {Errc::kUnauthenticated, "the name or the password is wrong, or the account is disabled"};
}

Error too_many_failures()
{
    return {Errc::kTooMany, "too many wrong passwords lately; try again in a minute"};
}

} // namespace

SessionService::SessionService(Database& database, IdentityService& identity, ComputePool& compute, Metrics& metrics)
    : database_(&database), identity_(&identity), compute_(&compute), networks_(20, 0.5, kWatched),
      pairs_(5, 0.1, kWatched), names_(50, 0.2, kWatched),
      failures_(metrics.counter("fathom_sign_in_failures_total", "Attempts to sign in with a wrong name or password")),
      nobodys_hash_(hash_password(new_secret("")).value())
{
}

bool SessionService::begin_try(const SignIn& sign_in, const std::string& name)
{
    const auto now = std::chrono::steady_clock::now();
    const std::string network = net::network_of(sign_in.remote_address);
    if (!networks_.take(network, now)) return false;
    const std::string pair = network + " " + name;
    if (pairs_.take(pair, now)) {
        if (names_.take(name, now)) return true;
        pairs_.give_back(pair, now);
    }
    networks_.give_back(network, now);
    return false;
}

void SessionService::end_try(const SignIn& sign_in, const std::string& name)
{
    const auto now = std::chrono::steady_clock::now();
    const std::string network = net::network_of(sign_in.remote_address);
    networks_.give_back(network, now);
    pairs_.give_back(network + " " + name, now);
    names_.give_back(name, now);
}

void SessionService::note_failure(const SignIn& sign_in, const std::string& name)
{
    failures_.add();
    log_limited(
        "sign_in_failed",
        {{"account", name}, {"from", net::network_of(sign_in.remote_address)}, {"request_id", sign_in.request_id}});
}

asio::awaitable<Result<bool>> SessionService::matches(std::string hash, std::string password)
{
    auto work = [&]() -> Result<bool> { return password_matches(hash, password); };
    co_return co_await compute_->run_of_stranger(work);
}

asio::awaitable<Result<SessionService::Opened>> SessionService::open(SignIn sign_in, Principal principal,
                                                                     std::optional<std::string> account, Json detail)
{
    detail["from"] = net::network_of(sign_in.remote_address);
    Opened opened{.secret = new_secret(kSessionSecretPrefix), .view = {}};
    const NewWebSession session{.secret_sha256 = sha256_hex(opened.secret),
                                .token_id = principal.token_id.value,
                                .account = account,
                                .valid_s = std::chrono::seconds(kSessionValidity).count(),
                                .most_of_token = kMaxSessions};
    auto work = [&](pqxx::work& transaction) -> Result<WebSessionRow> {
        insert_web_session(transaction, session);
        if (account) note_sign_in(transaction, *account);
        audit(transaction, session.token_id, "session.open", account.value_or(session.token_id), sign_in.request_id,
              detail);
        // With what it may do in projects, which an account's row does not tell.
        if (std::optional<UsableToken> whose = find_usable_session(transaction, session.secret_sha256))
            principal.projects = std::move(whose->principal.projects);
        return find_web_session(transaction, session.secret_sha256).value();
    };
    const Result<WebSessionRow> row = co_await database_->run(work);
    if (!row) co_return row.error();
    opened.view = {std::move(principal), std::move(account), row->expires_at, row->has_password};
    co_return opened;
}

asio::awaitable<Result<SessionService::Opened>> SessionService::sign_in_by_token(SignIn sign_in, std::string token)
{
    ApiCredential credential{is_api_secret(token) ? ApiCredential::Kind::kToken : ApiCredential::Kind::kMalformed,
                             std::move(token)};
    Result<Principal> who = co_await identity_->authenticate(std::move(credential), sign_in.remote_address);
    if (!who) co_return who.error();
    co_return co_await open(std::move(sign_in), std::move(*who), std::nullopt, Json::object());
}

asio::awaitable<Result<SessionService::Opened>> SessionService::sign_in_by_password(SignIn sign_in, std::string name,
                                                                                    std::string password)
{
    if (!begin_try(sign_in, name)) co_return too_many_failures();
    auto work = [&](pqxx::work& transaction) -> Result<std::optional<AccountSecret>> {
        return find_account_secret(transaction, name);
    };
    const Result<std::optional<AccountSecret>> found = co_await database_->run(work);
    if (!found) {
        end_try(sign_in, name);
        co_return found.error();
    }
    AccountSecret nobody;
    nobody.password_hash = nobodys_hash_;
    nobody.is_disabled = true;
    AccountSecret account = found->value_or(nobody);
    if (account.password_hash.empty()) account = std::move(nobody); // a provider signs them in
    const Result<bool> is_right = co_await matches(account.password_hash, std::move(password));
    if (is_right && (account.is_disabled || !*is_right)) {
        note_failure(sign_in, name);
        co_return wrong_sign_in();
    }
    end_try(sign_in, name);
    if (!is_right) co_return is_right.error();
    co_return co_await open(std::move(sign_in), account.principal, std::move(name), Json::object());
}

asio::awaitable<Result<SessionService::Opened>> SessionService::open_for_account(SignIn sign_in, Principal principal,
                                                                                 std::string account, Json detail)
{
    co_return co_await open(std::move(sign_in), std::move(principal), std::move(account), std::move(detail));
}

asio::awaitable<Result<SessionService::View>> SessionService::view(ApiCredential credential, Principal principal)
{
    View view{std::move(principal), std::nullopt, std::nullopt, false};
    if (credential.kind != ApiCredential::Kind::kSession) co_return view;
    const std::string hash = sha256_hex(credential.secret);
    auto work = [&](pqxx::work& transaction) -> Result<std::optional<WebSessionRow>> {
        return find_web_session(transaction, hash);
    };
    const Result<std::optional<WebSessionRow>> found = co_await database_->run(work);
    if (!found) co_return found.error();
    if (!*found) co_return Error{Errc::kUnauthenticated, "the session is over; sign in again"};
    const WebSessionRow session = found->value_or(WebSessionRow{});
    view.account = session.account;
    view.expires_at = session.expires_at;
    view.has_password = session.has_password;
    co_return view;
}

asio::awaitable<Result<void>> SessionService::sign_out(Caller caller, ApiCredential credential)
{
    if (credential.kind != ApiCredential::Kind::kSession)
        co_return Error{Errc::kInvalid,
                        "no browser's session sent this; a token is revoked by DELETE /api/v1/tokens/ID"};
    const std::string hash = sha256_hex(credential.secret);
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        remove_web_session(transaction, hash);
        audit(transaction, caller.actor, "session.close", caller.actor, caller.request_id);
        notify(transaction, "identity", "");
        return {};
    };
    const Result<void> outcome = co_await database_->run(work);
    if (outcome) identity_->forget_known();
    co_return outcome;
}

asio::awaitable<Result<void>> SessionService::change_password(Caller caller, SignIn sign_in, ApiCredential credential,
                                                              std::string old_password, std::string new_password)
{
    const std::string session_sha256 = sha256_hex(credential.secret);
    struct Own {
        std::string name;
        std::string password_hash;
    };
    auto read = [&](pqxx::work& transaction) -> Result<std::optional<Own>> {
        const std::optional<WebSessionRow> session = find_web_session(transaction, session_sha256);
        if (!session || !session->account) return std::optional<Own>();
        std::optional<AccountSecret> account = find_account_secret(transaction, *session->account);
        if (!account || account->password_hash.empty()) return std::optional<Own>();
        return std::optional(Own{*session->account, std::move(account->password_hash)});
    };
    const Result<std::optional<Own>> found = co_await database_->run(read);
    if (!found) co_return found.error();
    const Own own = found->value_or(Own{});
    if (own.name.empty()) co_return Error{Errc::kConflict, "only who signed in with a password has one to change"};
    if (const std::optional<FieldError> weakness = find_weakness("new_password", own.name, new_password))
        co_return Error(Errc::kInvalid, "the change has 1 error", {*weakness});
    if (!begin_try(sign_in, own.name)) co_return too_many_failures();
    const Result<bool> is_right = co_await matches(own.password_hash, std::move(old_password));
    if (is_right && !*is_right) {
        note_failure(sign_in, own.name);
        co_return Error(Errc::kForbidden, "the old password is wrong", {{"old_password", "is wrong"}});
    }
    end_try(sign_in, own.name);
    if (!is_right) co_return is_right.error();
    auto hash = [&new_password] { return hash_password(new_password); };
    const Result<std::string> made = co_await compute_->run("", hash);
    if (!made) co_return made.error();
    auto write = [&](pqxx::work& transaction) -> Result<void> {
        set_account_password(transaction, own.name, *made);
        remove_web_sessions_of(transaction, own.name, session_sha256);
        audit(transaction, caller.actor, "account.change", own.name, caller.request_id, {{"password", "changed"}});
        notify(transaction, "identity", "");
        return {};
    };
    const Result<void> outcome = co_await database_->run(write);
    if (outcome) identity_->forget_known();
    co_return outcome;
}

} // namespace fathom::server
