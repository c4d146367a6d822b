#pragma once

#include "server/api/caller.hpp"
#include "server/centers/enrolment_store.hpp"
#include "server/identity/failure_limiter.hpp"
#include "server/identity/network_authorities.hpp"
#include "server/store/database.hpp"

#include <chrono>
#include <string>

namespace fathom::server {

struct EnrolmentOptions {
    const AuthorityHolder* authorities{}; ///< of the network: the current one signs. Has been set; outlives the service
    std::uint16_t agent_port{};           ///< told to agents when they enrol
    int certificate_days = 30;
};

/// How a center's agent becomes known: an admin makes a one-time token, the agent brings it with a signing
/// request and gets a certificate whose common name is the center's id; it renews it over its session.
/// Thread-safe. `database` must outlive it.
class EnrolmentService {
  public:
    EnrolmentService(Database& database, EnrolmentOptions options);

    struct NewToken {
        EnrolmentTokenRecord record;
        std::string secret; ///< shown once
    };
    /// @error kInvalid  not a usable center name: letters, digits, `.`, `_`, `-`, at most 63, a letter or
    ///                  digit first, and not of the form of an id.
    asio::awaitable<Result<NewToken>> create_token(Caller caller, std::string center_name, std::chrono::seconds valid);
    /// Nobody enrols with it from now on. Withdrawing one that has expired changes nothing.
    /// @error kNotFound  no such token.
    /// @error kConflict  it has been used: its center can be revoked.
    asio::awaitable<Result<void>> withdraw_token(Caller caller, std::string id);
    asio::awaitable<Result<Page<EnrolmentTokenRecord>>> list_tokens(std::int64_t size, std::string after);

    struct Enrolment {
        CenterId center_id;
        std::string center_name;
        std::string certificate_pem;
        std::string ca_pem; ///< all authorities that the network trusts
        std::uint16_t agent_port{};
        Timestamp certificate_not_after{};
    };
    /// A token for a name that exists enrols that center anew: its old certificate is worth nothing then.
    /// @error kUnauthenticated  the token is unknown, used or expired.
    /// @error kInvalid          the signing request is not good; the token stays unused.
    /// @error kTooMany          too many refused tokens from the network of `remote_address`.
    asio::awaitable<Result<Enrolment>> enrol(std::string token, std::string request_pem, std::string request_id,
                                             std::string remote_address = "");

    /// Signs a renewal for the holder of the certificate `current_serial`.
    /// @error kInvalid   the signing request is not good.
    /// @error kNotFound  the certificate is not this center's any more.
    asio::awaitable<Result<std::string>> renew(CenterId center, std::string current_serial, std::string request_pem);

    /// What the network trusts and signs by now.
    std::shared_ptr<const NetworkAuthorities> authorities() const { return options_.authorities->get(); }

  private:
    Result<SignedCertificate> sign(const NetworkAuthorities& authorities, const CenterId& center,
                                   const std::string& request_pem) const;
    Result<Enrolment> enrol_in(pqxx::transaction_base& transaction, const std::string& token,
                               const std::string& request_pem, const std::string& request_id) const;

    Database* database_;
    EnrolmentOptions options_;
    FailureLimiter limiter_;
};

} // namespace fathom::server
