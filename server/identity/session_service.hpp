#pragma once

#include "server/api/caller.hpp"
#include "server/api/compute_pool.hpp"
#include "server/identity/account_store.hpp"
#include "server/identity/api_credential.hpp"
#include "server/identity/failure_limiter.hpp"
#include "server/identity/identity_service.hpp"

namespace fathom::server {

/// How long a browser stays signed in.
inline constexpr std::chrono::hours kSessionValidity{12};

/// Browsers that sign in, with a name and a password or with an API token. Thread-safe.
class SessionService {
  public:
    /// All must outlive the service.
    SessionService(Database& database, IdentityService& identity, ComputePool& compute, Metrics& metrics);

    /// Who is signed in.
    struct View {
        Principal principal;
        std::optional<std::string> account;  ///< empty: by an API token
        std::optional<Timestamp> expires_at; ///< of the session; empty for a request by an API token itself
        bool has_password{};                 ///< that it may change here
    };
    struct Opened {
        std::string secret; ///< for the cookie; shown once and never kept
        View view;
    };
    struct SignIn {
        std::string remote_address;
        std::string request_id;
    };

    /// @error kUnauthenticated  the token is not good.  kTooMany  too many failures from this network.
    asio::awaitable<Result<Opened>> sign_in_by_token(SignIn sign_in, std::string token);
    /// A wrong name takes as long as a wrong password and is answered alike.
    /// @error kUnauthenticated  wrong, or the account is disabled.  kTooMany  too many failures lately, from this
    /// network
    ///        or for this account from everywhere.
    asio::awaitable<Result<Opened>> sign_in_by_password(SignIn sign_in, std::string name, std::string password);

    /// Of somebody whom a provider has signed in; the principal is the account's. `detail` goes into the audit log.
    asio::awaitable<Result<Opened>> open_for_account(SignIn sign_in, Principal principal, std::string account,
                                                     Json detail);

    asio::awaitable<Result<View>> view(ApiCredential credential, Principal principal);
    /// @error kInvalid  no session sent this.
    asio::awaitable<Result<void>> sign_out(Caller caller, ApiCredential credential);
    /// Ends the account's other sessions.
    /// @error kForbidden  the old password is wrong.  kConflict  no account is signed in.  kInvalid  the new one is
    /// weak.
    /// @error kTooMany    too many failures lately.
    asio::awaitable<Result<void>> change_password(Caller caller, SignIn sign_in, ApiCredential credential,
                                                  std::string old_password, std::string new_password);

  private:
    asio::awaitable<Result<Opened>> open(SignIn sign_in, Principal principal, std::optional<std::string> account,
                                         Json detail);
    asio::awaitable<Result<bool>> matches(std::string hash, std::string password);
    /// False where too many have failed. Counts as a failure until end_try(): so many may try at the same time.
    bool begin_try(const SignIn& sign_in, const std::string& name);
    /// It did not fail.
    void end_try(const SignIn& sign_in, const std::string& name);
    void note_failure(const SignIn& sign_in, const std::string& name);

    Database* database_;
    IdentityService* identity_;
    ComputePool* compute_;
    FailureLimiter networks_; ///< wrong passwords from a network
    FailureLimiter pairs_;    ///< from a network for a name
    FailureLimiter names_;    ///< for a name from everywhere
    Metrics::Counter failures_;
    std::string nobodys_hash_; ///< compared with when there is no such account
};

} // namespace fathom::server
