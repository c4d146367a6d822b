#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <utility>

namespace fathom::net {

/// What lets a coroutine that waits go on, once, from any thread: it goes on on its own executor, which has work until
/// then. The handler keeps the coroutine alive.
/// @param handler  of async_initiate for `void(Outcome)`.
/// @return a copyable function that takes the Outcome.
template <class Handler>
auto make_resume(Handler handler)
{
    namespace asio = boost::asio;
    auto home = asio::make_work_guard(handler);
    auto held = std::make_shared<std::pair<Handler, decltype(home)>>(std::move(handler), std::move(home));
    return [held](auto outcome) {
        auto executor = held->second.get_executor();
        asio::post(executor, [held, outcome = std::move(outcome)]() mutable {
            Handler handler_now = std::move(held->first);
            held->second.reset();
            std::move(handler_now)(std::move(outcome));
        });
    };
}

} // namespace fathom::net
