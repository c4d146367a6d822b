#pragma once

#include "server/api/token_limits.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <string>
#include <type_traits>

namespace fathom::server {

namespace asio = boost::asio;

struct ComputePoolOptions {
    std::size_t threads = 2;
    std::size_t most_waiting = 256; ///< with those that run
    std::size_t most_of_token = 4;  ///< of these
};

/// Threads for what takes long to compute: previews, explanations, limits of many jobs. Neither the network's threads
/// nor the database's wait for it. Thread-safe.
class ComputePool {
  public:
    explicit ComputePool(ComputePoolOptions options = {})
        : pool_(options.threads), all_(options.most_waiting), of_token_(options.most_of_token)
    {
    }
    ~ComputePool() { pool_.join(); }
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
        const std::shared_ptr<const void> own = token_id.empty() ? all_.take("") : of_token_.take(token_id);
        if (!own && !token_id.empty())
            co_return Error{Errc::kTooMany, "this token has several questions in line already: wait for an answer"};
        const std::shared_ptr<const void> place = token_id.empty() ? own : all_.take("");
        if (!place) co_return Error{Errc::kUnavailable, "too much is being computed; try again soon"};
        asio::awaitable<R> job = compute<Work, R>(std::move(work));
        co_return co_await asio::co_spawn(pool_.get_executor(), std::move(job), asio::use_awaitable);
    }

  private:
    template <class Work, class R>
    static asio::awaitable<R> compute(Work work)
    {
        co_return work();
    }

    asio::thread_pool pool_;
    TokenPlaces all_;
    TokenPlaces of_token_;
};

} // namespace fathom::server
