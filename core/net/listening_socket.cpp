#include "core/net/listening_socket.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include <unistd.h>
#include <utility>

namespace fathom::net {

using Tcp = boost::asio::ip::tcp;

Result<ListeningSocket> ListeningSocket::bind(const AddressPort& address)
{
    const std::string text = address.host + ":" + std::to_string(address.port);
    boost::asio::io_context context;
    boost::system::error_code ec;
    Tcp::resolver resolver(context);
    const auto found = resolver.resolve(address.host, std::to_string(address.port), Tcp::resolver::passive, ec);
    Tcp::acceptor acceptor(context);
    Tcp::endpoint endpoint;
    if (!ec) {
        endpoint = found.begin()->endpoint();
        acceptor.open(endpoint.protocol(), ec);
    }
    if (!ec) acceptor.set_option(Tcp::acceptor::reuse_address(true), ec);
    // "::" takes IPv4 clients too, whatever the system's default.
    if (!ec && endpoint.address().is_v6()) acceptor.set_option(boost::asio::ip::v6_only(false), ec);
    if (!ec) acceptor.bind(endpoint, ec);
    if (!ec) endpoint = acceptor.local_endpoint(ec);
    int descriptor = -1;
    if (!ec) descriptor = acceptor.release(ec);
    if (ec) return Error{Errc::kUnavailable, "cannot listen on " + text + ": " + ec.message()};
    return ListeningSocket(descriptor, endpoint.address().is_v6(), endpoint.port());
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : descriptor_(other.release()), is_v6_(other.is_v6_), port_(other.port_)
{
}

ListeningSocket::~ListeningSocket()
{
    if (descriptor_ >= 0) close(descriptor_);
}

int ListeningSocket::release()
{
    return std::exchange(descriptor_, -1);
}

} // namespace fathom::net
