#pragma once

#include "core/base/never.hpp"
#include "core/decide/queue/order_jobs.hpp"

#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

/// What each place of each waiting job weighs under a rule; part of core/decide/queue/order_jobs.
namespace fathom {

/// Whether the rule weighs what places are worth to others.
bool weighs_places(OrderRule rule);

/// Fills in each place's index as far as it does not depend on the job itself: infinite where it cannot be used at all.
/// @param base  as many as there are options.
/// @return the shortest run time of the places that can be used; infinite when there is none.
double weigh_places(std::span<const JobOption> options, std::span<const UnitTypeLoad> unit_types,
                    const OrderSettings& settings, std::span<double> base);

/// What the job itself weighs, whatever its place: below 1 goes before others.
double own_weight(double fair_load, std::int64_t priority, std::optional<double> latest_start_s, double shortest_s);

/// So long a job with this shortest run time waits before it goes before all others.
double starvation_limit_of(const OrderSettings& settings, double shortest_s);

/// What a place costs the job and others, by which the places of one job are compared: each second of its run and, the
/// more so the busier such units are, what they are worth to others, of a job with fewest units as much as its own.
/// @param fewest_units  that the job could take anywhere.
inline double place_cost(const JobOption& option, const UnitTypeLoad& type, std::int64_t fewest_units)
{
    const double load = type.load < 0 ? 0 : type.load > 1 ? 1 : type.load;
    const double relative_units = static_cast<double>(option.unit_count) / static_cast<double>(fewest_units);
    return ((1 - load) + load * type.shadow_price * relative_units) * option.run_s * option.relative_objective;
}

/// What weigh_places() says of the places of one list of options.
struct WeighedOptions {
    std::vector<double> base;
    double shortest_s{}; ///< infinite: none can be used
    double least{};      ///< base; infinite: none can be used
};

/// A waiting job's figures that the order needs again and again.
struct OrderIndex {
    bool is_overdue{};  ///< its starvation limit, or that of one of its gang, is over
    double waited_s{};  ///< of a gang: the longest
    double overdue_s{}; ///< how long its starvation limit is over; negative: it lasts as long yet
    double weight{};    ///< of the job itself, infinite: it cannot start
    const WeighedOptions* options = nullptr;

    /// Of an option, smaller goes first; infinite where it cannot be used at all.
    double index(std::size_t option) const { return of(options->base[option]); }
    /// Of the best option.
    double least() const { return of(options->least); }

  private:
    double of(double base) const { return base == kNever || weight == kNever ? kNever : weight * base; }
};

/// All jobs' figures. Movable, not copyable: the jobs point into `lists`.
struct OrderIndices {
    OrderIndices() = default;
    OrderIndices(OrderIndices&&) = default;
    OrderIndices& operator=(OrderIndices&&) = default;

    std::unordered_map<const void*, WeighedOptions> lists; ///< by JobOptions::list()
    std::vector<OrderIndex> jobs;
};

/// The indices of all jobs under the rule (docs/routing.md, "Order under load").
OrderIndices order_indices(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                           const OrderSettings& settings);

/// The members of each gang that is complete, by the gang's name, as indices into the jobs in the order of their ids.
/// A gang of which members are missing is not in it.
std::map<std::string_view, std::vector<std::size_t>> complete_gangs(std::span<const WaitingJobView> jobs);

} // namespace fathom
