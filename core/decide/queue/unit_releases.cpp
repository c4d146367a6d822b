#include "core/decide/queue/unit_releases.hpp"

#include "core/base/result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace fathom {

void UnitReleases::add(double at_s, std::int64_t units)
{
    if (units <= 0) return;
    const Release release{at_s, units};
    releases_.insert(std::upper_bound(releases_.begin(), releases_.end(), release), release);
    units_ += units;
    is_current_ = false;
}

void UnitReleases::remove(double at_s, std::int64_t units)
{
    if (units <= 0) return;
    auto found = std::lower_bound(releases_.begin(), releases_.end(), Release{at_s, units});
    while (found != releases_.end() && found->at_s == at_s && found->units != units)
        ++found;
    FATHOM_ASSERT(found != releases_.end() && found->at_s == at_s);
    releases_.erase(found);
    units_ -= units;
    is_current_ = false;
}

void UnitReleases::look_from(double now_s) const
{
    freed_.clear();
    late_ = static_cast<std::size_t>(std::lower_bound(releases_.begin(), releases_.end(), Release{now_s, 0}) -
                                     releases_.begin());
    due_ = late_;
    now_s_ = now_s;
    is_current_ = true;
}

/// Looks at the next release: late ones count back from now, due ones on.
void UnitReleases::look_further() const
{
    const bool has_late = late_ > 0;
    const bool has_due = due_ < releases_.size();
    const double late_s = has_late ? now_s_ - releases_[late_ - 1].at_s : 0;
    const double due_s = has_due ? releases_[due_].at_s - now_s_ : 0;
    const bool takes_late = has_late && (!has_due || late_s < due_s);
    const double in_s = takes_late ? late_s : due_s;
    const std::int64_t units = takes_late ? releases_[--late_].units : releases_[due_++].units;
    const std::int64_t before = freed_.empty() ? 0 : freed_.back().units;
    if (!freed_.empty() && freed_.back().in_s == in_s)
        freed_.back().units += units;
    else
        freed_.push_back({in_s, before + units});
}

std::optional<FreedUnits> UnitReleases::when(std::int64_t units, double now_s) const
{
    if (units > units_) return std::nullopt;
    if (!is_current_ || now_s_ != now_s) look_from(now_s);
    // One release further than those units: what comes free at the same moment counts, too.
    while ((freed_.size() < 2 || freed_[freed_.size() - 2].units < units) && (late_ > 0 || due_ < releases_.size()))
        look_further();
    const auto found =
        std::lower_bound(freed_.begin(), freed_.end(), units,
                         [](const FreedUnits& freed, std::int64_t wanted) { return freed.units < wanted; });
    if (found == freed_.end()) return std::nullopt;
    return *found;
}

} // namespace fathom
