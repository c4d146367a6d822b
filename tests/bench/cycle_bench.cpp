// What it costs the server to decide once on all jobs that wait (see tests/bench/cycle).
#include "core/schedule/cycle_plan.hpp"
#include "core/schedule/unmeasured_places.hpp"
#include "server/routing/deflated.hpp"
#include "tests/bench/routing_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <stdexcept>
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

/// A network under load: nearly all units are taken, for as long as jobs take.
class Bench {
  public:
    Bench() : world_(make_routing_world(kCenters))
    {
        world_.reserved.clear();
        UnitTypeLoads loads;
        for (UnitTypeView& view : world_.catalog.unit_types) {
            loads.busy_shares[view.id.value] = 0.95;
            std::int64_t left = view.unit_count;
            if (uniform(random_, 0, 1) < kFreeShare) left = std::max<std::int64_t>(left - pick(random_, 1, 8), 0);
            while (left > 0) {
                const std::int64_t units = std::min<std::int64_t>(left, pick(random_, 1, 8));
                world_.reserved.push_back({view.id, units, uniform(random_, 10, 7200), 0, {}});
                left -= units;
            }
        }
        loads_ = std::make_shared<const UnitTypeLoads>(std::move(loads));
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
                ledger.emplace(catalog.unit_types, catalog.knowledge, catalog.calendar, reserved, planned, now,
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
                server::deflated(write_cycle({now, catalog.calendar, reserved, planned, {}, input})).size() +
                server::deflated(write_plan(record)).size();
            cycle.written_ms += thread_ms() - written_ms;
            keep(plan, reserved, planned);
            cycle.starts += plan.starts.size();
        }
        cycle.planned = planned.size();
        return cycle;
    }

  private:
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
    RoutingWorld world_;
    std::shared_ptr<RouteColumns> columns_ = std::make_shared<RouteColumns>(world_.catalog.unit_types);
    std::shared_ptr<const UnitTypeLoads> loads_;
    std::vector<RouteRequest> kinds_;
};

int run(const std::vector<std::size_t>& sizes)
{
    Bench bench;
    for (const std::size_t jobs : sizes) {
        const Bench::Cycle cycle = bench.run(jobs);
        if (cycle.starts == 0 || cycle.planned == 0) throw std::runtime_error("not a network under load");
        fmt::print("{} jobs wait: {} started, {} were planned; {:.1f} us a job\n", jobs, cycle.starts, cycle.planned,
                   cycle.took_ms * 1e3 / static_cast<double>(jobs));
        fmt::print("RESULT cycle_ms_{}_jobs {:.0f} ms\n", jobs, cycle.took_ms);
        fmt::print("RESULT largest_page_ms_{}_jobs {:.1f} ms\n", jobs, cycle.largest_page_ms);
        fmt::print("RESULT noted_to_replay_ms_{}_jobs {:.1f} ms\n", jobs, cycle.noted_ms);
        fmt::print("RESULT written_to_replay_ms_{}_jobs {:.1f} ms\n", jobs, cycle.written_ms);
        fmt::print("RESULT kept_to_replay_kb_{}_jobs {:.0f} KB\n", jobs, static_cast<double>(cycle.kept_bytes) / 1000);
        std::cout.flush();
    }
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
