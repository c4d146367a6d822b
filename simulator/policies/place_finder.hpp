#pragma once

#include "core/decide/routing/place.hpp"
#include "core/schedule/job_options.hpp"
#include "simulator/knowledge/knowledge.hpp"
#include "simulator/policies/device_shares.hpp"
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

    /// Who is on the devices that jobs share at this moment; nobody before this was called.
    void look_at_devices(const PolicyView& view)
    {
        if (counts_pairs_) shares_.look(view);
    }

    /// By what is available, and who is there.
    JobPlaces find(std::size_t job, double now_s);
    /// The same if nothing ran or was closed.
    JobPlaces find_if_idle(std::size_t job, double now_s);

    /// Whether the job's places are the same at any time, whatever is free, as those of nearly all jobs are where no
    /// devices are shared.
    bool is_fixed(std::size_t job) const { return !counts_pairs_ && is_plain(job); }
    /// Whether places depend on what is free for some jobs, and not only on who shares devices.
    bool looks_at_free() const { return looks_at_free_; }
    /// So many times as long as by itself a job that starts there now is expected to compute.
    double slowdown(std::size_t job, std::size_t unit_type, std::int64_t unit_count);

  private:
    /// Whether it just wants to end early, on the count that it asks for.
    bool is_plain(std::size_t job) const;
    const std::vector<std::uint32_t>& types_of(const Job& job);
    RouteRequest request_of(const Job& job, double now_s) const;
    /// @param shares  nullptr: nobody is there.
    JobPlaces plain_places(std::size_t job, DeviceShares* shares);
    JobPlaces choose(std::size_t job, double now_s, std::span<const UnitTypeView> views, DeviceShares* shares);
    struct Offers;
    /// @param max_cost  that the job may have.
    Offers offers_of(std::size_t job, PlaceChooser& chooser, double max_cost, std::span<const UnitTypeView> views,
                     DeviceShares* shares);

    const Scenario* scenario_;
    Knowledge* knowledge_;
    std::vector<UnitTypeView> idle_; ///< the unit types, all free
    std::vector<UnitTypeView> now_;  ///< the same as they are
    bool counts_pairs_;              ///< some units are parts of devices, and it is known what jobs keep there
    bool looks_at_free_ = false;     ///< some job is not plain
    DeviceShares shares_;
    std::vector<std::uint8_t> is_plain_;                                                  ///< by details
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> types_; ///< by job type and details
};

} // namespace fathom::simulation
