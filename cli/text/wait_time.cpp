#include "cli/text/wait_time.hpp"

#include <algorithm>
#include <thread>

namespace fathom::cli {
namespace {

using std::chrono::steady_clock;
constexpr std::chrono::milliseconds kMaxPause{2000};
/// Longer limits are as good as none, and would overflow the clock.
constexpr double kMaxLimit_s = 1e9;

} // namespace

WaitTime::WaitTime(std::optional<double> limit_s)
{
    if (!limit_s || *limit_s > kMaxLimit_s) return;
    end_ = steady_clock::now() +
           std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(*limit_s));
}

bool WaitTime::has_passed() const
{
    return end_ && steady_clock::now() >= *end_;
}

std::chrono::milliseconds WaitTime::at_most(std::chrono::milliseconds longest) const
{
    if (!end_) return longest;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end_ - steady_clock::now());
    return std::clamp(left, std::chrono::milliseconds(0), longest);
}

std::chrono::milliseconds WaitTime::next_pause()
{
    const std::chrono::milliseconds pause = at_most(next_);
    next_ = std::min(next_ * 3 / 2, kMaxPause);
    return pause;
}

bool WaitTime::pause()
{
    if (has_passed()) return false;
    std::this_thread::sleep_for(next_pause());
    return true;
}

} // namespace fathom::cli
