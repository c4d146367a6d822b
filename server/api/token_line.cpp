#include "server/api/token_line.hpp"

#include "core/net/resume.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

namespace fathom::server {
namespace {

using TokenPlace = std::shared_ptr<const void>;

} // namespace

struct TokenLine::State : std::enable_shared_from_this<TokenLine::State> {
    using Serve = std::function<void(TokenPlace)>;

    struct OfToken {
        std::size_t taken = 0;
        std::deque<Serve> waiting;
    };

    /// Calls `serve` with a place, now or later. On any thread.
    void enter(const std::string& token_id, std::size_t most, Serve serve);
    void leave(const std::string& token_id);
    TokenPlace make_place(const std::string& token_id);

    std::mutex mutex;
    std::map<std::string, OfToken, std::less<>> tokens; ///< with something in work
};

TokenPlace TokenLine::State::make_place(const std::string& token_id)
{
    return {this, [state = shared_from_this(), token_id](const void*) { state->leave(token_id); }};
}

void TokenLine::State::enter(const std::string& token_id, std::size_t most, Serve serve)
{
    {
        const std::scoped_lock lock(mutex);
        OfToken& token = tokens[token_id];
        if (token.taken >= most) {
            token.waiting.push_back(std::move(serve));
            return;
        }
        ++token.taken;
    }
    serve(make_place(token_id));
}

/// Its place goes to the one that waits longest.
void TokenLine::State::leave(const std::string& token_id)
{
    Serve next;
    {
        const std::scoped_lock lock(mutex);
        const auto found = tokens.find(token_id);
        OfToken& token = found->second;
        if (token.waiting.empty()) {
            if (--token.taken == 0) tokens.erase(found);
            return;
        }
        next = std::move(token.waiting.front());
        token.waiting.pop_front();
    }
    next(make_place(token_id));
}

TokenLine::TokenLine(std::size_t most) : most_(std::max<std::size_t>(1, most)), state_(std::make_shared<State>()) {}

asio::awaitable<std::shared_ptr<const void>> TokenLine::take(std::string token_id)
{
    // Named on purpose: GCC 12 destroys a capturing temporary twice inside a co_await expression.
    auto initiate = [state = state_, most = most_, &token_id](auto handler) {
        state->enter(token_id, most, net::make_resume(std::move(handler)));
    };
    co_return co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(TokenPlace)>(initiate,
                                                                                              asio::use_awaitable);
}

asio::awaitable<std::shared_ptr<const void>> TokenTurns::take() const
{
    if (!line) co_return nullptr;
    co_return co_await line->take(token_id);
}

} // namespace fathom::server
