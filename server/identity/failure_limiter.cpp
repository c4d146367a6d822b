#include "server/identity/failure_limiter.hpp"

#include <algorithm>
#include <arpa/inet.h>

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

std::string network_of(std::string_view remote_address)
{
    std::string host(remote_address.substr(0, remote_address.rfind(':')));
    if (host.size() < 2 || host.front() != '[') return host;
    host = host.substr(1, host.size() - 2);
    in6_addr address{};
    if (inet_pton(AF_INET6, host.c_str(), &address) != 1) return host;
    if (IN6_IS_ADDR_V4MAPPED(&address)) return host;
    std::fill(std::begin(address.s6_addr) + 8, std::end(address.s6_addr), std::uint8_t{0});
    char text[INET6_ADDRSTRLEN];
    return inet_ntop(AF_INET6, &address, text, sizeof text) == nullptr ? host : std::string(text) + "/64";
}

} // namespace fathom::server
