// What it costs the server to decide once on all jobs that wait (see tests/bench/cycle).
#include "core/schedule/cycle_plan.hpp"
#include "core/schedule/unmeasured_places.hpp"
#include "server/routing/cycles/deflated.hpp"
#include "tests/bench/routing_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <sys/resource.h>

namespace fathom {
namespace {

constexpr int kCenters = 100;
constexpr std::size_t kBatchesPerCycle = 4; ///< RoutingService's
constexpr double kFreeShare = 0.05;         ///< of the unit types some units are free

double peak_memory_mb()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// A network under load.
class Bench {
  public:
    enum class Load {
        kNearlyAll, ///< units are taken, for as long as jobs take
        kHalf       ///< take_half()
    };

    explicit Bench(Load load) : world_(make_world(load))
    {
        for (int i = 0; i < kKinds; ++i)
            kinds_.push_back(make_kind(random_, i));
    }

    struct Cycle {
        double took_ms{};
        double largest_page_ms{};
        std::size_t starts{};
        std::size_t planned{};
        double noted_ms{};   ///< in the cycle, so that it can be decided again
        double written_ms{}; ///< the same, after the cycle, on a thread of its own
        std::size_t kept_bytes{};
    };

    /// Batch after batch, as RoutingService does: each on the units that are taken and what was planned before.
    Cycle run(std::size_t job_count)
    {
        const Timestamp now = kRoutingWorldTime;
        std::vector<ReadyJob> jobs = make_jobs(job_count, now);
        Cycle cycle;
        std::vector<Reservation> reserved = world_.reserved;
        std::vector<Reservation> planned;
        std::optional<UnitLedger> ledger; // of a cycle
        std::size_t batches = 0;
        for (std::size_t first = 0; first < jobs.size(); first += kBatchJobs) {
            ScheduleInput input;
            input.loads = loads_;
            const std::size_t last = std::min(first + kBatchJobs, jobs.size());
            std::move(jobs.begin() + static_cast<std::ptrdiff_t>(first),
                      jobs.begin() + static_cast<std::ptrdiff_t>(last), std::back_inserter(input.jobs));
            const double began_ms = thread_ms();
            const server::CatalogSnapshot& catalog = world_.catalog;
            if (batches++ % kBatchesPerCycle == 0)
                ledger.emplace(
                    catalog.unit_types, catalog.knowledge,
                    UnitState{.calendar = &catalog.calendar, .reserved = reserved, .planned = planned, .now = now},
                    columns_);
            ledger->begin_batch();
            UnmeasuredPlaces unmeasured(columns_, now);
            for (const ReadyJob& job : input.jobs)
                unmeasured.find(job.request, kMeteringPeriod);
            const SchedulePlan plan = schedule(*ledger, input);
            const double took_ms = thread_ms() - began_ms;
            cycle.took_ms += took_ms;
            cycle.largest_page_ms = std::max(cycle.largest_page_ms, took_ms);
            const double noted_ms = thread_ms();
            const PlanRecord record = record_of(plan);
            const double written_ms = thread_ms();
            cycle.noted_ms += written_ms - noted_ms;
            cycle.kept_bytes +=
                server::deflated(write_cycle({now, catalog.calendar, reserved, planned, {}, {}, input})).size() +
                server::deflated(write_plan(record)).size();
            cycle.written_ms += thread_ms() - written_ms;
            keep(plan, reserved, planned);
            cycle.starts += plan.starts.size();
        }
        cycle.planned = planned.size();
        return cycle;
    }

  private:
    RoutingWorld make_world(Load load)
    {
        RoutingWorld world = make_routing_world(kCenters);
        if (load == Load::kHalf)
            take_half(world);
        else
            take_nearly_all(world);
        UnitTypeLoads loads;
        for (const UnitTypeView& view : world.catalog.unit_types)
            loads.busy_shares[view.id.value] = load == Load::kHalf ? 0.5 : 0.95;
        loads_ = std::make_shared<const UnitTypeLoads>(std::move(loads));
        return world;
    }

