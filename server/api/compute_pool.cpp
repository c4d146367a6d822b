#include "server/api/compute_pool.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace fathom::server {
namespace {

/// `job` outlives it.
asio::awaitable<void> compute(const std::function<void()>* job)
{
    (*job)();
    co_return;
}

} // namespace

asio::awaitable<Result<void>> ComputePool::run_job(std::string token_id, const std::function<void()>& job)
{
    const std::shared_ptr<const void> own = token_id.empty() ? all_.take("") : of_token_.take(token_id);
    if (!own && !token_id.empty())
        co_return Error{Errc::kTooMany, "this token has several questions in line already: wait for an answer"};
    const std::shared_ptr<const void> place = token_id.empty() ? own : all_.take("");
    if (!place) co_return Error{Errc::kUnavailable, "too much is being computed; try again soon"};
    co_await asio::co_spawn(pool_.get_executor(), compute(&job), asio::use_awaitable);
    co_return Result<void>();
}

asio::awaitable<Result<void>> ComputePool::run_strangers_job(const std::function<void()>& job)
{
    const std::shared_ptr<const void> place = strangers_.take("");
    if (!place) co_return Error{Errc::kUnavailable, "too many sign in at once; try again soon"};
    co_await asio::co_spawn(strangers_pool_.get_executor(), compute(&job), asio::use_awaitable);
    co_return Result<void>();
}

} // namespace fathom::server
