#pragma once

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

#include <memory>
#include <string>
#include <vector>

namespace boost::asio::ssl {
class context;
}

namespace fathom::net {

/// A certificate and its private key, both PEM. The key is a secret: never log it.
struct Credential {
    std::string certificate_pem;
    std::string key_pem;
};

/// What a certificate says.
struct CertificateFacts {
    std::string common_name;
    std::string serial_hex;
    Timestamp not_before{};
    Timestamp not_after{};
    std::string sha256_hex; ///< of the certificate, by which people and programs know it
};

/// A fresh self-signed certificate authority: EC P-256, `valid_days` from now, path length 0.
Result<Credential> make_authority(const std::string& common_name, int valid_days);

/// A fresh key with a server certificate for `names` (DNS names and IP literals as subject
/// alternative names), signed by the authority. Starts five minutes ago for clock skew.
Result<Credential> make_server_credential(const Credential& authority, const std::vector<std::string>& names,
                                          int valid_days);

/// A fresh EC P-256 private key, PEM.
Result<std::string> make_private_key();

/// A PKCS#10 certificate signing request for the key, PEM.
Result<std::string> make_signing_request(const std::string& key_pem, const std::string& common_name);

/// Signs a request as a client certificate. The subject is `common_name`, whatever the request
/// says; the request's own signature is verified first.
/// @error kInvalid  not a request, wrong signature, or a key type other than EC P-256/P-384 or RSA >= 2048.
Result<std::string> sign_client_request(const Credential& authority, const std::string& request_pem,
                                        const std::string& common_name, int valid_days);

/// @error kInvalid  not a certificate.
Result<CertificateFacts> read_certificate(const std::string& certificate_pem);

/// All certificates of a text, in their order.
/// @error kInvalid  there is none, one is cut off or damaged, or one may not sign others.
Result<std::vector<CertificateFacts>> read_authorities(const std::string& authorities_pem);

/// Which of the authorities signed a certificate. Times are not looked at.
/// @error kInvalid   it is no certificate.
/// @error kNotFound  none of them did.
Result<CertificateFacts> find_signer(const std::string& certificate_pem, const std::string& authorities_pem);

/// Whether a client could show this certificate from now on: it is of this key and name, signed by one of the
/// authorities, and for clients. Times are not looked at.
/// @error kInvalid  it is not, with what is wrong.
Result<void> check_client_certificate(const Credential& credential, const std::string& authorities_pem,
                                      const std::string& common_name);

/// Whether a listener could show this chain: each certificate of the text can be read, and the first is for servers and
/// of this key. Times are not looked at.
/// @error kInvalid  it could not, with what is wrong.
Result<void> check_server_certificate(const Credential& credential);

/// TLS 1.2 and newer, no compression, no renegotiation; session tickets where no client certificate is asked for.
using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

} // namespace fathom::net
