#include "core/net/tls_connect.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/this_coro.hpp>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace fathom::net {
namespace {

/// One attempt to connect; the timer's handler shares it, because it may run after the coroutine has ended.
struct Attempt {
    Attempt(const asio::any_io_executor& executor, TlsContext context)
        : tls(std::move(context)), resolver(executor), timer(executor),
          stream(std::make_unique<TlsStream>(Tcp::socket(executor), *tls))
    {
    }

    TlsContext tls;
    Tcp::resolver resolver;
    asio::steady_timer timer;
    std::unique_ptr<TlsStream> stream; ///< empty once handed over
    std::chrono::milliseconds limit{}; ///< the newest
    bool timed_out = false;
};

/// Also when the waiting coroutine is cancelled and unwinds.
struct CancelOnExit {
    explicit CancelOnExit(asio::steady_timer& t) : timer(t) {}
    ~CancelOnExit() { timer.cancel(); }
    CancelOnExit(const CancelOnExit&) = delete;
    CancelOnExit& operator=(const CancelOnExit&) = delete;
    asio::steady_timer& timer;
};

void limit_time(const std::shared_ptr<Attempt>& attempt, std::chrono::milliseconds limit)
{
    attempt->limit = limit;
    attempt->timer.expires_after(limit);
    attempt->timer.async_wait([attempt](const boost::system::error_code& ec) {
        if (ec || !attempt->stream) return;
        attempt->timed_out = true;
        attempt->resolver.cancel();
        boost::system::error_code ignored;
        attempt->stream->next_layer().close(ignored);
    });
}

std::string bracketed(const std::string& host)
{
    return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

/// Tells OpenSSL which name or address the certificate must carry, and the server which name we want.
bool expect_name(SSL* ssl, const std::string& host)
{
    boost::system::error_code not_an_address;
    asio::ip::make_address(host, not_an_address);
    if (!not_an_address) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    // What SSL_set_tlsext_host_name expands to, without its C cast, which GCC warns of.
    const long named = SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                                const_cast<char*>(host.c_str())); // OpenSSL copies it
    return named == 1 && SSL_set1_host(ssl, host.c_str()) == 1;
}

Error handshake_error(SSL* ssl, const std::string& where, const boost::system::error_code& ec)
{
    const long verified = SSL_get_verify_result(ssl);
    if (verified == X509_V_ERR_HOSTNAME_MISMATCH || verified == X509_V_ERR_IP_ADDRESS_MISMATCH)
        return Error{Errc::kUnavailable, "the certificate of " + where + " is not trusted: it is for another name"};
    if (verified != X509_V_OK) {
        return Error{Errc::kUnavailable,
                     "the certificate of " + where + " is not trusted: " + X509_verify_cert_error_string(verified)};
    }
    return Error{Errc::kUnavailable, "TLS with " + where + " failed: " + ec.message()};
}

bool is_unknown_host(const boost::system::error_code& ec)
{
    return ec == asio::error::host_not_found || ec == asio::error::host_not_found_try_again ||
           ec == asio::error::no_data || ec == asio::error::service_not_found;
}

/// The steps, each ending early with what went wrong.
asio::awaitable<Result<void>> run_attempt(std::shared_ptr<Attempt> attempt, Endpoint endpoint,
                                          std::chrono::milliseconds queue_time)
{
    const std::string where = to_string(endpoint);
    const auto [resolve_failed, found] =
        co_await attempt->resolver.async_resolve(endpoint.host, std::to_string(endpoint.port), kAsTuple);
    if (resolve_failed) {
        if (is_unknown_host(resolve_failed)) co_return Error{Errc::kUnavailable, "unknown host " + endpoint.host};
        co_return Error{Errc::kUnavailable, "cannot resolve " + endpoint.host + ": " + resolve_failed.message()};
    }
    Tcp::socket& socket = attempt->stream->next_layer();
    // The limit may have passed in between; connecting would open a fresh socket that nothing closes.
    if (attempt->timed_out) co_return Error{Errc::kDeadline, ""};
    const auto [connect_failed, peer] = co_await asio::async_connect(socket, found, kAsTuple);
    if (connect_failed)
        co_return Error{Errc::kUnavailable, "cannot connect to " + where + ": " + connect_failed.message()};
    boost::system::error_code ignored;
    socket.set_option(Tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::keep_alive(true), ignored);

    if (queue_time.count() > 0) limit_time(attempt, attempt->limit + queue_time);
    SSL* ssl = attempt->stream->native_handle();
    if (!expect_name(ssl, endpoint.host)) co_return Error{Errc::kInvalid, "not a host name: " + endpoint.host};
    const auto [handshake_failed] = co_await attempt->stream->async_handshake(TlsSide::kClient, kAsTuple);
    if (handshake_failed) co_return handshake_error(ssl, where, handshake_failed);
    co_return Result<void>();
}

} // namespace

std::string to_string(const Endpoint& endpoint)
{
    return bracketed(endpoint.host) + ":" + std::to_string(endpoint.port);
}

std::string host_header(const Endpoint& endpoint)
{
    return endpoint.port == 443 ? bracketed(endpoint.host) : to_string(endpoint);
}

asio::awaitable<Result<std::unique_ptr<TlsStream>>> connect_tls(Endpoint endpoint, TlsContext tls,
                                                                ClientOptions options)
{
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const auto attempt = std::make_shared<Attempt>(executor, std::move(tls));
    limit_time(attempt, options.connect_time);
    const CancelOnExit stop_timer(attempt->timer);
    const Result<void> outcome = co_await run_attempt(attempt, endpoint, options.queue_time);
    if (attempt->timed_out) {
        co_return Error{Errc::kDeadline, "no connection to " + to_string(endpoint) + " within " +
                                             std::to_string(attempt->limit.count()) + " ms"};
    }
    if (!outcome) co_return outcome.error();
    co_return std::move(attempt->stream);
}

} // namespace fathom::net
