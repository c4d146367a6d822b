#include "server/events/settled_numbers.hpp"

#include <algorithm>

namespace fathom::server {

void SettledNumbers::see(std::int64_t newest, SteadyTime now)
{
    if (sights_.empty() || newest > sights_.back().newest) sights_.push_back({newest, now});
}

std::int64_t SettledNumbers::settled(SteadyTime now)
{
    while (!sights_.empty() && now - sights_.front().at >= limit_) {
        settled_ = std::max(settled_, sights_.front().newest);
        sights_.pop_front();
    }
    return settled_;
}

void SettledNumbers::forget()
{
    sights_.clear();
    settled_ = 0;
}

} // namespace fathom::server
