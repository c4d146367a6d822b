#include "core/schedule/job_options.hpp"

#include "core/decide/routing/route_reasons.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace fathom {

std::vector<JobOption> options_of(const Preference& prefer, std::span<const PlaceOffers> places)
{
    const bool is_about_time = prefer.cost == 0 && prefer.energy == 0;
    double most = std::numeric_limits<double>::infinity();
    for (const PlaceOffers& place : places) {
        for (const CountOffer& offer : place.counts)
            most = is_about_time ? most : std::min(most, offer.objective * (1 + kTieFraction));
    }
    std::vector<JobOption> options;
    for (const PlaceOffers& place : places) {
        for (const CountOffer& offer : place.counts) {
            if (offer.objective > most) continue;
            const JobOption option{place.unit_type, offer.unit_count, 0, 1, offer.beyond_s};
            options.push_back(offer.run_s > 0 ? with_run_time(option, offer.run_s) : option);
        }
    }
    return options;
}

JobOption with_run_time(JobOption option, double run_s)
{
    option.run_s = run_s;
    option.relative_objective = 1 + std::exchange(option.beyond_s, 0) / run_s;
    return option;
}

std::vector<JobOption> with_run_times(std::vector<JobOption> options, double run_s)
{
    for (JobOption& option : options) {
        if (!(option.run_s > 0)) option = with_run_time(option, run_s);
    }
    return options;
}

const JobOption& option_alone(std::span<const JobOption> options)
{
    return *std::min_element(options.begin(), options.end(), [](const JobOption& a, const JobOption& b) {
        return a.run_s * a.relative_objective < b.run_s * b.relative_objective;
    });
}

double shortest_run_s(std::span<const JobOption> options)
{
    double shortest = std::numeric_limits<double>::infinity();
    for (const JobOption& option : options)
        shortest = std::min(shortest, option.run_s);
    return shortest;
}

double load_now(double busy_share, std::int64_t unit_count, std::int64_t free_units, const WantedUnits& wanted)
{
    if (unit_count <= 0) return busy_share;
    const auto jobs = static_cast<double>(wanted.jobs);
    const double others = wanted.jobs > 0 ? static_cast<double>(wanted.units) * (jobs - 1) / jobs : 0;
    return std::min(busy_share,
                    (static_cast<double>(unit_count - free_units) + others) / static_cast<double>(unit_count));
}

} // namespace fathom
