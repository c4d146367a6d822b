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
    Bucket& bucket = bucket_of(network, now);
    bucket = {std::max(0.0, refilled(bucket, now) - 1), now};
}

bool FailureLimiter::take(const std::string& network, SteadyTime now)
{
    const std::scoped_lock lock(mutex_);
    Bucket& bucket = bucket_of(network, now);
    const double left = refilled(bucket, now);
    if (left < 1) return false;
    bucket = {left - 1, now};
    return true;
}

void FailureLimiter::give_back(const std::string& network, SteadyTime now)
{
    const std::scoped_lock lock(mutex_);
    Bucket& bucket = bucket_of(network, now);
    bucket = {std::min(burst_, refilled(bucket, now) + 1), now};
}

FailureLimiter::Bucket& FailureLimiter::bucket_of(const std::string& network, SteadyTime now)
{
    const auto entry = buckets_.find(network);
    if (entry != buckets_.end()) return entry->second;
    if (buckets_.size() >= most_networks_) make_room(now);
    return buckets_.emplace(network, Bucket{burst_, now}).first->second;
}

void FailureLimiter::make_room(SteadyTime now)
{
    std::erase_if(buckets_, [&](const auto& entry) { return refilled(entry.second, now) >= burst_; });
    if (buckets_.size() < most_networks_) return;
    buckets_.erase(std::min_element(buckets_.begin(), buckets_.end(),
                                    [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
}

} // namespace fathom::server
