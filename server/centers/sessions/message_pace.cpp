#include "server/centers/sessions/message_pace.hpp"

#include <algorithm>

namespace fathom::server {

std::chrono::steady_clock::duration MessagePace::take(SteadyTime now)
{
    const std::chrono::duration<double> since = at_ == SteadyTime() ? SteadyTime::duration::zero() : now - at_;
    room_ = std::min(most_, room_ + since / pause_) - 1;
    at_ = now;
    return std::chrono::duration_cast<SteadyTime::duration>(std::max(-room_, 0.0) * pause_);
}

} // namespace fathom::server
