#include "core/decide/balance/occupancy.hpp"

#include "core/base/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

bool is_count(double value)
{
    return std::isfinite(value) && value >= 0;
}

Result<double> check_occupancy(double value, const char* name)
{
    if (!is_count(value)) return Error{Errc::kInvalid, fmt::format("{} is {}, and must be in [0, 1]", name, value)};
    if (value > 1 + kOccupancySlack)
        return Error{Errc::kInvalid, fmt::format("{} is {:.3g}, more than the stated rate allows", name, value)};
    return std::min(value, 1.0);
}

} // namespace

Result<Occupancies> check_occupancies(double transfer, double load)
{
    const Result<double> transfer_checked = check_occupancy(transfer, "the transfer occupancy");
    if (!transfer_checked) return transfer_checked.error();
    const Result<double> load_checked = check_occupancy(load, "the load");
    if (!load_checked) return load_checked.error();
    return Occupancies{*transfer_checked, *load_checked};
}

Result<Occupancies> measure_occupancies(const PeriodCounts& counts, const UnitRates& rates, double most_age_s)
{
    if (!is_count(rates.link_bytes_per_s) || !is_count(rates.peak_operations_per_s) || rates.link_bytes_per_s == 0 ||
        rates.peak_operations_per_s == 0)
        return Error{Errc::kInvalid, "the link's bandwidth and the peak rate must be greater than 0"};
    if (!is_count(counts.period_s) || counts.period_s == 0)
        return Error{Errc::kInvalid, "the sampling period must be greater than 0 s"};
    if (!is_count(counts.bytes) || !is_count(counts.operations))
        return Error{Errc::kInvalid, "a counter went backwards: the device or its driver was started anew"};
    if (!is_count(counts.age_s)) return Error{Errc::kInvalid, "the sample is from the future"};
    if (counts.age_s > most_age_s)
        return Error{Errc::kDeadline,
                     fmt::format("the sample is {:.3g} s old; at most {:.3g} s are allowed", counts.age_s, most_age_s)};
    return check_occupancies(counts.bytes / (rates.link_bytes_per_s * counts.period_s),
                             counts.operations / (rates.peak_operations_per_s * counts.period_s));
}

} // namespace fathom
