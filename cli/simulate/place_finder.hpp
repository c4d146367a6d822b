#pragma once

#include "cli/simulate/knowledge.hpp"
#include "cli/simulate/scenario.hpp"
#include "core/decide/network_window.hpp"
#include "core/decide/order_jobs.hpp"

#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace fathom::simulation {

/// Where a job could start now, and until when that can be said.
struct JobPlaces {
    std::vector<JobOption> options;
    /// A start at that time is better than any now: of its network, or of prices. Infinite: it had best start at once.
    double hold_until_s = std::numeric_limits<double>::infinity();
    double valid_until_s = std::numeric_limits<double>::infinity();  ///< then they are to be found anew
    double latest_start_s = std::numeric_limits<double>::infinity(); ///< at the fastest place; later it is too late
    bool is_hopeless = false;                                        ///< there is none, and none will come
};

/// Finds the places of jobs by what is known of run times: unit types that the job fits, and numbers of units up to the
/// knee of its speed-up, each with start-up and transfers, within budget and deadline. Not thread-safe.
class PlaceFinder {
  public:
    /// Keeps both, which must outlive it.
    PlaceFinder(const Scenario& scenario, Knowledge& knowledge);

    enum class Hold { kAllowed, kOver };
    /// @param hold  whether the job may yet wait for a better time.
    JobPlaces find(std::size_t job, double now_s, Hold hold);

    /// Whether the job's places are the same at any time, as those of nearly all jobs are.
    bool is_plain(std::size_t job) const;

  private:
    struct Plan;
    const std::vector<std::uint32_t>& types_of(const Job& job);
    const std::vector<std::int64_t>& counts_of(std::size_t job, std::size_t unit_type);
    void add_plain(std::size_t job, JobPlaces& places);
    std::optional<Plan> plan(std::size_t job, std::size_t unit_type, std::int64_t unit_count, double now_s, Hold hold);
    void add_planned(std::size_t job, double now_s, Hold hold, JobPlaces& places);

    const Scenario* scenario_;
    Knowledge* knowledge_;
    std::vector<std::optional<NetworkProfile>> networks_; ///< by center; none: data is there at once
    std::vector<std::uint8_t> is_plain_;                  ///< by details
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> types_; ///< by job type and details
    std::vector<std::int64_t> counts_;                                                    ///< of the last question
};

} // namespace fathom::simulation
