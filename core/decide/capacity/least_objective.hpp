#pragma once

#include "core/base/clock.hpp"
#include "core/decide/capacity/objective.hpp"
#include "core/decide/capacity/unit_price.hpp"

#include <cstdint>

namespace fathom {

/// A run that may start at any time from some moment on, and what waiting does to its end at least.
struct DelayableRun {
    Timestamp earliest{}; ///< no start is earlier
    double run_s{};       ///< so long its units are held, at least
    std::int64_t unit_count{1};
    double energy_j{};     ///< at least
    double completion_s{}; ///< of a start then, at least
    /// A start that is later by no more than this may end no later.
    double free_of_charge_s{};
    double growth{}; ///< 0..1: beyond that each second of delay makes the end so much later, at least
};

/// The lesser of `limit` and what no start of the run can have a better objective() than, whatever its deadline and
/// budget: it starts at once at the price of now, or later at the price of then. At most a week of hours is looked at,
/// since then all prices come again, and only as many as the cheapest run could make good for.
/// @param limit  above it nothing need be told apart.
double least_objective(const Preference& prefer, const UnitPrice& price, const DelayableRun& run, double limit);

} // namespace fathom
