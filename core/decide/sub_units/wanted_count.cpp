#include "core/decide/sub_units/wanted_count.hpp"

#include "core/base/result.hpp"

#include <cmath>
#include <cstdint>
#include <string>

namespace fathom {
namespace {

constexpr std::int64_t kMaxSubUnits = 1'000'000;
/// 100 × 0.29 is 28.999999999999996: what is this close below a whole number is that number.
constexpr double kRoundingError = 1e-9;

bool is_share(double load)
{
    return load >= 0 && load <= 1; // false of what is not a number
}

} // namespace

Result<std::int64_t> wanted_count(std::int64_t count, const UnitLoads& loads)
{
    if (count < 0 || count > kMaxSubUnits)
        return Error{Errc::kInvalid, "the count must be from 0 to " + std::to_string(kMaxSubUnits)};
    if (!is_share(loads.transfer) || !is_share(loads.compute))
        return Error{Errc::kInvalid, "the loads must be numbers from 0 to 1"};
    if (loads.transfer == 0) return Error{Errc::kInvalid, "the transfer load is 0: no count would balance it"};
    const double wanted = static_cast<double>(count) * loads.compute / loads.transfer;
    if (wanted > static_cast<double>(kMaxSubUnits))
        return Error{Errc::kInvalid, "the loads ask for more than " + std::to_string(kMaxSubUnits) + " sub-units"};
    return static_cast<std::int64_t>(std::floor(wanted * (1 + kRoundingError)));
}

} // namespace fathom
