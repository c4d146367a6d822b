#include "core/net/tls_stream.hpp"

#include "core/net/openssl_ptr.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include <cerrno>
#include <new>
#include <sys/socket.h>

namespace fathom::net {
namespace {

using Socket = TlsStream::Socket;

/// The socket's own descriptor while it is open: a closed one's number may be another connection's.
int descriptor_of(BIO* bio)
{
    auto* const socket = static_cast<Socket*>(BIO_get_data(bio));
    if (socket->is_open()) return socket->native_handle();
    errno = EBADF;
    return -1;
}

bool is_for_later()
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/// As BIO_s_socket, but a peer that is gone raises no SIGPIPE.
int write_socket(BIO* bio, const char* data, std::size_t size, std::size_t* written)
{
    BIO_clear_retry_flags(bio);
    const int descriptor = descriptor_of(bio);
    const ssize_t sent = descriptor < 0 ? -1 : ::send(descriptor, data, size, MSG_NOSIGNAL);
    if (sent < 0 && is_for_later()) BIO_set_retry_write(bio);
    *written = sent > 0 ? static_cast<std::size_t>(sent) : 0;
    return sent > 0 ? 1 : 0;
}

int read_socket(BIO* bio, char* room, std::size_t size, std::size_t* read)
{
    BIO_clear_retry_flags(bio);
    const int descriptor = descriptor_of(bio);
    const ssize_t received = descriptor < 0 ? -1 : ::recv(descriptor, room, size, 0);
    if (received < 0 && is_for_later()) BIO_set_retry_read(bio);
    if (received == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    *read = received > 0 ? static_cast<std::size_t>(received) : 0;
    return received > 0 ? 1 : 0;
}

long control_socket(BIO* bio, int command, long, void*)
{
    if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* socket_method()
{
    struct FreeMethod {
        void operator()(BIO_METHOD* method) const { BIO_meth_free(method); }
    };
    static const std::unique_ptr<BIO_METHOD, FreeMethod> method = [] {
        std::unique_ptr<BIO_METHOD, FreeMethod> made(
            BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "fathom socket"));
        if (!made) throw std::bad_alloc();
        BIO_meth_set_write_ex(made.get(), write_socket);
        BIO_meth_set_read_ex(made.get(), read_socket);
        BIO_meth_set_ctrl(made.get(), control_socket);
        return made;
    }();
    return method.get();
}

/// SSL_get_error() and outcome() look at what calls of this thread have left: nothing, before each.
void forget_errors()
{
    ERR_clear_error();
    errno = 0;
}

boost::system::error_code openssl_error()
{
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    if (ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return asio::ssl::error::stream_truncated;
    return {static_cast<int>(code), asio::error::get_ssl_category()};
}

boost::system::error_code system_error()
{
    // OpenSSL names no reason where the connection ended without a goodbye.
    if (errno == 0) return asio::ssl::error::stream_truncated;
    return {errno, boost::system::system_category()};
}

} // namespace

TlsStream::TlsStream(Socket socket, asio::ssl::context& context)
    : state_(new State{std::move(socket), std::unique_ptr<SSL, FreeSsl>(SSL_new(context.native_handle()))})
{
    if (!state_->ssl) throw std::bad_alloc();
    SSL* const ssl = state_->ssl.get();
    SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_set_read_ahead(ssl, 1); // a record's head and body by one call
}

boost::system::error_code TlsStream::begin(State& state, TlsSide side)
{
    boost::system::error_code failed;
    state.socket.native_non_blocking(true, failed);
    if (failed) return failed;
    BIO* const bio = BIO_new(socket_method());
    if (bio == nullptr) return asio::error::no_memory;
    BIO_set_data(bio, &state.socket);
    BIO_set_init(bio, 1);
    SSL_set_bio(state.ssl.get(), bio, bio); // which owns it from here on
    if (side == TlsSide::kServer)
        SSL_set_accept_state(state.ssl.get());
    else
        SSL_set_connect_state(state.ssl.get());
    return {};
}

TlsStream::Step TlsStream::shake_hands(State& state)
{
    forget_errors();
    return outcome(state, SSL_do_handshake(state.ssl.get()), 0);
}

TlsStream::Step TlsStream::shut_down(State& state)
{
    forget_errors();
    int returned = SSL_shutdown(state.ssl.get());
    // 0: our goodbye is sent, the peer's has not come.
    if (returned == 0) returned = SSL_shutdown(state.ssl.get());
    return outcome(state, returned, 0);
}

TlsStream::Step TlsStream::read(State& state, asio::mutable_buffer room)
{
    if (room.size() == 0) return {};
    forget_errors();
    std::size_t size = 0;
    const int returned = SSL_read_ex(state.ssl.get(), room.data(), room.size(), &size);
    return outcome(state, returned, size);
}

TlsStream::Step TlsStream::write(State& state, asio::const_buffer data)
{
    if (data.size() == 0) return {};
    forget_errors();
    std::size_t size = 0;
    const int returned = SSL_write_ex(state.ssl.get(), data.data(), data.size(), &size);
    return outcome(state, returned, size);
}

TlsStream::Step TlsStream::outcome(State& state, int returned, std::size_t size)
{
    switch (SSL_get_error(state.ssl.get(), returned)) {
    case SSL_ERROR_NONE:
        return {Need::kNothing, {}, size};
    case SSL_ERROR_WANT_READ:
        return {Need::kInput};
    case SSL_ERROR_WANT_WRITE:
        return {Need::kOutput};
    case SSL_ERROR_ZERO_RETURN:
        return {Need::kNothing, asio::error::eof};
    case SSL_ERROR_SYSCALL:
        return {Need::kNothing, system_error()};
    default:
        return {Need::kNothing, openssl_error()};
    }
}

} // namespace fathom::net
