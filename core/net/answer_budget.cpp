#include "core/net/answer_budget.hpp"

#include <algorithm>

namespace fathom::net {
namespace {

/// TLS and the kernel keep as much of a connection.
constexpr std::size_t kSmallAnswerBytes = 32UL << 10U;
constexpr std::size_t kReaders = 4; ///< for whom there must be as much as one has

} // namespace

AnswerBudget::AnswerBudget(std::size_t bytes) : bytes_(bytes), state_(std::make_shared<State>()) {}

std::shared_ptr<const void> AnswerBudget::take(const std::string& reader, std::size_t bytes)
{
    if (bytes <= kSmallAnswerBytes) return {this, [](const void*) {}};
    const std::scoped_lock lock(state_->mutex);
    const auto found = state_->used_by.find(reader);
    const std::size_t own = found == state_->used_by.end() ? 0 : found->second;
    const std::size_t left = bytes_ - std::min(state_->used, bytes_);
    const std::size_t needed = own == 0 ? bytes : kReaders * (own + bytes);
    if (state_->used > 0 && needed + bytes > left) return nullptr;
    state_->used += bytes;
    state_->used_by[reader] = own + bytes;
    return {this, [state = state_, reader, bytes](const void*) {
                const std::scoped_lock returning(state->mutex);
                state->used -= bytes;
                const auto mine = state->used_by.find(reader);
                if (mine != state->used_by.end() && (mine->second -= bytes) == 0) state->used_by.erase(mine);
            }};
}

} // namespace fathom::net
