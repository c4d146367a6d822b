#include "core/decide/routing/price_hours.hpp"

#include <algorithm>
#include <chrono>

namespace fathom {

PriceHours::PriceHours(const UnitTypeList& unit_types, Timestamp now)
    : from_(std::chrono::floor<std::chrono::hours>(now)), least_(unit_types.size())
{
    make(unit_types, 0, kHours - 1);
    for (std::size_t i = 0; i < unit_types.size(); ++i) {
        constexpr double kHour_s = 3600;
        const UnitPrice* const price = unit_types.given(i).price.get();
        if (price != nullptr) least_[i] = price->least_per_hour() / kHour_s;
    }
}

void PriceHours::make(const UnitTypeList& unit_types, std::size_t first, std::size_t end)
{
    for (std::size_t hour = first; hour < end; ++hour)
        of_hour_[hour].resize(unit_types.size());
    for (std::size_t i = 0; i < unit_types.size(); ++i) {
        const UnitPrice* const price = unit_types.given(i).price.get();
        for (std::size_t hour = first; price != nullptr && hour < end; ++hour)
            of_hour_[hour][i] = price->least_mean_per_s(from_ + std::chrono::hours(hour));
    }
}

void PriceHours::make_all(const UnitTypeList& unit_types)
{
    if (of_hour_.back().empty()) make(unit_types, kHours - 1, kMaxLast);
}

bool PriceHours::is_of(Timestamp now) const
{
    return !least_.empty() && from_ == std::chrono::floor<std::chrono::hours>(now);
}

void PriceHours::set(std::size_t unit_type, double cost_per_s)
{
    for (std::vector<double>& hour : of_hour_) {
        if (!hour.empty()) hour[unit_type] = cost_per_s;
    }
    least_[unit_type] = cost_per_s;
}

double PriceHours::per_s_until(std::size_t last, std::size_t unit_type) const
{
    if (last >= kMaxLast) return least_[unit_type];
    double least = of_hour_[0][unit_type];
    for (std::size_t hour = 1; hour <= last; ++hour)
        least = std::min(least, of_hour_[hour][unit_type]);
    return least;
}

} // namespace fathom