    void take_nearly_all(RoutingWorld& world)
    {
        world.reserved.clear();
        for (const UnitTypeView& view : world.catalog.unit_types) {
            std::int64_t left = view.unit_count;
            if (uniform(random_, 0, 1) < kFreeShare) left = std::max<std::int64_t>(left - pick(random_, 1, 8), 0);
            while (left > 0) {
                const std::int64_t units = std::min<std::int64_t>(left, pick(random_, 1, 8));
                world.reserved.push_back({view.id, units, uniform(random_, 10, 7200), 0, {}});
                left -= units;
            }
        }
    }

    /// For the batches that follow.
    static void keep(const SchedulePlan& plan, std::vector<Reservation>& reserved, std::vector<Reservation>& planned)
    {
        for (const ScheduledStart& start : plan.starts)
            reserved.push_back({start.winner.unit_type_id,
                                start.winner.unit_count,
                                start.winner.wait_s + start.winner.held_s(),
                                0,
                                {}});
        for (const ScheduledWait& wait : plan.waits) {
            if (wait.planned) planned.push_back(*wait.planned);
        }
    }

    std::vector<ReadyJob> make_jobs(std::size_t count, Timestamp now)
    {
        std::vector<ReadyJob> jobs;
        jobs.reserve(count);
        for (std::size_t i = 0; i < count; ++i)
            jobs.push_back(make_ready_job(random_, kinds_, static_cast<int>(i), 7200, now));
        return jobs;
    }

    Random random_{11};
    std::shared_ptr<const UnitTypeLoads> loads_;
    RoutingWorld world_;
    std::shared_ptr<RouteColumns> columns_ = std::make_shared<RouteColumns>(world_.catalog.unit_types);
    std::vector<RouteRequest> kinds_;
};

/// @param suffix  of the names of figures.
void measure(Bench& bench, std::size_t jobs, std::string_view suffix)
{
    const Bench::Cycle cycle = bench.run(jobs);
    if (cycle.starts == 0) throw std::runtime_error("no job was started");
    fmt::print("{} jobs wait: {} started, {} were planned; {:.1f} us a job\n", jobs, cycle.starts, cycle.planned,
               cycle.took_ms * 1e3 / static_cast<double>(jobs));
    const auto print = [&](std::string_view name, double value, std::string_view unit) {
        fmt::print("RESULT {}_{}_jobs{} {:.1f} {}\n", name, jobs, suffix, value, unit);
    };
    print("cycle_ms", cycle.took_ms, "ms");
    print("largest_page_ms", cycle.largest_page_ms, "ms");
    print("noted_to_replay_ms", cycle.noted_ms, "ms");
    print("written_to_replay_ms", cycle.written_ms, "ms");
    print("kept_to_replay_kb", static_cast<double>(cycle.kept_bytes) / 1000, "KB");
    std::cout.flush();
}

int run(const std::vector<std::size_t>& sizes)
{
    Bench nearly_all(Bench::Load::kNearlyAll);
    for (const std::size_t jobs : sizes)
        measure(nearly_all, jobs, "");
    Bench half(Bench::Load::kHalf);
    for (const std::size_t jobs : sizes)
        measure(half, jobs, "_half_taken");
    fmt::print("RESULT peak_memory_mb {:.0f} MiB\n", peak_memory_mb());
    return 0;
}

} // namespace
} // namespace fathom

int main(int argc, char** argv)
{
    try {
        std::vector<std::size_t> sizes;
        for (int i = 1; i < argc; ++i)
            sizes.push_back(std::stoul(argv[i]));
        if (sizes.empty()) sizes = {10'000, 100'000};
        return fathom::run(sizes);
    } catch (const std::exception& e) {
        fmt::print(stderr, "cycle_bench: {}\n", e.what());
        return 1;
    }
}
