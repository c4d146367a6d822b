#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Free places against waiting jobs, all at once; part of core/decide/queue/order_jobs.
namespace fathom {

/// A job that could start on a free place now.
struct PossibleStart {
    std::size_t job{};
    std::size_t option{};
    std::size_t unit_type{};
    double index{}; ///< as in core/decide/queue/order_index; not negative
};

/// The starts for which the sum of 1 / index is largest, of those that give each job one place at most and each unit
/// type no more jobs than `free_units`: a job counts as one unit, whatever it needs. Solved as a min-cost flow by the
/// network simplex method (LEMON). Of equals the earlier in `possible` are preferred.
std::vector<PossibleStart> assign_free(std::span<const PossibleStart> possible,
                                       std::span<const std::int64_t> free_units);

} // namespace fathom
