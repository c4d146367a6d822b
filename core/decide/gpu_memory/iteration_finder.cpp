#include "core/decide/gpu_memory/iteration_finder.hpp"

#include <algorithm>

namespace fathom::gpu {

IterationFinder::IterationFinder(const IterationSettings& settings) : settings_(settings)
{
    settings_.most_events = std::max<std::size_t>(settings_.most_events, 1);
    settings_.least_repeats = std::max<std::size_t>(settings_.least_repeats, 2);
    events_.resize(2 * settings_.most_events);
}

bool IterationFinder::add(std::uint64_t event, std::int64_t live_bytes)
{
    events_[count_ % events_.size()] = {event, live_bytes};
    ++count_;
    if (period_ != 0) {
        if (ago(period_).key == event) {
            ++run_;
            return count_ % period_ == phase_;
        }
        drop_period();
    }
    follow(event);
    period_ = believed_period();
    if (period_ == 0) return false;
    run_ = runs_[period_];
    runs_.clear();
    last_places_.clear();
    choose_phase();
    return count_ % period_ == phase_;
}

void IterationFinder::drop_period()
{
    std::size_t& broken = broken_runs_[period_];
    broken = std::max(broken, run_);
    ++breaks_;
    period_ = run_ = 0;
}

/// What does not repeat any longer is no candidate; what does is one event longer.
void IterationFinder::follow(std::uint64_t event)
{
    for (auto it = runs_.begin(); it != runs_.end();) {
        if (it->first < count_ && ago(it->first).key == event) {
            ++it->second;
            ++it;
        } else {
            it = runs_.erase(it);
        }
    }
    const auto [last, is_new] = last_places_.try_emplace(event, count_);
    if (!is_new) {
        const std::uint64_t back = count_ - last->second;
        if (back <= settings_.most_events && runs_.size() < settings_.most_candidates) runs_.try_emplace(back, 1);
        last->second = count_;
    }
    // A program that never repeats must not fill the memory.
    if (last_places_.size() > 2 * settings_.most_events) last_places_.clear();
    if (broken_runs_.size() > settings_.most_events) broken_runs_.clear();
}

/// The shortest that came often enough; 0 if none.
std::size_t IterationFinder::believed_period() const
{
    std::size_t shortest = 0;
    for (const auto& [period, run] : runs_) {
        const auto broken = broken_runs_.find(period);
        const std::size_t needed =
            std::max((settings_.least_repeats - 1) * period, broken == broken_runs_.end() ? 0 : 2 * broken->second);
        if (run >= needed && (shortest == 0 || period < shortest)) shortest = period;
    }
    return shortest;
}

void IterationFinder::choose_phase()
{
    std::uint64_t best = period_ - 1;
    for (std::uint64_t back = period_; back-- > 0;) {
        if (ago(back).live_bytes < ago(best).live_bytes) best = back;
    }
    // Where the window of one period begins is chance: go back to the first event of the stretch with the least.
    for (std::size_t steps = 0; steps + 1 < period_; ++steps) {
        const std::uint64_t before = (best + 1) % period_;
        if (ago(before).live_bytes != ago(best).live_bytes) break;
        best = before;
    }
    phase_ = (count_ - best) % period_;
}

double IterationFinder::confidence() const
{
    if (period_ == 0) return 0;
    const double came = static_cast<double>(run_) / static_cast<double>(period_);
    return came / (came + static_cast<double>(breaks_));
}

} // namespace fathom::gpu
