#pragma once

#include "core/net/tls.hpp"

#include <string>

namespace fathom::net {

enum class ClientCertificates {
    kNone,     ///< not asked for
    kOptional, ///< asked for; verified when sent (enrolment and agents share a listener)
};

/// For a listener. Client certificates must be signed by one of the certificates in `authority_pem`.
Result<TlsContext> make_server_context(const Credential& credential, ClientCertificates clients,
                                       const std::string& authority_pem);

/// For a client that trusts only the certificates in `authority_pem` (or the system's authorities when empty) and
/// checks the server's name; `credential` may be null.
Result<TlsContext> make_client_context(const std::string& authority_pem, const Credential* credential);

} // namespace fathom::net
