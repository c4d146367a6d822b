#include "core/decide/queue/wait_queue.hpp"

#include "core/decide/queue/order_jobs.hpp"
#include "core/decide/queue/order_round.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {

/// What is known, and the decisions over it.
struct WaitQueue::Parts {
    Parts(const OrderSettings& settings, std::span<const std::int64_t> unit_counts)
        : state(settings, unit_counts), round(state)
    {
    }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    /// The option as the job had it when it came.
    std::size_t given(std::size_t job, std::size_t option)
    {
        const std::vector<std::uint32_t>& numbers = state.entry(static_cast<std::uint32_t>(job)).places->given;
        return numbers.empty() ? option : numbers[option];
    }

    WaitQueueState state;
    OrderRound round;
};

WaitQueue::WaitQueue(const OrderSettings& settings, std::span<const std::int64_t> unit_counts)
    : parts_(std::make_unique<Parts>(settings, unit_counts))
{
}

WaitQueue::~WaitQueue() = default;
WaitQueue::WaitQueue(WaitQueue&&) noexcept = default;
WaitQueue& WaitQueue::operator=(WaitQueue&&) noexcept = default;

std::size_t WaitQueue::add(QueuedJob job)
{
    return parts_->state.add(std::move(job));
}

void WaitQueue::remove(std::size_t job)
{
    parts_->state.remove(static_cast<std::uint32_t>(job));
}

std::span<const JobOption> WaitQueue::options(std::size_t job) const
{
    return parts_->state.entry(static_cast<std::uint32_t>(job)).places->options;
}

void WaitQueue::set_fair_load(std::size_t job, double fair_load)
{
    parts_->state.set_fair_load(static_cast<std::uint32_t>(job), fair_load);
}

void WaitQueue::set_free(std::size_t unit_type, std::int64_t units, double free_for_s)
{
    parts_->state.set_free(unit_type, units, free_for_s);
}

void WaitQueue::set_shadow_price(std::size_t unit_type, double shadow_price)
{
    parts_->state.set_shadow_price(unit_type, shadow_price);
}

void WaitQueue::set_load(std::size_t unit_type, double load)
{
    parts_->state.set_load(unit_type, load);
}

void WaitQueue::add_release(std::size_t unit_type, double at_s, std::int64_t units)
{
    parts_->state.releases(unit_type).add(at_s, units);
}

void WaitQueue::remove_release(std::size_t unit_type, double at_s, std::int64_t units)
{
    parts_->state.releases(unit_type).remove(at_s, units);
}

std::vector<OrderedStart> WaitQueue::decide(double now_s)
{
    parts_->state.bring_up_to(now_s);
    std::vector<OrderedStart> starts = parts_->round.run(now_s);
    parts_->state.take(starts, parts_->round.has_backfill_reservation());
    for (OrderedStart& start : starts)
        start.option = parts_->given(start.job, start.option);
    return starts;
}

std::vector<DeferredStart> WaitQueue::deferred_starts(double now_s)
{
    parts_->state.bring_up_to(now_s);
    std::vector<DeferredStart> waits = parts_->round.deferred_starts();
    for (DeferredStart& wait : waits)
        wait.option = parts_->given(wait.job, wait.option);
    std::sort(waits.begin(), waits.end(), [](const DeferredStart& a, const DeferredStart& b) { return a.job < b.job; });
    return waits;
}

WaitQueue queue_of(std::span<const WaitingJobView> jobs, std::span<const UnitTypeLoad> unit_types,
                   const OrderSettings& settings)
{
    std::vector<std::int64_t> unit_counts;
    for (const UnitTypeLoad& type : unit_types)
        unit_counts.push_back(type.unit_count);
    WaitQueue queue(settings, unit_counts);
    for (std::size_t type = 0; type < unit_types.size(); ++type) {
        const UnitTypeLoad& load = unit_types[type];
        queue.set_free(type, load.free_units, load.free_for_s);
        queue.set_shadow_price(type, load.shadow_price);
        queue.set_load(type, load.load);
        for (const UnitRelease& release : load.releases)
            queue.add_release(type, std::max(release.in_s, 0.0), release.unit_count);
    }
    std::vector<std::size_t> by_id(jobs.size());
    std::iota(by_id.begin(), by_id.end(), std::size_t{0});
    const auto goes_before = [&](std::size_t a, std::size_t b) {
        return std::tie(jobs[a].id, a) < std::tie(jobs[b].id, b);
    };
    if (!std::is_sorted(by_id.begin(), by_id.end(), goes_before)) std::sort(by_id.begin(), by_id.end(), goes_before);
    std::vector<std::uint64_t> keys(jobs.size());
    for (std::size_t rank = 0; rank < by_id.size(); ++rank)
        keys[by_id[rank]] = rank;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const WaitingJobView& job = jobs[i];
        queue.add({keys[i], job.options, -job.waited_s, job.fair_load, job.priority, job.latest_start_s, job.gang,
                   job.gang_size});
    }
    return queue;
}

} // namespace fathom
