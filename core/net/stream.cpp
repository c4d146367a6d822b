#include "core/net/stream.hpp"

#include "core/net/openssl_ptr.hpp"

#include <utility>

namespace fathom::net {

std::string remote_address_of(const Tcp::socket& socket)
{
    boost::system::error_code ec;
    const Tcp::endpoint endpoint = socket.remote_endpoint(ec);
    if (ec) return {};
    const std::string address = endpoint.address().to_string();
    const std::string port = std::to_string(endpoint.port());
    return endpoint.address().is_v6() ? "[" + address + "]:" + port : address + ":" + port;
}

std::optional<PeerCertificate> verified_certificate(TlsStream& stream)
{
    SSL* ssl = stream.native_handle();
    const X509* certificate = SSL_get0_peer_certificate(ssl);
    if (certificate == nullptr || SSL_get_verify_result(ssl) != X509_V_OK) return std::nullopt;
    CertificateFacts facts = openssl::facts_of(*certificate);
    return PeerCertificate{std::move(facts.common_name), std::move(facts.serial_hex), facts.not_after};
}

} // namespace fathom::net
