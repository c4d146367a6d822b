#include "core/net/tls_context.hpp"

#include "core/net/openssl_ptr.hpp"

#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>

#include <array>
#include <cstring>

namespace fathom::net {
namespace {

namespace ssl = boost::asio::ssl;

// HTTP/1.1 is all we speak; saying so spares clients that offer h2 a guess.
constexpr std::array<unsigned char, 9> kProtocols{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void*)
{
    unsigned char* selected = nullptr;
    const int outcome =
        SSL_select_next_proto(&selected, size, kProtocols.data(), kProtocols.size(), offered, offered_size);
    if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
    *chosen = selected;
    return SSL_TLSEXT_ERR_OK;
}

/// TLS 1.2 only with forward secrecy and authenticated encryption; TLS 1.3's own list is good as it is.
bool set_policy(SSL_CTX* context)
{
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    // Idle keep-alive connections give their record buffers back.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
}

Result<void> use_credential(SSL_CTX* context, const Credential& credential)
{
    const openssl::Certificate certificate = openssl::parse_certificate(credential.certificate_pem);
    if (!certificate) return Error{Errc::kInvalid, "the certificate is not PEM"};
    const openssl::Key key = openssl::parse_key(credential.key_pem);
    if (!key) return Error{Errc::kInvalid, "the private key is not an unencrypted PEM key"};
    if (SSL_CTX_use_certificate(context, certificate.get()) != 1) // its key is too short, say
        return Error{Errc::kInvalid, "the certificate cannot be used: " + openssl::take_error()};
    if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1)
        return Error{Errc::kInvalid, "the private key does not belong to the certificate: " + openssl::take_error()};
    return {};
}

/// Certificates after the first: a chain file may hold intermediates.
void use_chain(SSL_CTX* context, const std::string& pem)
{
    const openssl::Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    bool first = true;
    while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
        const openssl::Certificate certificate(next);
        if (!first) SSL_CTX_add1_chain_cert(context, certificate.get());
        first = false;
    }
    ERR_clear_error();
}

/// All certificates of the text.
Result<void> trust(SSL_CTX* context, const std::string& authority_pem)
{
    const openssl::Bio bio(BIO_new_mem_buf(authority_pem.data(), static_cast<int>(authority_pem.size())));
    bool is_any = false;
    while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
        const openssl::Certificate authority(next);
        if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1)
            return openssl::failure("trust an authority");
        if (SSL_CTX_add_client_CA(context, authority.get()) != 1) return openssl::failure("name an authority");
        is_any = true;
    }
    ERR_clear_error();
    if (!is_any) return Error{Errc::kInvalid, "the authority's certificate is not PEM"};
    return {};
}

} // namespace

Result<void> check_server_certificate(const Credential& credential)
{
    const openssl::Certificate certificate = openssl::parse_certificate(credential.certificate_pem);
    if (!certificate) return Error{Errc::kInvalid, "the certificate is not PEM"};
    if (!openssl::parse_certificates(credential.certificate_pem).is_whole)
        return Error{Errc::kInvalid, "a certificate of the chain is cut off or damaged"};
    const openssl::Key key = openssl::parse_key(credential.key_pem);
    if (!key) return Error{Errc::kInvalid, "the private key is not an unencrypted PEM key"};
    const bool is_of_key = X509_check_private_key(certificate.get(), key.get()) == 1;
    const bool is_for_servers = X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_SERVER, 0) == 1;
    ERR_clear_error();
    if (!is_of_key) return Error{Errc::kInvalid, "the private key does not belong to the certificate"};
    if (!is_for_servers) return Error{Errc::kInvalid, "the certificate is not for servers"};
    return {};
}

Result<TlsContext> make_server_context(const Credential& credential, ClientCertificates clients,
                                       const std::string& authority_pem)
{
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    SSL_CTX* native = context->native_handle();
    if (!set_policy(native)) return openssl::failure("set up TLS");
    if (const Result<void> used = use_credential(native, credential); !used) return used.error();
    use_chain(native, credential.certificate_pem);
    SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
    SSL_CTX_set_options(native, SSL_OP_CIPHER_SERVER_PREFERENCE);
    // Agents stay connected, and none resumes a session; making a ticket of one with a certificate takes as long as the
    // rest of the handshake.
    SSL_CTX_set_num_tickets(native, clients == ClientCertificates::kNone ? 1 : 0);

    // Without an id, resuming a session that holds a client certificate fails the handshake. One id
    // per kind of listener: a session from a listener that asks for no certificate stays there.
    const char* session_id = clients == ClientCertificates::kNone ? "fathom" : "fathom-mutual";
    SSL_CTX_set_session_id_context(native, reinterpret_cast<const unsigned char*>(session_id),
                                   static_cast<unsigned>(std::strlen(session_id)));
    if (clients == ClientCertificates::kOptional) {
        if (const Result<void> trusted = trust(native, authority_pem); !trusted) return trusted.error();
        SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
    }
    return context;
}

Result<TlsContext> make_client_context(const std::string& authority_pem, const Credential* credential)
{
    auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
    SSL_CTX* native = context->native_handle();
    if (!set_policy(native)) return openssl::failure("set up TLS");
    SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_alpn_protos(native, kProtocols.data(), kProtocols.size());
    if (authority_pem.empty()) {
        if (SSL_CTX_set_default_verify_paths(native) != 1) return openssl::failure("load the system's authorities");
    } else if (const Result<void> trusted = trust(native, authority_pem); !trusted) {
        return trusted.error();
    }
    if (credential != nullptr) {
        if (const Result<void> used = use_credential(native, *credential); !used) return used.error();
        use_chain(native, credential->certificate_pem);
    }
    return context;
}

} // namespace fathom::net
