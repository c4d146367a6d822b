#include "agent/executor/slurm/queue_looks.hpp"

#include <algorithm>
#include <utility>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kMinInterval = 500ms;
constexpr std::chrono::milliseconds kMaxInterval = 30s;
/// The pause after an answer, in times of what it took: a busy slurmctld is asked more seldom.
constexpr int kPauses = 20;
/// That pause at most: sbatch tries for long to reach a slurmctld that is down, which says nothing of how busy it is.
constexpr std::chrono::milliseconds kMaxPause = 30s;

} // namespace

void QueueLooks::set_places(std::vector<QueuePlace> places)
{
    places_ = std::move(places);
    interval_ = kMaxInterval;
    left_in_round_ = places_.size();
    next_ = {};
}

void QueueLooks::hasten(Time now)
{
    interval_ = kMinInterval;
    left_in_round_ = places_.size();
    next_ = std::min(next_, std::max(now, soonest_));
}

std::optional<QueuePlace> QueueLooks::due(Time now)
{
    if (places_.empty() || now < next_) return {};
    std::rotate(places_.begin(), places_.begin() + 1, places_.end());
    return places_.back();
}

void QueueLooks::looked(Time now, std::chrono::milliseconds took)
{
    const auto count = static_cast<std::int64_t>(std::max<std::size_t>(places_.size(), 1));
    soonest_ = now + std::clamp(took * kPauses, kMinInterval, kMaxPause);
    next_ = std::max(soonest_, now + interval_ / count);
    if (left_in_round_ > 1) {
        --left_in_round_;
    } else {
        interval_ = std::min(2 * interval_, kMaxInterval);
        left_in_round_ = places_.size();
    }
}

} // namespace fathom::agent
