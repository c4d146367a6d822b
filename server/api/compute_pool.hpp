#pragma once

#include "server/api/token_limits.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>

#include <functional>
#include <string>
#include <type_traits>

namespace fathom::server {

namespace asio = boost::asio;

struct ComputePoolOptions {
    std::size_t threads = 2;
    std::size_t most_waiting = 256; ///< with those that run
    std::size_t most_of_token = 4;  ///< of these
    std::size_t most_of_strangers = 64;
};

/// Threads for what takes long to compute: previews, explanations, limits of many jobs. Neither the network's threads
/// nor the database's wait for it. Thread-safe.
class ComputePool {
  public:
    explicit ComputePool(ComputePoolOptions options = {})
        : pool_(options.threads), strangers_pool_(1), all_(options.most_waiting), of_token_(options.most_of_token),
          strangers_(options.most_of_strangers)
    {
    }
    ~ComputePool()
    {
        strangers_pool_.join();
        pool_.join();
    }
    ComputePool(const ComputePool&) = delete;
    ComputePool& operator=(const ComputePool&) = delete;

    /// Runs `work`, which returns a Result and touches no database, on a thread of the pool and resumes the caller on
    /// its own executor. What `work` refers to must live until it has answered.
    /// @param token_id  whose work it is; empty: anybody's, so that only the whole line is bounded.
    /// @error kTooMany      the token has as much in line as it may.
    /// @error kUnavailable  the line is full.
    template <class Work, class R = std::invoke_result_t<Work&>>
    asio::awaitable<R> run(std::string token_id, Work work)
    {
        R result = Error{Errc::kInternal, "the work did not run"};
        const std::function<void()> job = [&work, &result] { result = work(); };
        const Result<void> outcome = co_await run_job(std::move(token_id), job);
        if (!outcome) co_return outcome.error();
        co_return result;
    }

    /// The same for who has no credential yet, such as the check of a password: on a thread and in a line of its own,
    /// so that however many strangers ask, from however many networks, what tokens ask for goes on.
    template <class Work, class R = std::invoke_result_t<Work&>>
    asio::awaitable<R> run_of_stranger(Work work)
    {
        R result = Error{Errc::kInternal, "the work did not run"};
        const std::function<void()> job = [&work, &result] { result = work(); };
        const Result<void> outcome = co_await run_strangers_job(job);
        if (!outcome) co_return outcome.error();
        co_return result;
    }

  private:
    /// The same for all types of results. `job` must live until the caller is resumed.
    asio::awaitable<Result<void>> run_job(std::string token_id, const std::function<void()>& job);

    asio::awaitable<Result<void>> run_strangers_job(const std::function<void()>& job);

    asio::thread_pool pool_;
    asio::thread_pool strangers_pool_;
    TokenPlaces all_;
    TokenPlaces of_token_;
    TokenPlaces strangers_;
};

} // namespace fathom::server
