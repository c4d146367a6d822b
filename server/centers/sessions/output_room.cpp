#include "server/centers/sessions/output_room.hpp"

namespace fathom::server {

std::shared_ptr<const void> OutputRoom::take(std::size_t bytes)
{
    const std::size_t used = state_->used.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (used > state_->bytes) {
        state_->used.fetch_sub(bytes, std::memory_order_relaxed);
        return nullptr;
    }
    return {this, [state = state_, bytes](const void*) { state->used.fetch_sub(bytes, std::memory_order_relaxed); }};
}

} // namespace fathom::server
