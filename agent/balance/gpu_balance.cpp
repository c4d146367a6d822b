#include "agent/balance/gpu_balance.hpp"

#include <algorithm>

namespace fathom::agent {

void GpuSensor::sample()
{
    const Result<double> transfer = driver_->transfer_bytes_per_s();
    const Result<double> load = driver_->busy_part();
    if (!transfer || !load) {
        failure_ = transfer ? load.error() : transfer.error();
        return;
    }
    transfer_sum_ += *transfer;
    load_sum_ += *load;
    ++samples_;
}

Result<Occupancies> GpuSensor::measure()
{
    sample();
    const auto count = static_cast<double>(samples_);
    const double transfer = transfer_sum_ / std::max(count, 1.0);
    const double load = load_sum_ / std::max(count, 1.0);
    const std::optional<Error> failure = std::exchange(failure_, std::nullopt);
    transfer_sum_ = 0;
    load_sum_ = 0;
    samples_ = 0;
    if (failure) return *failure;
    if (link_bytes_per_s_ == 0) {
        const Result<double> bus = driver_->bus_bytes_per_s();
        if (!bus) return bus.error();
        link_bytes_per_s_ = *bus;
    }
    return check_occupancies(transfer / link_bytes_per_s_, load);
}

Result<void> GpuClock::look(UnitPosition& position)
{
    const Result<GpuDriver::ClockRange> range = driver_->clock_range();
    if (!range) return range.error();
    const std::int64_t most_mhz = range->most_mhz;
    const std::int64_t least_mhz = std::min<std::int64_t>(range->least_mhz, most_mhz);
    const std::int64_t before_mhz =
        clock_before_mhz_ > 0 ? std::clamp<std::int64_t>(clock_before_mhz_, least_mhz, most_mhz) : most_mhz;
    position_ = {.mhz = locked_mhz_.value_or(before_mhz), .least_mhz = range->least_mhz, .most_mhz = most_mhz};
    position.clock = position_;
    return {};
}

Json GpuClock::undo() const
{
    Json undo = {{"kind", "gpu_clock"}, {"device", uuid_}, {"library", library_}};
    if (clock_before_mhz_ > 0) undo["mhz"] = clock_before_mhz_;
    return undo;
}

Result<void> GpuClock::act(const BalanceActions& actions, std::optional<std::int64_t>)
{
    const std::int64_t mhz = std::clamp(position_.mhz + actions.clock_mhz, position_.least_mhz,
                                        std::max(position_.least_mhz, position_.most_mhz));
    Result<void> locked = driver_->lock_clock(static_cast<unsigned>(position_.least_mhz), static_cast<unsigned>(mhz));
    if (locked) locked_mhz_ = mhz;
    return locked;
}

} // namespace fathom::agent
