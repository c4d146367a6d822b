#include "server/api/token_limits.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::server {
namespace {

/// Buckets that are full again say nothing; they are dropped when there are so many, or twice as many as were left
/// then.
constexpr std::size_t kManyBuckets = 1024;

} // namespace

TokenRate::TokenRate(double burst, double per_second) : burst_(burst), per_second_(per_second), many_(kManyBuckets) {}

double TokenRate::left_of(const Bucket& bucket, std::chrono::steady_clock::time_point now) const
{
    const std::chrono::duration<double> since = now - bucket.at;
    return std::min(burst_, bucket.left + since.count() * per_second_);
}

std::chrono::seconds TokenRate::wait_for(double left) const
{
    return std::chrono::seconds(left < 1 ? static_cast<std::int64_t>(std::ceil((1 - left) / per_second_)) : 0);
}

void TokenRate::forget_full(std::chrono::steady_clock::time_point now)
{
    if (buckets_.size() < many_) return;
    std::erase_if(buckets_, [&](const auto& entry) { return left_of(entry.second, now) >= burst_; });
    many_ = std::max(kManyBuckets, 2 * buckets_.size());
}

std::chrono::seconds TokenRate::wait_of(const std::string& token_id, std::chrono::steady_clock::time_point now)
{
    const std::scoped_lock lock(mutex_);
    const auto found = buckets_.find(token_id);
    return wait_for(found == buckets_.end() ? burst_ : left_of(found->second, now));
}

std::chrono::seconds TokenRate::try_take(const std::string& token_id, std::chrono::steady_clock::time_point now)
{
    const std::scoped_lock lock(mutex_);
    forget_full(now);
    Bucket& bucket = buckets_.try_emplace(token_id, Bucket{burst_, now}).first->second;
    const double left = left_of(bucket, now);
    const std::chrono::seconds wait = wait_for(left);
    bucket = {wait.count() > 0 ? left : left - 1, now};
    return wait;
}

Result<void> TokenRate::take(const std::string& token_id, std::chrono::steady_clock::time_point now)
{
    const std::chrono::seconds wait = try_take(token_id, now);
    if (wait.count() == 0) return {};
    return Error{Errc::kTooMany, "this token asks too often: it may again in " + std::to_string(wait.count()) +
                                     (wait.count() == 1 ? " second" : " seconds")};
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
