#pragma once

#include "core/decide/queue/order_jobs.hpp"

#include <span>
#include <vector>

namespace fathom {

/// What a unit type is worth to the jobs that come, and how much of what it can do they want.
struct UnitShadowPrice {
    double shadow_price{
        1};         ///< of one second of one unit; the mean over the units that can stand in for each other is 1
    double load{1}; ///< work that arrives over what can be done; below 1 the queue empties now and then
};

/// Shadow price and load of each unit type, from the places of the jobs that arrived within `span_s`, as their run
/// times were predicted. Some hundred jobs give load to about a tenth.
///
/// Load is the least share of the units' time in which all these jobs could be done if each went where it suits the
/// whole best, a linear program; shadow prices are its dual prices: those at which the cheapest places of all jobs cost
/// most,
///
///     load = max over shadow prices of  Σ_jobs min_places (shadow price · units · run time)  /  (span · Σ_types shadow
///     price · units)
///
/// found by multiplicative weights (Arora, Hazan, Kale, Theory of Computing 2012; 200 rounds). Unit types that no chain
/// of jobs connects are taken apart: CPUs have no say in what GPUs are worth. A type that no job can use gets the
/// shadow price 1 and load 0. With a span that is not positive the load is said to be 1; without jobs the shadow price
/// too.
std::vector<UnitShadowPrice> find_shadow_prices(std::span<const JobOptions> arrived, double span_s,
                                                std::span<const UnitTypeLoad> unit_types);

} // namespace fathom
