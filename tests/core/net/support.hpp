#pragma once

#include "core/net/client.hpp"
#include "core/net/server.hpp"
#include "core/net/tls_context.hpp"

#include <memory>
#include <string>

namespace fathom::net::test {

/// One authority for all tests of the process.
const Credential& authority();

/// A client certificate signed by `signer`, with the common name.
Credential client_credential(const Credential& signer, const std::string& common_name);

/// Trusts authority(); the credential may be null.
TlsContext client_tls(const Credential* credential = nullptr);

/// A handler that answers at once.
Handler answer_with(std::function<Response(Request&)> make);

/// A server for "localhost" on a free port, run by two threads until destroyed.
class TestServer {
  public:
    explicit TestServer(Router router, ServerLimits limits = {},
                        ClientCertificates clients = ClientCertificates::kNone);
    ~TestServer();
    TestServer(const TestServer&) = delete;
    TestServer& operator=(const TestServer&) = delete;

    Endpoint endpoint() const;
    HttpClient client(ClientOptions options = {}) const;
    Metrics& metrics();
    void set_tls(TlsContext tls);
    /// Server::stop, blocking; returns how long it took.
    std::chrono::milliseconds stop(std::chrono::seconds grace);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A TLS connection that sends and reads whatever a test wants.
class RawClient {
  public:
    /// @param before_tls  sent first, as a proxy does.
    explicit RawClient(const Endpoint& endpoint, const Credential* credential = nullptr,
                       std::string_view before_tls = {});
    ~RawClient();
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    /// False when the connection no longer takes it.
    bool send(std::string_view data);
    /// Everything until `end` has come `count` times, or the connection ends.
    std::string read_until(std::string_view end, std::size_t count = 1);
    std::string read_to_end();
    /// One answer with a Content-Length.
    std::string read_answer();
    /// What it has not read yet waits at the server, but for 64 KiB or so. Else the kernel makes room for megabytes
    /// more, now and then, of which the server believes that somebody reads them.
    void receive_little();
    /// Closes without a goodbye.
    void close();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Starts a server on the address and destroys it.
Result<void> try_to_listen(const AddressPort& address);

/// Runs a coroutine on an io_context of its own; fails the test after 60 s.
void run_on_loop(std::function<asio::awaitable<void>()> work);

/// What a server on a plain socket answers to `data` until it closes; empty when it just closes.
std::string exchange_plain_text(const Endpoint& endpoint, std::string_view data);

/// An idle connection on a plain socket, which has not begun TLS.
class IdleSocket {
  public:
    explicit IdleSocket(const Endpoint& endpoint);
    ~IdleSocket();
    IdleSocket(IdleSocket&&) noexcept;
    IdleSocket& operator=(IdleSocket&&) noexcept;

    /// What the server answers to `data` until it closes; empty when it just closes, also before `data` is sent.
    std::string exchange(std::string_view data);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A port on which nobody listens.
std::uint16_t unused_port();

/// A listener that accepts into its backlog and never answers.
class SilentListener {
  public:
    SilentListener();
    ~SilentListener();
    SilentListener(const SilentListener&) = delete;
    SilentListener& operator=(const SilentListener&) = delete;
    Endpoint endpoint() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace fathom::net::test
