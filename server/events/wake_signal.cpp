#include "server/events/wake_signal.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace fathom::server {

WakeSignal::WakeSignal(const asio::any_io_executor& executor) : state_(std::make_shared<State>(executor)) {}

void WakeSignal::wake()
{
    if (state_->pending.exchange(true)) return;
    asio::post(state_->strand, [state = state_] { state->timer.cancel(); });
}

asio::any_io_executor WakeSignal::executor() const
{
    return state_->strand;
}

bool WakeSignal::take()
{
    return state_->pending.exchange(false);
}

asio::awaitable<bool> WakeSignal::wait(std::chrono::milliseconds limit)
{
    const std::shared_ptr<State> state = state_;
    if (state->pending.exchange(false)) co_return true;
    state->timer.expires_after(limit);
    const auto [ec] = co_await state->timer.async_wait(asio::as_tuple(asio::use_awaitable));
    static_cast<void>(ec); // woken and timed out are told apart by `pending`
    co_return state->pending.exchange(false);
}

} // namespace fathom::server
