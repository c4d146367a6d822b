#include "server/routing/routing_service.hpp"

#include "core/base/log.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <utility>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// The order of jobs is that within a batch.
constexpr std::int64_t kBatchJobs = 4096;
/// Of the first batch after the network was full: what became free goes to the first in line, and thousands that wait
/// behind them need not be read for it. The next batch follows if they do not take all, and each tick orders all.
constexpr std::int64_t kFirstJobsWhenFull = 32;
/// A cycle must end so that the next one sees what has changed; the rest waits for it.
constexpr int kBatchesPerCycle = 4;
/// When nothing can be placed a tick only refreshes reasons and looks after metering: no need to hurry.
constexpr int kBatchesWhenFull = 2;
constexpr auto kTick = 2s;
/// Cycles that go through the line may read thousands of jobs: one part in so many of the router's time is for them, so
/// that between them what becomes free is given away at once.
constexpr int kLineShare = 4;
/// Wake-ups come in bursts; and the other cycles take half of the router's time at most.
constexpr auto kMinPause = 2ms;

constexpr std::string_view kSubmitted = "submitted"; ///< payload of the wake-up of new jobs

constexpr const char* kDecisions = "fathom_routing_decisions_total";
constexpr const char* kDecisionsHelp = "Decisions of the router on waiting jobs, by result.";

/// When cycles may come again.
struct NextCycles {
    using Wake = RoutingService::Wake;
    using Time = std::chrono::steady_clock::time_point;

    Time tick;
    Time line; ///< a cycle may go through the line

    Wake kind_at(Time now) const
    {
        if (now >= tick) return Wake::kTick;
        return now >= line ? Wake::kWoken : Wake::kFirst;
    }

    /// After a cycle that began then, so that it has no more than its share of the time.
    void put_off(Wake kind, Time began, std::chrono::milliseconds share)
    {
        if (kind == Wake::kTick) tick = began + std::max<std::chrono::milliseconds>(kTick, share);
        if (kind != Wake::kFirst) line = began + share;
    }
};

std::chrono::milliseconds pause_after(RoutingService::Wake kind, std::chrono::milliseconds took)
{
    return std::clamp<std::chrono::milliseconds>(kind == RoutingService::Wake::kFirst ? took : 0ms, kMinPause, 1s);
}

/// 0 or more.
std::chrono::milliseconds time_until(Timestamp when, Timestamp now)
{
    return std::chrono::ceil<std::chrono::milliseconds>(std::max<Timestamp::duration>(when - now, 0ms));
}

/// Some job of it cannot be routed.
bool is_unroutable(const Result<BatchReport>& report)
{
    return !report && report.error().code == Errc::kInternal;
}

} // namespace

RoutingService::RoutingService(const asio::any_io_executor& executor, const RouterParts& parts,
                               RoutingSettings settings)
    : database_(&parts.database), clock_(&parts.clock), catalog_(&parts.catalog), loads_(&parts.loads),
      planner_(&parts.planner), terminator_(&parts.terminator), settings_(std::move(settings)), wake_(executor),
      placed_(parts.metrics.counter(kDecisions, kDecisionsHelp, {{"result", "placed"}})),
      waiting_(parts.metrics.counter(kDecisions, kDecisionsHelp, {{"result", "waits"}})),
      metering_(parts.metrics.counter(kDecisions, kDecisionsHelp, {{"result", "metering"}})),
      conflicts_(parts.metrics.counter(kDecisions, kDecisionsHelp, {{"result", "conflict"}})),
      overdue_(parts.metrics.counter(kDecisions, kDecisionsHelp, {{"result", "overdue"}})),
      decision_seconds_(parts.metrics.seconds_histogram("fathom_routing_decision_seconds",
                                                        "Time of one decision, averaged over a batch.")),
      cycle_seconds_(
          parts.metrics.seconds_histogram("fathom_scheduling_cycle_seconds", "Time of one cycle of the router."))
{
}

void RoutingService::subscribe(Notifier& notifier)
{
    // Without a free unit, more jobs change nothing before the next tick: what frees one wakes us, too.
    notifier.subscribe("route", [this](const std::string& payload) {
        if (has_room_ || payload != kSubmitted) wake_.wake();
    });
    notifier.subscribe("catalog", [this](const std::string&) { wake_.wake(); });
}

