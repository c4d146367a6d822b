#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace fathom::test {

namespace asio = boost::asio;

/// An io_context with two threads, for coroutines under test.
class TestIo {
  public:
    TestIo();
    ~TestIo();
    TestIo(const TestIo&) = delete;
    TestIo& operator=(const TestIo&) = delete;

    asio::io_context& context() { return context_; }
    asio::any_io_executor executor() { return context_.get_executor(); }

    /// Starts a coroutine; its value comes through the future.
    template <class T>
    std::future<T> spawn(asio::awaitable<T> task)
    {
        return asio::co_spawn(context_, std::move(task), asio::use_future);
    }

    /// Runs a coroutine to its end; throws when that takes more than 20 s.
    template <class T>
    T run(asio::awaitable<T> task)
    {
        return get(spawn(std::move(task)));
    }

    template <class T>
    static T get(std::future<T> future)
    {
        if (future.wait_for(std::chrono::seconds(60)) != std::future_status::ready)
            throw std::runtime_error("the coroutine did not end in 60 s");
        return future.get();
    }

  private:
    asio::io_context context_;
    asio::executor_work_guard<asio::io_context::executor_type> work_;
    std::vector<std::thread> threads_;
};

/// Waits until `condition` holds; false after `limit`.
bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit = std::chrono::seconds(60));

} // namespace fathom::test
