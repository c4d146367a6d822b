#include "core/decide/better_place.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace fathom {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMostReleases = 100'000; ///< units whose release is looked at, of one type

/// What running at the place costs the job and others, for each second: its own second, and the more so the busier the
/// network is, what the units are worth to others, of a job with fewest units as much as its own.
double toll(const UnitTypeLoad& type, double relative_units)
{
    const double load = std::clamp(type.load, 0.0, 1.0);
    return (1 - load) + load * type.worth * relative_units;
}

std::vector<double> free_in_s(const UnitTypeLoad& type)
{
    std::vector<double> result;
    for (const UnitRelease& release : sorted_releases(type)) {
        const std::int64_t room = kMostReleases - std::ssize(result);
        result.insert(result.end(), static_cast<std::size_t>(std::clamp<std::int64_t>(release.unit_count, 0, room)),
                      std::max(release.in_s, 0.0));
    }
    return result;
}

} // namespace

BetterPlaces::BetterPlaces(std::span<const WaitingJobView> jobs, std::span<const OrderIndex> indices,
                           std::span<const UnitTypeLoad> unit_types)
    : jobs_(jobs), indices_(indices), unit_types_(unit_types), lines_(unit_types.size()), turn_(jobs.size(), kNever),
      fewest_units_(jobs.size(), std::numeric_limits<std::int64_t>::max()), promises_(jobs.size())
{
    for (std::size_t job = 0; job < jobs.size(); ++job) {
        const std::span<const double> index = indices[job].index;
        const auto best = std::min_element(index.begin(), index.end());
        if (best == index.end() || *best == kNever) continue;
        const JobOption& option = jobs[job].options[static_cast<std::size_t>(best - index.begin())];
        for (const JobOption& one : jobs[job].options)
            fewest_units_[job] = std::min(fewest_units_[job], std::max<std::int64_t>(one.unit_count, 1));
        turn_[job] = indices[job].is_overdue ? -1 : *best;
        lines_[option.unit_type].jobs.push_back({turn_[job], jobs[job].id, option.unit_count});
    }
    for (std::size_t type = 0; type < lines_.size(); ++type) {
        Line& line = lines_[type];
        line.free_in_s = free_in_s(unit_types[type]);
        std::sort(line.jobs.begin(), line.jobs.end(),
                  [](const InLine& a, const InLine& b) { return std::tie(a.index, a.id) < std::tie(b.index, b.id); });
        for (InLine& one : line.jobs)
            line.units += std::exchange(one.units_ahead, line.units);
    }
}

double BetterPlaces::cost(std::size_t job, std::size_t option) const
{
    const JobOption& place = jobs_[job].options[option];
    const double relative_units = static_cast<double>(place.unit_count) / static_cast<double>(fewest_units_[job]);
    return toll(unit_types_[place.unit_type], relative_units) * place.run_s * place.regret;
}

/// How long until the place is free for this job, when all that suit it best and whose turn is earlier have started;
/// nothing when too little is known of what frees.
std::optional<double> BetterPlaces::wait_s(std::size_t job, std::size_t option) const
{
    const JobOption& place = jobs_[job].options[option];
    const Line& line = lines_[place.unit_type];
    const auto own = std::lower_bound(line.jobs.begin(), line.jobs.end(), std::tie(turn_[job], jobs_[job].id),
                                      [](const InLine& a, const std::tuple<const double&, const std::string&>& b) {
                                          return std::tuple<double, std::string_view>(a.index, a.id) < b;
                                      });
    const std::int64_t ahead = own == line.jobs.end() ? line.units : own->units_ahead;
    const std::int64_t missing = ahead + place.unit_count - unit_types_[place.unit_type].free_units;
    if (missing <= 0) return 0;
    if (missing > std::ssize(line.free_in_s)) return std::nullopt;
    return line.free_in_s[static_cast<std::size_t>(missing - 1)];
}

BetterPlaces::Promise BetterPlaces::least_promise(std::size_t job) const
{
    Promise least;
    for (std::size_t option = 0; option < jobs_[job].options.size(); ++option) {
        if (indices_[job].index[option] == kNever) continue;
        const double load = unit_types_[jobs_[job].options[option].unit_type].load;
        if (load >= 1) continue;
        const std::optional<double> wait = wait_s(job, option);
        if (!wait || *wait <= 0) continue;
        // Of the jobs that will come meanwhile, some will go before it; the fewer the emptier the network is.
        const double promised = *wait / std::sqrt(1 - std::max(load, 0.0)) + cost(job, option);
        if (promised < least.cost) least = {promised, option, *wait};
    }
    return least;
}

const BetterPlaces::Promise& BetterPlaces::promise(std::size_t job)
{
    if (!promises_[job]) promises_[job] = least_promise(job);
    return *promises_[job];
}

bool BetterPlaces::is_worth_waiting(std::size_t job, std::size_t option)
{
    return promise(job).cost < cost(job, option);
}

bool BetterPlaces::is_better_one_free(std::size_t job, std::size_t option, const FreeUnits& free) const
{
    const std::vector<JobOption>& options = jobs_[job].options;
    if (unit_types_[options[option].unit_type].load >= 1) return false;
    const double own = cost(job, option);
    for (std::size_t other = 0; other < options.size(); ++other) {
        if (options[other].unit_type == options[option].unit_type || indices_[job].index[other] == kNever) continue;
        if (cost(job, other) < own && free.fits(options[other])) return true;
    }
    return false;
}

} // namespace fathom
