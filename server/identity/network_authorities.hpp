#pragma once

#include "core/net/tls.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

/// Where the replacement of the network's authority stands.
enum class RotationPhase {
    kNone,     ///< there is one authority
    kBegun,    ///< a next one is trusted, too, and signs nothing yet
    kSwitched, ///< what was the next one signs; the past one is trusted still
};
std::string_view to_string(RotationPhase phase);

/// An authority's certificate.
struct AuthorityCertificate {
    std::string pem;
    net::CertificateFacts facts;
    Timestamp since{}; ///< when it became what it is: current, next or past
};

/// What the network trusts. At most one of `next` and `past` is there.
struct AuthorityCertificates {
    AuthorityCertificate current; ///< the one that signs
    std::optional<AuthorityCertificate> next{};
    std::optional<AuthorityCertificate> past{};

    RotationPhase phase() const;
    /// All of them as PEM, the current one first: older agents read the first alone.
    std::string bundle_pem() const;
    /// Of all of them, in the same order.
    std::vector<std::string> sha256_hex() const;
};

/// What the network trusts, and the key that it signs with.
struct NetworkAuthorities {
    AuthorityCertificates certificates;
    std::string key_pem; ///< of certificates.current; secret
    /// Over how long agents spread the renewal of certificates of the past authority.
    std::chrono::seconds renew_within{1};

    net::Credential signer() const { return {certificates.current.pem, key_pem}; }
};

/// A network that trusts this authority alone.
/// @error kInvalid  it is no certificate.
Result<NetworkAuthorities> only_authority(const net::Credential& authority);

/// What an administrator is told to do about an authority that expires soon.
std::string authority_advice(RotationPhase phase);

/// The authorities as this replica knows them now. Thread-safe.
class AuthorityHolder {
  public:
    /// Null before the first set().
    std::shared_ptr<const NetworkAuthorities> get() const;
    void set(NetworkAuthorities authorities);

    /// Called after each set(), by its thread. To be set before others use the holder.
    std::function<void()> on_change;

  private:
    mutable std::mutex mutex_;
    std::shared_ptr<const NetworkAuthorities> authorities_;
};

} // namespace fathom::server
