#include "server/centers/piece_arrivals.hpp"

#include "server/events/wake_signal.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>

namespace fathom::server {

struct PieceArrivals::Wait::State {
    State(const asio::any_io_executor& executor, std::size_t count) : wake(executor), open(count) {}

    WakeSignal wake;
    std::atomic<std::size_t> open; ///< questions without an answer
};

PieceArrivals::Wait::Wait(std::shared_ptr<PieceArrivals> arrivals, std::vector<std::string> questions,
                          std::shared_ptr<State> state)
    : arrivals_(std::move(arrivals)), questions_(std::move(questions)), state_(std::move(state))
{
}

PieceArrivals::Wait::~Wait()
{
    const std::scoped_lock lock(arrivals_->mutex_);
    for (const std::string& question : questions_)
        arrivals_->waits_.erase(question);
}

asio::awaitable<bool> PieceArrivals::Wait::until_all_came(std::chrono::milliseconds limit)
{
    const std::shared_ptr<State> state = state_;
    if (state->open > 0) co_await asio::co_spawn(state->wake.executor(), state->wake.wait(limit), asio::use_awaitable);
    co_return state->open == 0;
}

std::unique_ptr<PieceArrivals::Wait> PieceArrivals::expect(std::vector<std::string> questions,
                                                           const asio::any_io_executor& executor)
{
    const auto state = std::make_shared<Wait::State>(executor, questions.size());
    {
        const std::scoped_lock lock(mutex_);
        for (const std::string& question : questions)
            waits_.emplace(question, state);
    }
    return std::unique_ptr<Wait>(new Wait(shared_from_this(), std::move(questions), state));
}

void PieceArrivals::came(const std::string& question)
{
    const std::scoped_lock lock(mutex_);
    const auto found = waits_.find(question);
    if (found == waits_.end()) return; // another replica's
    const std::shared_ptr<Wait::State> state = found->second;
    waits_.erase(found); // an answer that is told of twice counts once
    if (--state->open == 0) state->wake.wake();
}

void PieceArrivals::look_again()
{
    const std::scoped_lock lock(mutex_);
    for (const auto& wait : waits_)
        wait.second->wake.wake();
}

} // namespace fathom::server
