#include "core/schedule/center_queues.hpp"

#include <algorithm>
#include <limits>

namespace fathom {

CenterQueues::CenterQueues(const WantedPlaces& places, std::span<const WaitingJobView> views) : places_(&places)
{
    OptionsAlone alone;
    for (const WaitingJobView& view : views) {
        if (view.options.empty()) continue;
        const JobOption& option = alone.of(view.options);
        const auto units =
            static_cast<double>(std::max<std::int64_t>(places.unit_type(option.unit_type).unit_count, 1));
        backlog_s_[option.unit_type] += option.run_s * static_cast<double>(option.unit_count) / units;
    }
}

JobOptions CenterQueues::without_long(const JobOptions& options) const
{
    const auto has_queue = [&](const JobOption& option) { return places_->unit_type(option.unit_type).has_queue(); };
    if (std::none_of(options.begin(), options.end(), has_queue)) return options;
    double limit_s = std::numeric_limits<double>::infinity();
    for (const JobOption& option : options)
        limit_s = std::min(limit_s, end_as_last_s(option));
    std::vector<JobOption> kept;
    std::copy_if(options.begin(), options.end(), std::back_inserter(kept),
                 [&](const JobOption& option) { return !has_queue(option) || end_s(option) <= limit_s; });
    return kept.size() == options.size() ? options : JobOptions(std::move(kept));
}

double CenterQueues::end_s(const JobOption& option) const
{
    const Availability& free = places_->unit_type(option.unit_type).availability;
    return free.earliest_start(option.unit_count, option.run_s) + option.run_s * option.relative_objective;
}

double CenterQueues::end_as_last_s(const JobOption& option) const
{
    const auto backlog = backlog_s_.find(option.unit_type);
    return end_s(option) + (backlog == backlog_s_.end() ? 0 : backlog->second);
}

bool joins_queue(const JobOptions& options, const WantedPlaces& places)
{
    return std::any_of(options.begin(), options.end(),
                       [&](const JobOption& option) { return places.unit_type(option.unit_type).has_queue(); });
}

} // namespace fathom
