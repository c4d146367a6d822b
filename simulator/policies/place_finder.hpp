#pragma once

#include "core/decide/routing/place.hpp"
#include "core/schedule/job_options.hpp"
#include "simulator/knowledge/knowledge.hpp"
#include "simulator/world/scenario.hpp"

#include <limits>
#include <map>
#include <span>
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

/// Finds the places of jobs as the router does (PlaceChooser, options_of()), with the run times that are known here and
/// the start-up of the centers. Not thread-safe.
class PlaceFinder {
  public:
    /// Keeps both, which must outlive it.
    PlaceFinder(const Scenario& scenario, Knowledge& knowledge);

    /// What is free of a unit type from now on; all of it before this was said.
    void set_available(std::size_t unit_type, Availability availability)
    {
        now_[unit_type].availability = std::move(availability);
    }

    /// By what is available.
    JobPlaces find(std::size_t job, double now_s);
    /// The same if nothing ran or was closed.
    JobPlaces find_if_idle(std::size_t job, double now_s);

    /// Whether the job's places are the same at any time, whatever is free, as those of nearly all jobs are.
    bool is_fixed(std::size_t job) const;

  private:
    const std::vector<std::uint32_t>& types_of(const Job& job);
    RouteRequest request_of(const Job& job, double now_s) const;
    JobPlaces fixed_places(std::size_t job);
    JobPlaces choose(std::size_t job, double now_s, std::span<const UnitTypeView> views);
    struct Offers;
    /// @param most_cost  that the job may have.
    Offers offers_of(std::size_t job, PlaceChooser& chooser, double most_cost, std::span<const UnitTypeView> views);

    const Scenario* scenario_;
    Knowledge* knowledge_;
    std::vector<UnitTypeView> idle_;                                                      ///< the unit types, all free
    std::vector<UnitTypeView> now_;                                                       ///< the same as they are
    std::vector<std::uint8_t> is_plain_;                                                  ///< by details
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> types_; ///< by job type and details
};

} // namespace fathom::simulation
