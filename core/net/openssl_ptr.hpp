#pragma once

// Internal to core/net: owners for OpenSSL's objects, and what is read from them.

#include "core/base/owner.hpp"
#include "core/net/tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <string>
#include <vector>

namespace fathom::net::openssl {

using Bio = Owner<BIO, BIO_free_all>;
using Key = Owner<EVP_PKEY, EVP_PKEY_free>;
using Certificate = Owner<X509, X509_free>;
using CertificateRequest = Owner<X509_REQ, X509_REQ_free>;
using Name = Owner<X509_NAME, X509_NAME_free>;

/// The first queued OpenSSL error as text; empties the queue.
std::string take_error();

/// kInternal with the operation's name and OpenSSL's reason.
Error failure(const std::string& operation);

/// Null when the text is not a PEM certificate.
Certificate parse_certificate(const std::string& pem);

struct Certificates {
    std::vector<Certificate> certificates;
    bool is_whole = false; ///< false: one after them is cut off or damaged
};
/// All certificates of a text.
Certificates parse_certificates(const std::string& pem);

/// Null when the text is not an unencrypted PEM private key.
Key parse_key(const std::string& pem);

/// Empty when it has none.
std::string common_name_of(const X509& certificate);
CertificateFacts facts_of(const X509& certificate);

} // namespace fathom::net::openssl
