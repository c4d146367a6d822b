#pragma once

#include "server/api/caller.hpp"
#include "server/api/compute_pool.hpp"
#include "server/identity/account_store.hpp"
#include "server/identity/identity_service.hpp"

namespace fathom::server {

/// Who may sign in, as admins keep them. Thread-safe.
class AccountService {
  public:
    /// All must outlive the service.
    AccountService(Database& database, IdentityService& identity, ComputePool& compute);

    struct NewAccountRequest {
        std::string name;
        Role role{Role::kViewer};
        std::string password;
    };
    /// @error kInvalid   the password holds the name.
    /// @error kConflict  there is an account of this name.
    asio::awaitable<Result<AccountRow>> create(Caller caller, NewAccountRequest wanted);

    struct Change {
        std::optional<Role> role;
        std::optional<std::string> password; ///< ends all sessions of the account
        std::optional<bool> is_disabled;     ///< ends them, too
    };
    /// @error kNotFound  no such account.
    /// @error kConflict  nobody who may make tokens and accounts would be left; or the account's provider decides on
    /// it.
    asio::awaitable<Result<AccountRow>> change(Caller caller, std::string name, Change change);
    /// Its sessions end; what it did goes on, under the identity that is left.
    /// @error as change()
    asio::awaitable<Result<void>> remove(Caller caller, std::string name);

    /// By name.
    asio::awaitable<Result<std::vector<AccountRow>>> list(std::string after, std::int64_t limit);
    /// @error kNotFound
    asio::awaitable<Result<AccountRow>> get(std::string name);

  private:
    asio::awaitable<Result<std::string>> hashed(std::string password);

    Database* database_;
    IdentityService* identity_;
    ComputePool* compute_;
};

/// Why a password is not good enough for an account; empty when it is.
std::optional<FieldError> find_weakness(std::string_view field, std::string_view name, std::string_view password);

/// Names stand in paths, logs and commands.
bool is_account_name(std::string_view name);

} // namespace fathom::server
