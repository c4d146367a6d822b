#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <chrono>
#include <memory>

namespace fathom::server {

namespace asio = boost::asio;

/// Lets any thread wake one waiting coroutine. Wake-ups while nobody waits are kept, and joined into one.
class WakeSignal {
  public:
    explicit WakeSignal(const asio::any_io_executor& executor);

    /// Thread-safe; returns at once.
    void wake();

    /// Where wait() must run: spawn the waiting coroutine here.
    asio::any_io_executor executor() const;

    /// True when woken, false at the time limit. One waiter at a time.
    asio::awaitable<bool> wait(std::chrono::milliseconds limit);

    /// Whether it was woken since the last wait() or take(); does not wait.
    bool take();

  private:
    /// Shared with the posted wake-up, which may outlive the signal.
    struct State {
        explicit State(const asio::any_io_executor& executor) : strand(asio::make_strand(executor)), timer(strand) {}
        asio::strand<asio::any_io_executor> strand;
        asio::steady_timer timer;
        std::atomic<bool> pending{false};
    };
    std::shared_ptr<State> state_;
};

} // namespace fathom::server
