#include "simulator/world/unit_breaks.hpp"

#include "core/base/portable_math.hpp"
#include "simulator/world/keyed_draw.hpp"

#include <limits>

namespace fathom::simulation {
namespace {

// Of uniform_of(): no two uses may draw the same numbers, and others have 1, 2 (truth.cpp) and from 101 on
// (knowledge_draws.hpp).
constexpr std::uint64_t kMomentPurpose = 11;
constexpr std::uint64_t kUnitPurpose = 12;
constexpr std::uint64_t kRepairPurpose = 13;

double exponential(double mean_s, double uniform)
{
    return -mean_s * portable::log(1 - uniform);
}

} // namespace

UnitBreaks::UnitBreaks(const Network& network, std::uint64_t seed)
    : network_(&network), seed_(seed), numbers_(network.unit_types.size(), 0)
{
}

double UnitBreaks::next_s(std::size_t unit_type, double after_s) const
{
    const UnitType& type = network_->unit_types[unit_type];
    if (!(type.failures.mean_between_s > 0) || type.unit_count == 0) return std::numeric_limits<double>::infinity();
    const double mean_s = type.failures.mean_between_s / static_cast<double>(type.unit_count);
    return after_s + exponential(mean_s, uniform_of(seed_, kMomentPurpose, unit_type, numbers_[unit_type]));
}

UnitBreaks::Break UnitBreaks::take(std::size_t unit_type)
{
    const UnitType& type = network_->unit_types[unit_type];
    const std::uint64_t number = numbers_[unit_type]++;
    const double unit = uniform_of(seed_, kUnitPurpose, unit_type, number) * static_cast<double>(type.unit_count);
    const double repair = uniform_of(seed_, kRepairPurpose, unit_type, number);
    return {static_cast<std::int64_t>(unit), exponential(type.failures.mean_repair_s, repair)};
}

} // namespace fathom::simulation
