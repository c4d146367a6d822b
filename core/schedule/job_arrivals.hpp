#pragma once

#include "core/decide/queue/order_jobs.hpp"
#include "core/decide/routing/route.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom {

/// A job that came, and where it would go, by its predicted run times.
struct JobArrival {
    struct Place {
        std::string unit_type_id;
        std::int64_t unit_count{};
        double run_s{};
    };
    std::string job_id;
    std::vector<Place> places; ///< never none
};

/// How many of the newest tell what all jobs would (docs/decisions/0004-order-under-load.md), and how many have to come
/// before they tell anything.
inline constexpr std::size_t kMaxArrivals = 1000;
inline constexpr std::size_t kMinArrivals = 50;

/// Where a job would go that was decided on so: the places that suit it, as far as their run times are known.
std::vector<JobArrival::Place> arrival_places(const RouteRequest& request, const Decision& decision);

/// What unit types are worth to the jobs that came, of each its options; nothing for those that none of them could use.
/// The time in which they came does not matter.
std::vector<std::optional<double>> shadow_prices_of(std::span<const JobOptions> arrived,
                                                    std::span<const UnitTypeLoad> unit_types);

/// What unit types are worth to the jobs that come, by id: those that wait are the ones that were not served, and are
/// often few. Unit types where none of them could go are missing, and all are until kMinArrivals have come.
std::unordered_map<std::string, double> arrival_shadow_prices(std::span<const JobArrival> arrivals,
                                                              std::span<const UnitTypeView> unit_types);

} // namespace fathom
