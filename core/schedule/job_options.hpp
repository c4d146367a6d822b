#pragma once

#include "core/decide/queue/order_jobs.hpp"
#include "core/decide/routing/route.hpp"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

/// Where a job could run, as the order of jobs (core/decide/queue/order_jobs) looks at it.
namespace fathom {

/// What one unit type offers a job.
struct PlaceOffers {
    std::size_t unit_type{}; ///< JobOption::unit_type
    std::span<const CountOffer> counts;
};

/// An option for each count of each place. What is free now says nothing of what it costs: a job that cares for money
/// or energy has only the options that are as good as its best. RelativeObjective is 1, and more where measurements are
/// not fully believed or starts take long. A run time that is not known stays 0.
std::vector<JobOption> options_of(const Preference& prefer, std::span<const PlaceOffers> places);

/// An option whose run time was not known, with one that is assumed, in seconds and positive.
JobOption with_run_time(JobOption option, double run_s);

/// The options, of which those whose run times are not known have the one that is assumed.
std::vector<JobOption> with_run_times(std::vector<JobOption> options, double run_s);

/// The option that the job would take if it were alone: of least run time · relative objective, of equal ones the
/// first. There must be one.
const JobOption& option_alone(std::span<const JobOption> options);

/// The same of many jobs, found once for those that share a list. The lists must outlive it.
class OptionsAlone {
  public:
    const JobOption& of(const JobOptions& options)
    {
        const JobOption*& known = known_[options.list()];
        if (known == nullptr) known = &option_alone(options);
        return *known;
    }

  private:
    std::unordered_map<const void*, const JobOption*> known_;
};

/// The shortest of their run times; infinite without any.
double shortest_run_s(std::span<const JobOption> options);

/// In one decision so often at most are jobs looked at again whose options depend on what is free, after others
/// started: each look may start some more, and all of them together must not take long.
inline constexpr int kMaxLooksAgain = 8;

/// What waiting jobs would take of a unit type if each were alone.
struct WantedUnits {
    std::int64_t jobs{};
    std::int64_t units{};

    void add(const JobOption& alone)
    {
        ++jobs;
        units += alone.unit_count;
    }
    void remove(const JobOption& alone)
    {
        --jobs;
        units -= alone.unit_count;
    }
};

/// How busy units of a type are taken to be when jobs are ordered: as they have been of late (BusyShare), but not
/// busier than what runs and all other jobs that wait for them would make them now. While there is room for all,
/// nobody is sent elsewhere, or given fewer units, for the sake of others, whatever was before.
/// @param busy_share  0..1.
double load_now(double busy_share, std::int64_t unit_count, std::int64_t free_units, const WantedUnits& wanted);

} // namespace fathom
