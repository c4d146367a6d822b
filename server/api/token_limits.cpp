#include "server/api/token_limits.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::server {
namespace {

/// Buckets that are full again say nothing; they are dropped when there are so many.
constexpr std::size_t kManyBuckets = 1024;

} // namespace

Result<void> TokenRate::take(const std::string& token_id, std::chrono::steady_clock::time_point now)
{
    const auto left_of = [&](const Bucket& bucket) {
        const std::chrono::duration<double> since = now - bucket.at;
        return std::min(burst_, bucket.left + since.count() * per_second_);
    };
    const std::scoped_lock lock(mutex_);
    if (buckets_.size() >= kManyBuckets)
        std::erase_if(buckets_, [&](const auto& entry) { return left_of(entry.second) >= burst_; });
    Bucket& bucket = buckets_.try_emplace(token_id, Bucket{burst_, now}).first->second;
    const double left = left_of(bucket);
    bucket = {left, now};
    if (left < 1) {
        const auto wait_s = static_cast<int>(std::ceil((1 - left) / per_second_));
        return Error{Errc::kTooMany, "this token asks too often: it may again in " + std::to_string(wait_s) +
                                         (wait_s == 1 ? " second" : " seconds")};
    }
    bucket.left -= 1;
    return {};
}

TokenPlaces::TokenPlaces(std::size_t most) : most_(most), state_(std::make_shared<State>()) {}

std::shared_ptr<const void> TokenPlaces::take(const std::string& token_id)
{
    const std::scoped_lock lock(state_->mutex);
    std::size_t& taken = state_->taken[token_id];
    if (taken >= most_) return nullptr;
    ++taken;
    return {this, [state = state_, token_id](const void*) {
                const std::scoped_lock returning(state->mutex);
                const auto found = state->taken.find(token_id);
                if (found != state->taken.end() && --found->second == 0) state->taken.erase(found);
            }};
}

} // namespace fathom::server
