#pragma once

#include "server/api/compute_pool.hpp"
#include "server/identity/oidc/identity_provider.hpp"
#include "server/identity/oidc/oidc_admission.hpp"
#include "server/identity/session_service.hpp"

#include <variant>

namespace fathom::server {

/// How long somebody may take at the provider.
inline constexpr std::chrono::minutes kOidcSignInValidity{10};

/// People who sign in by the OpenID Connect provider. What a sign-in needs to go on is in the database, so that any
/// replica ends what another began. Thread-safe.
class OidcService {
  public:
    /// All must outlive the service.
    OidcService(OidcSettings settings, Fetch fetch, Database& database, IdentityService& identity,
                SessionService& sessions, const Clock& clock, Metrics& metrics);

    const OidcSettings& settings() const { return settings_; }

    struct Begun {
        std::string url;            ///< where the browser goes
        std::string browser_secret; ///< for a cookie that it brings back
    };
    /// @param browser_secret  of a cookie that the browser has already; empty: none. Sign-ins in two tabs share it.
    asio::awaitable<std::variant<Begun, OidcRefusal>> begin(SessionService::SignIn sign_in, std::string browser_secret,
                                                            std::string return_to);

    /// What the browser brings back from the provider.
    struct Callback {
        std::string state;
        std::string code;
        std::string error; ///< the provider's word; empty: it has signed them in
        std::string issuer;
    };
    struct Finished {
        SessionService::Opened opened;
        std::string return_to;
    };
    /// What is refused counts against the caller's network, and what cannot be of a sign-in here costs no look at the
    /// database.
    asio::awaitable<std::variant<Finished, OidcRefusal>> finish(SessionService::SignIn sign_in,
                                                                std::string browser_secret, Callback callback);

  private:
    asio::awaitable<std::variant<Finished, OidcRefusal>> finish_begun(SessionService::SignIn sign_in,
                                                                      std::string browser_secret, Callback callback);
    asio::awaitable<std::variant<Finished, OidcRefusal>>
    finish_taken(SessionService::SignIn sign_in, IdentityProvider::Redemption redemption, std::string return_to);
    asio::awaitable<OidcRefusal> audited(SessionService::SignIn sign_in, OidcRefusal refusal);
    OidcRefusal noted(const SessionService::SignIn& sign_in, OidcRefusal refusal);

    const OidcSettings settings_;
    Database* database_;
    IdentityService* identity_;
    SessionService* sessions_;
    Metrics* metrics_;
    IdentityProvider provider_;
    FailureLimiter begun_;   ///< sign-ins from a network
    FailureLimiter refused_; ///< what browsers of a network brought back and was refused
    ComputePool threads_;    ///< that wait for the provider; the last member, so that it ends first
};

} // namespace fathom::server