void RoutingService::start(net::TaskGroup& group)
{
    group.keep_running(wake_.executor(), "route_jobs", [this] { return follow(); });
}

asio::awaitable<void> RoutingService::follow()
{
    const auto start = std::chrono::steady_clock::now();
    NextCycles next{start, start};
    for (;;) {
        const auto began = std::chrono::steady_clock::now();
        const Wake kind = next.kind_at(began);
        if (kind == Wake::kTick) next_window_.reset();
        const Result<std::int64_t> placed = co_await run_cycle(kind);
        const auto ended = std::chrono::steady_clock::now();
        cycle_seconds_.observe(std::chrono::duration<double>(ended - began).count());
        if (!placed) log_warning("scheduling_cycle_failed", {{"error", describe(placed.error())}});
        const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(ended - began);
        // One that failed is made up for soon.
        is_line_due_ = is_line_due_ || !placed;
        next.put_off(kind, began, placed ? kLineShare * took : 0ms);
        const std::chrono::milliseconds pause = placed ? pause_after(kind, took) : 1s;
        co_await net::TaskGroup::sleep(pause);
        if (next_window_) next.tick = std::min(next.tick, ended + time_until(*next_window_, clock_->now()));
        const auto look = is_line_due_ ? std::min(next.tick, next.line) : next.tick;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(look - std::chrono::steady_clock::now());
        if (left > 0ms) co_await wake_.wait(left);
    }
}

asio::awaitable<Result<std::int64_t>> RoutingService::run_cycle(Wake kind)
{
    if (kind != Wake::kFirst) co_return co_await go_through_line(kind);
    const Result<BatchReport> first = co_await place_first();
    if (!first) co_return first.error();
    co_return first->placed;
}

asio::awaitable<Result<std::int64_t>> RoutingService::go_through_line(Wake kind)
{
    is_line_due_ = false;
    CycleCursor state;
    state.is_tick = kind == Wake::kTick;
    std::int64_t limit = state.is_tick || has_room_ ? kBatchJobs : kFirstJobsWhenFull;
    ledger_.units.reset();
    std::int64_t placed = 0;
    int batches = kBatchesPerCycle;
    for (int batch = 0; batch < batches; ++batch) {
        if (batch == batches / 2) state.after = std::max(state.after, sweep_after_);
        Result<BatchReport> report = co_await run_batch(state, std::exchange(limit, kBatchJobs));
        if (is_unroutable(report)) report = co_await run_batch_singly(state);
        note_batch(report);
        if (!report) co_return report.error();
        placed += report->placed;
        if (report->is_end) sweep_after_ = {};
        if (report->is_done) co_return placed;
        if (!report->has_free_unit) batches = kBatchesWhenFull;
        state = std::move(report->next);
        if (!wake_.take()) continue;
        const Result<BatchReport> first = co_await place_first();
        if (!first) co_return first.error();
        placed += first->placed;
        std::erase_if(state.planned, [&](const PlannedUnits& units) { return first->placed_jobs.contains(units.job); });
    }
    sweep_after_ = state.after;
    co_return placed;
}

asio::awaitable<Result<BatchReport>> RoutingService::place_first()
{
    ledger_.units.reset(); // something became free since they were read
    CycleCursor from_the_first;
    Result<BatchReport> report = co_await run_batch(std::move(from_the_first), kFirstJobsWhenFull);
    ledger_.units.reset(); // a cycle that is under way counts on what it has planned for jobs that wait
    note_batch(report);
    // Of jobs that cannot be routed a cycle through the line finds which one it is.
    is_line_due_ = is_line_due_ || !report;
    if (is_unroutable(report)) report = BatchReport();
    if (report && report->has_free_unit && !report->is_end) is_line_due_ = true;
    co_return report;
}

void RoutingService::note_batch(const Result<BatchReport>& report)
{
    has_room_ = !report || report->has_free_unit;
    if (!report) return;
    observe(*report);
    if (report->next_window) next_window_ = std::min(next_window_.value_or(*report->next_window), *report->next_window);
    // Another replica was quicker: look again soon, with its placements in sight.
    if (report->conflicts > 0) wake_.wake();
}

