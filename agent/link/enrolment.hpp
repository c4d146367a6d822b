#pragma once

#include "core/base/clock.hpp"
#include "core/net/tls.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace fathom::agent {

/// What an agent got when it was enrolled: who it is, and how it proves that.
struct Enrolment {
    std::string center_id;
    std::string center_name;
    std::string host; ///< of the metascheduler's listener for agents
    std::uint16_t port{};
    std::string server;         ///< ADDR:PORT at which it was enrolled; empty for enrolments by an older agent
    std::string authority_pem;  ///< of all authorities that the agent trusts
    net::Credential credential; ///< secret
};

/// The files agent.json, agent-key.pem, agent-cert.pem and ca.pem of a state folder, all mode 0600.
/// Functions block for a moment.
class EnrolmentFiles {
  public:
    explicit EnrolmentFiles(std::filesystem::path state_dir) : state_dir_(std::move(state_dir)) {}

    bool exist() const;
    /// agent.json is written last: it says that the others are complete.
    Result<void> store(const Enrolment& enrolment) const;
    /// @error kNotFound  never enrolled.  @error kInvalid  damaged.
    Result<Enrolment> load() const;
    /// Replaces the certificate; the key stays. One that could not be used would lock the center out, so the old one
    /// is kept then.
    /// @error kInvalid  it is of another key, authority or center, not for clients, or ends sooner than the old one.
    Result<void> store_certificate(const std::string& certificate_pem) const;
    /// Trusts these authorities from now on, instead of those before.
    /// @error kInvalid  they are none, or none of them was trusted before: the metascheduler is known by one that was.
    Result<void> store_authorities(const std::string& authorities_pem) const;
    /// SHA-256, in hex, of the authorities' certificates that are trusted; none where they cannot be read.
    std::vector<std::string> trusted_authorities() const;

  private:
    std::filesystem::path state_dir_;
};

/// Whether half of a certificate's life is over. Pure.
bool is_renewal_due(const net::CertificateFacts& certificate, Timestamp now);

} // namespace fathom::agent
