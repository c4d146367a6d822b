#include "server/identity/account_service.hpp"

#include "core/base/secret.hpp"
#include "server/identity/audit.hpp"
#include "server/identity/password_hash.hpp"
#include "server/identity/session_store.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

Error no_such_account(const std::string& name)
{
    return {Errc::kNotFound, "there is no account " + name};
}

Error decided_elsewhere(const AccountRow& account)
{
    return {Errc::kConflict, account.name + " signs in by " + account.issuer.value_or("") +
                                 ": the role comes from the groups there, and there is no password"};
}

/// After a change that may have taken an administrator's rights.
Result<void> check_admin_is_left(pqxx::work& transaction)
{
    if (count_usable_admin_tokens(transaction) > 0) return {};
    return Error{Errc::kConflict, "nobody with the role admin would be left; make another admin first"};
}

/// @param hash  of the new password, where there is one.
/// @return what the audit is told: never the password.
Json write_change(pqxx::work& transaction, const std::string& name, const AccountService::Change& change,
                  const std::string& hash)
{
    Json detail = Json::object();
    if (change.role) {
        set_account_role(transaction, name, *change.role);
        detail["role"] = std::string(to_string(*change.role));
    }
    if (change.is_disabled) {
        set_account_disabled(transaction, name, *change.is_disabled);
        detail["disabled"] = *change.is_disabled;
    }
    if (change.password) {
        set_account_password(transaction, name, hash);
        detail["password"] = "changed";
    }
    return detail;
}

} // namespace

std::optional<FieldError> find_weakness(std::string_view field, std::string_view name, std::string_view password)
{
    if (password.find(name) == std::string_view::npos) return std::nullopt;
    return FieldError{std::string(field), "must not hold the account's name"};
}

bool is_account_name(std::string_view name)
{
    constexpr std::size_t kMaxBytes = 64;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto is_allowed = [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == '@';
    };
    return !name.empty() && name.size() <= kMaxBytes && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(), is_allowed);
}

AccountService::AccountService(Database& database, IdentityService& identity, ComputePool& compute)
    : database_(&database), identity_(&identity), compute_(&compute)
{
}

asio::awaitable<Result<std::string>> AccountService::hashed(std::string password)
{
    auto work = [&password] { return hash_password(password); };
    co_return co_await compute_->run("", work);
}

asio::awaitable<Result<AccountRow>> AccountService::create(Caller caller, NewAccountRequest wanted)
{
    if (const std::optional<FieldError> weakness = find_weakness("password", wanted.name, wanted.password))
        co_return Error(Errc::kInvalid, "the account has 1 error", {*weakness});
    const Result<std::string> hash = co_await hashed(wanted.password);
    if (!hash) co_return hash.error();
    const NewAccount account{.name = wanted.name,
                             .token_id = TokenId::make().value,
                             .secret_sha256 = sha256_hex(new_secret(kApiSecretPrefix)),
                             .password_hash = *hash,
                             .role = wanted.role,
                             .created_by = caller.actor};
    auto work = [&](pqxx::work& transaction) -> Result<AccountRow> {
        if (!insert_account(transaction, account))
            return Error{Errc::kConflict, "there is an account " + account.name + " already"};
        audit(transaction, caller.actor, "account.create", account.name, caller.request_id,
              {{"role", std::string(to_string(account.role))}, {"identity", account.token_id}});
        return find_account(transaction, account.name).value();
    };
    co_return co_await database_->run(work);
}

asio::awaitable<Result<AccountRow>> AccountService::change(Caller caller, std::string name, Change change)
{
    std::string hash;
    if (change.password) {
        if (const std::optional<FieldError> weakness = find_weakness("password", name, *change.password))
            co_return Error(Errc::kInvalid, "the change has 1 error", {*weakness});
        Result<std::string> made = co_await hashed(*change.password);
        if (!made) co_return made.error();
        hash = std::move(*made);
    }
    auto work = [&](pqxx::work& transaction) -> Result<AccountRow> {
        lock_admin_tokens(transaction);
        const std::optional<AccountRow> account = find_account(transaction, name);
        if (!account) return no_such_account(name);
        if (account->issuer && (change.role || change.password)) return decided_elsewhere(*account);
        const Json detail = write_change(transaction, name, change, hash);
        if (change.password || change.is_disabled.value_or(false)) remove_web_sessions_of(transaction, name, "");
        if (Result<void> left = check_admin_is_left(transaction); !left) return left.error();
        audit(transaction, caller.actor, "account.change", name, caller.request_id, detail);
        notify(transaction, "identity", "");
        return find_account(transaction, name).value();
    };
    const Result<AccountRow> outcome = co_await database_->run(work);
    if (outcome) identity_->forget_known();
    co_return outcome;
}

asio::awaitable<Result<void>> AccountService::remove(Caller caller, std::string name)
{
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        lock_admin_tokens(transaction);
        const std::optional<AccountRow> account = find_account(transaction, name);
        if (!account) return no_such_account(name);
        remove_account(transaction, name);
        if (Result<void> left = check_admin_is_left(transaction); !left) return left;
        audit(transaction, caller.actor, "account.remove", name, caller.request_id, {{"identity", account->token_id}});
        notify(transaction, "identity", "");
        return {};
    };
    const Result<void> outcome = co_await database_->run(work);
    if (outcome) identity_->forget_known();
    co_return outcome;
}

asio::awaitable<Result<std::vector<AccountRow>>> AccountService::list(std::string after, std::int64_t limit)
{
    auto work = [&](pqxx::work& transaction) -> Result<std::vector<AccountRow>> {
        return list_accounts(transaction, after, limit);
    };
    co_return co_await database_->run(work);
}

asio::awaitable<Result<AccountRow>> AccountService::get(std::string name)
{
    auto work = [&](pqxx::work& transaction) -> Result<AccountRow> {
        std::optional<AccountRow> account = find_account(transaction, name);
        if (!account) return no_such_account(name);
        return std::move(*account);
    };
    co_return co_await database_->run(work);
}

} // namespace fathom::server
