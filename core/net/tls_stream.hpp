#pragma once

// Internal to core/net.

#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace fathom::net {

namespace asio = boost::asio;

enum class TlsSide { kClient, kServer };

/// TLS on a TCP socket for Asio and Beast (AsyncStream). OpenSSL reads from and writes to the socket itself, so that an
/// idle connection has no buffers: Asio's own stream keeps 68 KiB for each (two record buffers, and a pair of BIOs in
/// memory through which every byte is copied once more).
/// Runs on: one strand. One read and one write may be pending at a time; nothing else beside a handshake or a shutdown.
class TlsStream {
  public:
    using Socket = asio::ip::tcp::socket;
    using next_layer_type = Socket;
    using executor_type = Socket::executor_type;

    TlsStream(Socket socket, asio::ssl::context& context);

    Socket& next_layer() { return state_->socket; }
    const Socket& next_layer() const { return state_->socket; }
    executor_type get_executor() { return state_->socket.get_executor(); }
    SSL* native_handle() { return state_->ssl.get(); }

    /// The socket is connected. Signature: void(error_code).
    template <class Token>
    auto async_handshake(TlsSide side, Token&& token)
    {
        State* const state = state_.get();
        auto start = [state, side, is_begun = false]() mutable -> Step {
            if (!std::exchange(is_begun, true)) {
                if (const boost::system::error_code ec = begin(*state, side)) return {Need::kNothing, ec};
            }
            return shake_hands(*state);
        };
        return run<void(boost::system::error_code)>(std::move(start), token);
    }

    /// Says goodbye, and waits for the peer's unless that has come. Signature: void(error_code).
    template <class Token>
    auto async_shutdown(Token&& token)
    {
        State* const state = state_.get();
        return run<void(boost::system::error_code)>([state] { return shut_down(*state); }, token);
    }

    /// Signature: void(error_code, std::size_t). At the peer's goodbye asio::error::eof; where the connection ends
    /// without one, asio::ssl::error::stream_truncated.
    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token)
    {
        State* const state = state_.get();
        const asio::mutable_buffer room = first_of<asio::mutable_buffer>(buffers);
        return run<void(boost::system::error_code, std::size_t)>([state, room] { return read(*state, room); }, token);
    }

    /// Signature: void(error_code, std::size_t). Small pieces go into one record.
    template <class Buffers, class Token>
    auto async_write_some(const Buffers& buffers, Token&& token)
    {
        State* const state = state_.get();
        std::vector<char> joined = join(buffers);
        const asio::const_buffer data = joined.empty() ? first_of<asio::const_buffer>(buffers) : asio::buffer(joined);
        // Moving the vector leaves its content where it is.
        return run<void(boost::system::error_code, std::size_t)>(
            [state, data, kept = std::move(joined)] { return write(*state, data); }, token);
    }

  private:
    struct FreeSsl {
        void operator()(SSL* ssl) const { SSL_free(ssl); }
    };
    /// Stays where it is when the stream moves: OpenSSL and operations that wait point to it.
    struct State {
        Socket socket;
        std::unique_ptr<SSL, FreeSsl> ssl;
    };
    enum class Need { kNothing, kInput, kOutput };
    /// What OpenSSL came to with what the socket took and gave.
    struct Step {
        Need need{Need::kNothing};
        boost::system::error_code error{};
        std::size_t size{0};
    };

    static constexpr std::size_t kRecordBytes = std::size_t{16} << 10U;

    static boost::system::error_code begin(State& state, TlsSide side);
    static Step shake_hands(State& state);
    static Step shut_down(State& state);
    static Step read(State& state, asio::mutable_buffer room);
    static Step write(State& state, asio::const_buffer data);
    static Step outcome(State& state, int returned, std::size_t size);

    /// The first that is not empty.
    template <class Buffer, class Buffers>
    static Buffer first_of(const Buffers& buffers)
    {
        const auto end = asio::buffer_sequence_end(buffers);
        for (auto one = asio::buffer_sequence_begin(buffers); one != end; ++one) {
            if (Buffer(*one).size() != 0) return Buffer(*one);
        }
        return {};
    }

    /// What fits into one record; empty where the first piece fills it, or is all.
    template <class Buffers>
    static std::vector<char> join(const Buffers& buffers)
    {
        const std::size_t all = asio::buffer_size(buffers);
        const std::size_t first = first_of<asio::const_buffer>(buffers).size();
        if (first == all || first >= kRecordBytes) return {};
        std::vector<char> joined(std::min(all, kRecordBytes));
        asio::buffer_copy(asio::buffer(joined), buffers);
        return joined;
    }

    /// Steps until nothing is needed any more.
    template <class Advance>
    struct Operation {
        State* state;
        Advance advance;
        bool has_waited{false};
        Step step{};
        bool is_done{false};

        template <class Self>
        void operator()(Self& self, const boost::system::error_code& waited = {})
        {
            if (!is_done) {
                // After a wait that failed the stream may be gone.
                step = waited ? Step{Need::kNothing, waited, 0} : advance();
                if (step.need != Need::kNothing) {
                    has_waited = true;
                    const auto what = step.need == Need::kInput ? Socket::wait_read : Socket::wait_write;
                    state->socket.async_wait(what, std::move(self));
                    return;
                }
                is_done = true;
                // No handler is called by the function that was given it.
                if (!has_waited) {
                    const auto executor = self.get_executor();
                    asio::post(executor, std::move(self));
                    return;
                }
            }
            complete(self);
        }

      private:
        template <class Self>
        void complete(Self& self) const
        {
            if constexpr (requires { self.complete(step.error, step.size); })
                self.complete(step.error, step.size);
            else
                self.complete(step.error);
        }
    };

    template <class Signature, class Advance, class Token>
    auto run(Advance advance, Token& token)
    {
        return asio::async_compose<Token, Signature>(Operation<Advance>{state_.get(), std::move(advance)}, token,
                                                     state_->socket);
    }

    std::unique_ptr<State> state_;
};

/// The goodbye of TLS, then TCP's.
struct TlsTeardown {
    TlsStream* stream;
    boost::beast::role_type role;
    enum class At { kStart, kGoodbye, kEnd } at{At::kStart};
    boost::system::error_code error{};

    template <class Self>
    void operator()(Self& self, const boost::system::error_code& ec = {})
    {
        switch (at) {
        case At::kStart:
            at = At::kGoodbye;
            stream->async_shutdown(std::move(self));
            return;
        case At::kGoodbye:
            at = At::kEnd;
            error = ec;
            boost::beast::websocket::async_teardown(role, stream->next_layer(), std::move(self));
            return;
        case At::kEnd:
            self.complete(error ? error : ec);
        }
    }
};

/// What Beast calls when a WebSocket ends; found by the stream's namespace.
template <class Handler>
void async_teardown(boost::beast::role_type role, TlsStream& stream, Handler&& handler)
{
    asio::async_compose<Handler, void(boost::system::error_code)>(TlsTeardown{&stream, role}, handler, stream);
}

} // namespace fathom::net
