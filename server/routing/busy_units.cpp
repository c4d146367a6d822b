#include "server/routing/busy_units.hpp"

#include <algorithm>
#include <chrono>

namespace fathom::server {
namespace {

/// Looks come every few seconds. After a longer gap (no database, a clock that was set) the last one says little.
constexpr Seconds kLongestGap = std::chrono::hours(1);

} // namespace

void BusyUnits::note(std::span<const Left> left, Timestamp now)
{
    const Seconds passed = last_ ? std::min<Seconds>(now - *last_, kLongestGap) : Seconds(0);
    last_ = now;
    ++looks_;
    for (const Left& one : left) {
        Known& known = unit_types_[one.unit_type_id];
        if (known.share) known.busy.note(*known.share, passed.count());
        known.share.reset();
        if (one.unit_count > 0) known.share = static_cast<double>(one.used_units) / static_cast<double>(one.unit_count);
        known.look = looks_;
    }
    std::erase_if(unit_types_, [this](const auto& one) { return one.second.look != looks_; });
}

double BusyUnits::load(const std::string& unit_type_id) const
{
    const auto found = unit_types_.find(unit_type_id);
    return found == unit_types_.end() ? 1 : found->second.busy.mean();
}

} // namespace fathom::server
