#include "simulator/engine/network_state.hpp"

#include <cmath>
#include <utility>

namespace fathom::simulation {

NetworkState::NetworkState(const Network& network, bool has_queues, std::uint64_t seed, double counted_from_s,
                           double counted_to_s)
    : network_(&network), queues_(has_queues ? network.unit_types.size() : 0), breaks_(network, seed),
      is_touched_(network.unit_types.size(), 0)
{
    for (const UnitType& type : network.unit_types) {
        pools_.emplace_back(type.unit_count, counted_from_s, counted_to_s);
        reports_.push_back({.unit_count = type.unit_count, .free_units = type.unit_count});
    }
}

std::vector<std::int64_t> NetworkState::busy_units() const
{
    std::vector<std::int64_t> units;
    units.reserve(pools_.size());
    for (const UnitPool& pool : pools_)
        units.push_back(pool.busy_units());
    return units;
}

void NetworkState::report_until(double next_s, double every_s)
{
    if (queues_.empty()) return;
    const double report_s = every_s > 0 ? std::floor(next_s / every_s) * every_s : next_s;
    if (report_s <= last_report_s_) return;
    last_report_s_ = report_s;
    for (std::size_t type = 0; type < pools_.size(); ++type) {
        const CenterQueue& queue = queues_[type];
        reports_[type].queued_jobs = queue.queued_jobs();
        reports_[type].queued_units = queue.queued_units();
        reports_[type].queued_work = queue.queued_work();
        reports_[type].running_work = queue.running_work(report_s);
        note_units(type);
    }
}

void NetworkState::note_units(std::size_t unit_type)
{
    reports_[unit_type].unit_count = pools_[unit_type].unit_count() - pools_[unit_type].broken_units();
    reports_[unit_type].free_units = pools_[unit_type].free_units();
}

void NetworkState::take(std::size_t job, std::size_t unit_type, std::int64_t units, double now_s)
{
    pools_[unit_type].take(job, units, now_s);
    if (queues_.empty()) note_units(unit_type);
}

void NetworkState::give_back(std::size_t job, std::size_t unit_type, double now_s)
{
    pools_[unit_type].give_back(job, now_s);
    touch(unit_type);
    if (queues_.empty())
        note_units(unit_type);
    else
        queues_[unit_type].end(job);
}

NetworkState::Break NetworkState::next_break(std::size_t unit_type, double now_s)
{
    const UnitPool& pool = pools_[unit_type];
    const UnitBreaks::Break what = breaks_.take(unit_type);
    if (what.unit >= pool.busy_units() + pool.free_units()) return {};
    Break result{.has_happened = true, .repaired_at_s = now_s + what.repair_s, .job = {}};
    if (what.unit < pool.busy_units()) result.job = pool.job_on(what.unit);
    return result;
}

void NetworkState::break_one(std::size_t unit_type, double now_s)
{
    pools_[unit_type].break_one(now_s);
    touch(unit_type);
    if (queues_.empty()) note_units(unit_type);
}

void NetworkState::repair(std::size_t unit_type, double now_s)
{
    pools_[unit_type].repair_one(now_s);
    touch(unit_type);
    if (queues_.empty()) note_units(unit_type);
}

void NetworkState::touch_center(std::size_t center)
{
    for (std::size_t type = 0; type < pools_.size(); ++type) {
        if (network_->unit_types[type].center == center) touch(type);
    }
}

bool NetworkState::take_touch(std::size_t unit_type)
{
    return std::exchange(is_touched_[unit_type], std::uint8_t{0}) != 0;
}

} // namespace fathom::simulation
