#pragma once

#include "core/decide/order_jobs.hpp"

#include <map>
#include <span>
#include <string_view>
#include <vector>

/// What each place of each waiting job weighs under a rule; part of core/decide/order_jobs.
namespace fathom {

/// A waiting job's figures that the order needs again and again.
struct OrderIndex {
    bool is_overdue{};       ///< its patience, or that of one of its gang, is over
    double waited_s{};       ///< of a gang: the longest
    double overdue_s{};      ///< how long its patience is over; negative: it lasts as long yet
    std::span<double> index; ///< of each option, smaller goes first; infinite where the option cannot be used at all
};

/// All jobs' figures. Movable, not copyable: the jobs' spans point into `storage`.
struct OrderIndices {
    OrderIndices() = default;
    OrderIndices(OrderIndices&&) = default;
    OrderIndices& operator=(OrderIndices&&) = default;

    std::vector<double> storage;
    std::vector<OrderIndex> jobs;
};

/// The indices of all options of all jobs under the rule (docs/routing.md, "Order under load").
OrderIndices order_indices(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                           const OrderSettings& settings);

/// The members of each gang that is complete, by the gang's name, as indices into the jobs in the order of their ids.
/// A gang of which members are missing is not in it.
std::map<std::string_view, std::vector<std::size_t>> complete_gangs(std::span<const WaitingJobView> jobs);

} // namespace fathom
