#include "server/app/stop_requests.hpp"

#include <algorithm>
#include <sys/signalfd.h>
#include <unistd.h>

namespace fathom::server {

int StopRequests::poll_limit_ms(SteadyTime now) const
{
    if (!first_ || is_next_another_) return -1;
    // Rounded up: take() is to find that the time is over.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*first_ + kSame - now);
    return static_cast<int>(std::max(left.count(), std::chrono::milliseconds::rep{0}));
}

std::optional<RequestedStop> StopRequests::take(SteadyTime now)
{
    const std::optional<int> signal = read_all();
    const bool is_another = is_next_another_;
    is_next_another_ = first_ && now - *first_ >= kSame; // whatever comes from here on came after `now`
    if (!signal) return std::nullopt;
    if (!first_) {
        first_ = now;
        return RequestedStop{.signal = *signal, .is_at_once = false};
    }
    if (!is_another) return std::nullopt;
    return RequestedStop{.signal = *signal, .is_at_once = true};
}

/// The number of the last one; none: none has come.
std::optional<int> StopRequests::read_all() const
{
    std::optional<int> last;
    signalfd_siginfo signal{};
    while (::read(signals_.number(), &signal, sizeof signal) == sizeof signal)
        last = static_cast<int>(signal.ssi_signo);
    return last;
}

} // namespace fathom::server
