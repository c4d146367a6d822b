#include "core/net/answer_budget.hpp"

namespace fathom::net {
namespace {

/// TLS and the kernel keep as much of a connection.
constexpr std::size_t kSmallAnswerBytes = 32UL << 10U;

} // namespace

AnswerBudget::AnswerBudget(std::size_t bytes, std::size_t bytes_of_one_network)
    : bytes_(bytes), bytes_of_one_network_(bytes_of_one_network), state_(std::make_shared<State>())
{
}

std::shared_ptr<const void> AnswerBudget::take(const std::string& network, std::size_t bytes)
{
    if (bytes <= kSmallAnswerBytes) return {this, [](const void*) {}};
    const std::scoped_lock lock(state_->mutex);
    const auto found = state_->used_by.find(network);
    const std::size_t own = found == state_->used_by.end() ? 0 : found->second;
    if (state_->used > 0 && state_->used + bytes > bytes_) return nullptr;
    if (own > 0 && own + bytes > bytes_of_one_network_) return nullptr;
    state_->used += bytes;
    state_->used_by[network] = own + bytes;
    return {this, [state = state_, network, bytes](const void*) {
                const std::scoped_lock returning(state->mutex);
                state->used -= bytes;
                const auto mine = state->used_by.find(network);
                if (mine != state->used_by.end() && (mine->second -= bytes) == 0) state->used_by.erase(mine);
            }};
}

} // namespace fathom::net
