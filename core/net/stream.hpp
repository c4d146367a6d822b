#pragma once

// Internal to core/net: the one stream type, so that Beast's templates are built for it only.

#include "core/net/http.hpp"
#include "core/net/tls_stream.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <string>

namespace fathom::net {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Strand = asio::strand<asio::io_context::executor_type>;

/// A closed peer is a value, not an exception.
inline constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

/// "127.0.0.1:51234", "[::1]:51234"; empty when not connected.
std::string remote_address_of(const Tcp::socket& socket);

/// What the other side has shown; empty when it has shown none that is signed by an authority.
std::optional<PeerCertificate> verified_certificate(TlsStream& stream);

} // namespace fathom::net
