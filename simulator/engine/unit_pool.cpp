#include "simulator/engine/unit_pool.hpp"

#include "core/base/result.hpp"

#include <algorithm>

namespace fathom::simulation {

UnitPool::UnitPool(std::int64_t unit_count, double counted_from_s, double counted_to_s)
    : unit_count_(unit_count), free_(unit_count), counted_from_s_(counted_from_s), counted_to_s_(counted_to_s)
{
}

void UnitPool::pass(double now_s)
{
    FATHOM_ASSERT(now_s >= last_s_);
    const double counted_s = std::min(now_s, counted_to_s_) - std::max(last_s_, counted_from_s_);
    last_s_ = now_s;
    if (counted_s <= 0) return;
    busy_unit_s_ += counted_s * static_cast<double>(busy_units());
    broken_unit_s_ += counted_s * static_cast<double>(broken_);
}

void UnitPool::take(std::size_t job, std::int64_t units, double now_s)
{
    pass(now_s);
    FATHOM_ASSERT(units >= 1 && units <= free_);
    FATHOM_ASSERT(places_.emplace(job, holders_.size()).second);
    free_ -= units;
    holders_.push_back({job, units});
}

void UnitPool::give_back(std::size_t job, double now_s)
{
    pass(now_s);
    const auto place = places_.find(job);
    FATHOM_ASSERT(place != places_.end());
    Holder& holder = holders_[place->second];
    free_ += holder.units;
    holder = holders_.back();
    places_[holder.job] = place->second;
    holders_.pop_back();
    places_.erase(job);
    FATHOM_ASSERT(free_ + broken_ <= unit_count_);
}

void UnitPool::break_one(double now_s)
{
    pass(now_s);
    FATHOM_ASSERT(free_ >= 1);
    --free_;
    ++broken_;
}

void UnitPool::repair_one(double now_s)
{
    pass(now_s);
    FATHOM_ASSERT(broken_ >= 1);
    --broken_;
    ++free_;
}

std::size_t UnitPool::job_on(std::int64_t busy_unit) const
{
    FATHOM_ASSERT(busy_unit >= 0 && busy_unit < busy_units());
    for (const Holder& holder : holders_) {
        if (busy_unit < holder.units) return holder.job;
        busy_unit -= holder.units;
    }
    FATHOM_ASSERT(false);
    return 0;
}

} // namespace fathom::simulation
