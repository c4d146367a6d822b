#include "core/decide/capacity/availability.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace fathom {

Availability::Availability(std::int64_t unit_count) : steps_{Step{0, unit_count}} {}

std::size_t Availability::cut(double at_s)
{
    const auto after = std::upper_bound(steps_.begin(), steps_.end(), at_s,
                                        [](double time_s, const Step& step) { return time_s < step.from_s; });
    const auto index = static_cast<std::size_t>(after - steps_.begin());
    if (steps_[index - 1].from_s == at_s) return index - 1;
    const Step step{at_s, steps_[index - 1].free};
    steps_.insert(after, step);
    return index;
}

void Availability::take(double from_s, double to_s, std::int64_t units)
{
    from_s = std::max(from_s, 0.0);
    if (!(to_s > from_s) || units <= 0) return;
    const std::size_t first = cut(from_s);
    const std::size_t end = to_s == kForEver ? steps_.size() : cut(to_s);
    for (std::size_t i = first; i < end; ++i)
        steps_[i].free -= units;
}

double Availability::earliest_start(std::int64_t units, double duration_s, double not_before_s) const
{
    double start_s = std::max(not_before_s, 0.0);
    bool is_open = false; // units have been free since start_s
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const double end_s = i + 1 < steps_.size() ? steps_[i + 1].from_s : kForEver;
        if (end_s <= start_s) continue;
        if (steps_[i].free < units) {
            is_open = false;
            continue;
        }
        if (!is_open) start_s = std::max(start_s, steps_[i].from_s);
        is_open = true;
        // Not as start + duration: a job that ends where the next begins must not miss by a rounding.
        if (end_s == kForEver || duration_s <= end_s - start_s) return start_s;
    }
    return kForEver;
}

std::int64_t Availability::free_at(double at_s) const
{
    const auto after = std::upper_bound(steps_.begin(), steps_.end(), std::max(at_s, 0.0),
                                        [](double time_s, const Step& step) { return time_s < step.from_s; });
    return std::prev(after)->free;
}

double Availability::mean_free(double from_s, double to_s) const
{
    double unit_s = 0;
    for (std::size_t i = 0; i < steps_.size() && steps_[i].from_s < to_s; ++i) {
        const double begin_s = std::max(steps_[i].from_s, from_s);
        const double end_s = std::min(i + 1 < steps_.size() ? steps_[i + 1].from_s : kForEver, to_s);
        if (end_s > begin_s)
            unit_s += (end_s - begin_s) * static_cast<double>(std::max<std::int64_t>(steps_[i].free, 0));
    }
    return unit_s / (to_s - from_s);
}

Availability Availability::sooner(double by_s) const
{
    std::vector<Step> steps;
    for (Step step : steps_) {
        step.from_s = std::max(step.from_s - by_s, 0.0);
        if (step.from_s <= 0) steps.clear();
        steps.push_back(step);
    }
    return from(std::move(steps));
}

} // namespace fathom
