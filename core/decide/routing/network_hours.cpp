#include "core/decide/routing/network_hours.hpp"

#include <chrono>

namespace fathom {
namespace {

constexpr Timestamp::duration kHour = std::chrono::hours(1);

} // namespace

NetworkHours::NetworkHours(const UnitTypeList& unit_types, const UnitTypeOrder& order, Timestamp now)
    : from_(std::chrono::floor<std::chrono::hours>(now)), centers_(order.center_count())
{
    for (std::size_t i = 0; i < unit_types.size(); ++i) {
        const NetworkProfile* const network = unit_types.given(i).network.get();
        Center& center = centers_[order.center_rank()[i]];
        // A laboratory's hours are others.
        if (network == nullptr || center.network != nullptr || network->calendar().hour != kHour) continue;
        center.network = network;
        for (std::size_t hour = 0; hour < kHours; ++hour)
            center.rate_bytes[hour] = network->at(from_ + static_cast<int>(hour) * kHour).rate_bytes;
    }
}

bool NetworkHours::is_of(Timestamp now) const
{
    return from_ == std::chrono::floor<std::chrono::hours>(now);
}

double NetworkHours::least_end_s(std::uint32_t center_rank, const NetworkProfile& network, Timestamp now,
                                 double size_bytes) const
{
    const Center& center = centers_[center_rank];
    if (center.network != &network) return network.least_end_s(now, size_bytes);
    double left_bytes = size_bytes;
    double elapsed_s = 0;
    double hour_s = Seconds(from_ + kHour - now).count();
    for (const double rate : center.rate_bytes) {
        const double hour_bytes = rate * hour_s;
        if (hour_bytes >= left_bytes) return rate > 0 ? elapsed_s + left_bytes / rate : 0;
        left_bytes -= hour_bytes;
        elapsed_s += hour_s;
        hour_s = Seconds(kHour).count();
    }
    return network.least_end_s(now, size_bytes);
}

} // namespace fathom
