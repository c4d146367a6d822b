#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace fathom::net {

namespace asio = boost::asio;

/// Spawns coroutines that someone must wait for: logs what they throw, counts those alive, and takes
/// no new ones after close(). Thread-safe.
class TaskGroup {
  public:
    explicit TaskGroup(std::string name);
    ~TaskGroup();
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    /// Starts `task` on its own strand of `executor` (give a strand to choose it). False after close().
    bool spawn(asio::any_io_executor executor, std::string name, asio::awaitable<void> task);

    /// Starts a task that shall go on until close(), as loops do that nobody else would begin again: what it throws is
    /// logged, and `make` makes it anew after a pause, of a second at first and of up to a minute where it fails again
    /// and again. A task that returns has ended. False after close().
    bool keep_running(asio::any_io_executor executor, std::string name, std::function<asio::awaitable<void>()> make);

    /// Refuses new tasks and cancels those that wait (their co_await throws operation_aborted).
    void close();

    /// Blocks the calling thread (not an io thread) until none is alive; false at the limit.
    bool wait(std::chrono::milliseconds limit);

    /// Coroutine sleep for tasks of groups; throws operation_aborted when cancelled.
    static asio::awaitable<void> sleep(std::chrono::milliseconds duration);

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace fathom::net
