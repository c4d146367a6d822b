#pragma once

#include <cstdint>
#include <vector>

namespace fathom {

/// How many copies side by side to measure on a host with so many units of a type (M19, throughput): all of them, which
/// is the worst that neighbours can do; two, which is the least; and half way between, since what shares memory goes
/// well until that is full. In this order, so that a budget with no room for all is spent on what tells most.
/// @param most_copies  of one probe, at least 2.
/// @return two where there are fewer units than that: it is for the caller to find that they are not there.
std::vector<std::int64_t> plan_copies(std::int64_t unit_count, std::int64_t most_copies);

/// The limit of copies of a task that has `limit_s` by itself: they take its samples alone and once more together,
/// where each takes longer. At most what a task's limit may be.
double copies_limit_s(double limit_s);

} // namespace fathom
