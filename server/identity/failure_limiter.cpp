#include "server/identity/failure_limiter.hpp"

#include <algorithm>

namespace fathom::server {

FailureLimiter::FailureLimiter(double burst, double per_second, std::size_t most_networks)
    : burst_(burst), per_second_(per_second), most_networks_(most_networks)
{
}

double FailureLimiter::refilled(const Bucket& bucket, SteadyTime now) const
{
    const double seconds = std::chrono::duration<double>(now - bucket.at).count();
    return std::min(burst_, bucket.left + seconds * per_second_);
}

bool FailureLimiter::allows(const std::string& network, SteadyTime now)
{
    const std::scoped_lock lock(mutex_);
    const auto entry = buckets_.find(network);
    return entry == buckets_.end() || refilled(entry->second, now) >= 1;
}

void FailureLimiter::record_failure(const std::string& network, SteadyTime now)
{
    const std::scoped_lock lock(mutex_);
    auto entry = buckets_.find(network);
    if (entry == buckets_.end()) {
        if (buckets_.size() >= most_networks_) make_room(now);
        entry = buckets_.emplace(network, Bucket{burst_, now}).first;
    }
    entry->second = {std::max(0.0, refilled(entry->second, now) - 1), now};
}

void FailureLimiter::make_room(SteadyTime now)
{
    std::erase_if(buckets_, [&](const auto& entry) { return refilled(entry.second, now) >= burst_; });
    if (buckets_.size() < most_networks_) return;
    buckets_.erase(std::min_element(buckets_.begin(), buckets_.end(),
                                    [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
}

} // namespace fathom::server