asio::awaitable<Result<void>> RoutingService::prepare_columns()
{
    const CatalogPointer catalog = catalog_->get();
    if (columns_.is_of(catalog)) co_return Result<void>();
    auto prepare = [&]() -> Result<void> {
        columns_.prepare(catalog);
        return {};
    };
    co_return co_await planning_.run(std::string(), std::move(prepare));
}

BatchTools RoutingService::batch_tools()
{
    return {&settings_, catalog_, planner_, terminator_, &uses_, &columns_, clock_, &ledger_};
}

asio::awaitable<Result<BatchReport>> RoutingService::run_batch(CycleCursor state, std::int64_t limit)
{
    const Result<void> prepared = co_await prepare_columns();
    if (!prepared) co_return prepared.error();
    std::optional<SchedulingBatch> batch;
    auto look = [&](pqxx::work& transaction) -> Result<void> {
        batch.emplace(batch_tools(), loads_->get());
        Result<void> read = batch->read(transaction, state, limit);
        // What runs teach goes into the units of the cycle, which its first decision makes.
        if (read && batch->has_ready() && !ledger_.units) catalog_->read_new_runs(transaction);
        return read;
    };
    const Result<void> seen = co_await database_->run(std::move(look));
    if (!seen) co_return seen.error();
    if (!batch->has_ready()) co_return batch->report();
    auto decide = [&]() -> Result<void> { return batch->plan(); };
    const Result<void> planned = co_await planning_.run(std::string(), std::move(decide));
    if (!planned) ledger_.units.reset();
    if (!planned) co_return planned.error();
    auto write = [&](pqxx::work& transaction) -> Result<BatchReport> { return batch->commit(transaction); };
    Result<BatchReport> report = co_await database_->run(std::move(write));
    if (report) uses_.add(report->started);
    // It has units as taken that are not.
    if (!report || report->conflicts > 0) ledger_.units.reset();
    if (std::optional<DecidedCycle> cycle = batch->take_cycle(); report && cycle)
        settings_.recorder->add(std::move(*cycle));
    co_return report;
}

asio::awaitable<Result<BatchReport>> RoutingService::run_batch_singly(CycleCursor state)
{
    BatchReport total;
    for (std::int64_t i = 0; i < kBatchJobs; ++i) {
        const Result<BatchReport> report = co_await run_batch(state, 1);
        if (report) {
            total.placed += report->placed;
            total.waiting += report->waiting;
            total.metering += report->metering;
            total.conflicts += report->conflicts;
            total.overdue += report->overdue;
            total.decision_s += report->decision_s;
            if (report->next_window)
                total.next_window = std::min(total.next_window.value_or(*report->next_window), *report->next_window);
            total.is_done = report->is_done;
            total.is_end = report->is_end;
            total.has_free_unit = report->has_free_unit;
            state = report->next;
        } else {
            auto find_next = [after = state.after](pqxx::work& transaction) -> Result<std::optional<LinePlace>> {
                return select_next_waiting(transaction, after);
            };
            const Result<std::optional<LinePlace>> found = co_await database_->run(std::move(find_next));
            if (!found) co_return found.error();
            const std::optional<LinePlace>& next = *found;
            total.is_done = total.is_end = !next.has_value();
            if (next) {
                log_error("job_not_routed", {{"job_id", next->id}, {"error", describe(report.error())}});
                state.after = *next;
            }
        }
        if (total.is_done) break;
    }
    total.next = std::move(state);
    co_return total;
}

void RoutingService::observe(const BatchReport& report)
{
    placed_.add(static_cast<double>(report.placed));
    waiting_.add(static_cast<double>(report.waiting));
    metering_.add(static_cast<double>(report.metering));
    conflicts_.add(static_cast<double>(report.conflicts));
    overdue_.add(static_cast<double>(report.overdue));
    const std::int64_t decisions = report.placed + report.waiting + report.conflicts;
    if (decisions > 0) decision_seconds_.observe(report.decision_s / static_cast<double>(decisions));
}

} // namespace fathom::server
