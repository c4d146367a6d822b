#include "server/routing/routing_service.hpp"

#include "core/base/log.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <utility>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// The order of jobs is that within a page.
constexpr std::int64_t kPageJobs = 4096;
/// Of the first page after the network was full: what became free goes to the first in line, and thousands that wait
/// behind them need not be read for it. The next page follows if they do not take all, and each tick orders all.
constexpr std::int64_t kFirstJobsWhenFull = 32;
/// A pass must end so that the next one sees what has changed; the rest waits for it.
constexpr int kPagesPerPass = 4;
/// When nothing can be placed a tick only refreshes reasons and looks after metering: no need to hurry.
constexpr int kPagesWhenFull = 2;
constexpr auto kTick = 2s;
/// Passes that go through the line may read thousands of jobs: one part in so many of the router's time is for them, so
/// that between them what becomes free is given away at once.
constexpr int kLineShare = 4;
/// Wake-ups come in bursts; and the other passes take half of the router's time at most.
constexpr auto kMinPause = 2ms;

constexpr std::string_view kSubmitted = "submitted"; ///< payload of the wake-up of new jobs

constexpr const char* kDecisions = "fathom_routing_decisions_total";
constexpr const char* kDecisionsHelp = "Decisions of the router on waiting jobs, by result.";

/// When passes may come again.
struct NextPasses {
    using Pass = RoutingService::Pass;
    using Time = std::chrono::steady_clock::time_point;

    Time tick;
    Time line; ///< a pass may go through the line

    Pass kind_at(Time now) const
    {
        if (now >= tick) return Pass::kTick;
        return now >= line ? Pass::kWoken : Pass::kFirst;
    }

    /// After a pass that began then, so that it has no more than its share of the time.
    void put_off(Pass kind, Time began, std::chrono::milliseconds share)
    {
        if (kind == Pass::kTick) tick = began + std::max<std::chrono::milliseconds>(kTick, share);
        if (kind != Pass::kFirst) line = began + share;
    }
};

std::chrono::milliseconds pause_after(RoutingService::Pass kind, std::chrono::milliseconds took)
{
    return std::clamp<std::chrono::milliseconds>(kind == RoutingService::Pass::kFirst ? took : 0ms, kMinPause, 1s);
}

/// 0 or more.
std::chrono::milliseconds time_until(Timestamp when, Timestamp now)
{
    return std::chrono::ceil<std::chrono::milliseconds>(std::max<Timestamp::duration>(when - now, 0ms));
}

/// Some job of it cannot be routed.
bool is_unroutable(const Result<PageReport>& report)
{
    return !report && report.error().code == Errc::kInternal;
}

} // namespace

RoutingService::RoutingService(Database& database, const asio::any_io_executor& executor, Metrics& metrics,
                               const Clock& clock, CatalogCache& catalog, const UnitLoadService& loads,
                               ProbePlanner& planner, WaitingJobTerminator& terminator, RoutingSettings settings)
    : database_(&database), clock_(&clock), catalog_(&catalog), loads_(&loads), planner_(&planner),
      terminator_(&terminator), settings_(std::move(settings)), wake_(executor),
      placed_(metrics.counter(kDecisions, kDecisionsHelp, {{"result", "placed"}})),
      waiting_(metrics.counter(kDecisions, kDecisionsHelp, {{"result", "waits"}})),
      metering_(metrics.counter(kDecisions, kDecisionsHelp, {{"result", "metering"}})),
      conflicts_(metrics.counter(kDecisions, kDecisionsHelp, {{"result", "conflict"}})),
      overdue_(metrics.counter(kDecisions, kDecisionsHelp, {{"result", "overdue"}})),
      decision_seconds_(
          metrics.seconds_histogram("fathom_routing_decision_seconds", "Time of one decision, averaged over a page.")),
      pass_seconds_(metrics.seconds_histogram("fathom_routing_pass_seconds", "Time of one pass of the router."))
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
    NextPasses next{start, start};
    for (;;) {
        const auto began = std::chrono::steady_clock::now();
        const Pass kind = next.kind_at(began);
        if (kind == Pass::kTick) next_window_.reset();
        const Result<std::int64_t> placed = co_await run_pass(kind);
        const auto ended = std::chrono::steady_clock::now();
        pass_seconds_.observe(std::chrono::duration<double>(ended - began).count());
        if (!placed) log_warning("routing_pass_failed", {{"error", describe(placed.error())}});
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

asio::awaitable<Result<std::int64_t>> RoutingService::run_pass(Pass kind)
{
    if (kind != Pass::kFirst) co_return co_await go_through_line(kind);
    const Result<PageReport> first = co_await place_first();
    if (!first) co_return first.error();
    co_return first->placed;
}

asio::awaitable<Result<std::int64_t>> RoutingService::go_through_line(Pass kind)
{
    is_line_due_ = false;
    PassState state;
    state.is_tick = kind == Pass::kTick;
    std::int64_t limit = state.is_tick || has_room_ ? kPageJobs : kFirstJobsWhenFull;
    pass_.units.reset();
    std::int64_t placed = 0;
    int pages = kPagesPerPass;
    for (int page = 0; page < pages; ++page) {
        if (page == pages / 2) state.after = std::max(state.after, sweep_after_);
        Result<PageReport> report = co_await run_page(state, std::exchange(limit, kPageJobs));
        if (is_unroutable(report)) report = co_await run_page_singly(state);
        note_page(report);
        if (!report) co_return report.error();
        placed += report->placed;
        if (report->is_end) sweep_after_ = {};
        if (report->is_done) co_return placed;
        if (!report->has_free_unit) pages = kPagesWhenFull;
        state = std::move(report->next);
        if (!wake_.take()) continue;
        const Result<PageReport> first = co_await place_first();
        if (!first) co_return first.error();
        placed += first->placed;
        std::erase_if(state.planned, [&](const PlannedUnits& units) { return first->placed_jobs.contains(units.job); });
    }
    sweep_after_ = state.after;
    co_return placed;
}

asio::awaitable<Result<PageReport>> RoutingService::place_first()
{
    pass_.units.reset(); // something became free since they were read
    PassState from_the_first;
    Result<PageReport> report = co_await run_page(std::move(from_the_first), kFirstJobsWhenFull);
    pass_.units.reset(); // a pass that is under way counts on what it has planned for jobs that wait
    note_page(report);
    // Of jobs that cannot be routed a pass through the line finds which one it is.
    is_line_due_ = is_line_due_ || !report;
    if (is_unroutable(report)) report = PageReport();
    if (report && report->has_free_unit && !report->is_end) is_line_due_ = true;
    co_return report;
}

void RoutingService::note_page(const Result<PageReport>& report)
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

asio::awaitable<Result<PageReport>> RoutingService::run_page(PassState state, std::int64_t limit)
{
    const Result<void> prepared = co_await prepare_columns();
    if (!prepared) co_return prepared.error();
    std::optional<RoutingPage> page;
    auto look = [&](pqxx::work& transaction) -> Result<void> {
        page.emplace(settings_, *catalog_, *planner_, *terminator_, uses_, columns_, loads_->get(), *clock_, pass_);
        Result<void> read = page->read(transaction, state, limit);
        // What runs teach goes into the units of the pass, which its first decision makes.
        if (read && page->has_ready() && !pass_.units) catalog_->read_new_runs(transaction);
        return read;
    };
    const Result<void> seen = co_await database_->run(std::move(look));
    if (!seen) co_return seen.error();
    if (!page->has_ready()) co_return page->report();
    auto decide = [&]() -> Result<void> { return page->plan(); };
    const Result<void> planned = co_await planning_.run(std::string(), std::move(decide));
    if (!planned) pass_.units.reset();
    if (!planned) co_return planned.error();
    auto write = [&](pqxx::work& transaction) -> Result<PageReport> { return page->commit(transaction); };
    Result<PageReport> report = co_await database_->run(std::move(write));
    if (report) uses_.add(report->started);
    // It has units as taken that are not.
    if (!report || report->conflicts > 0) pass_.units.reset();
    if (std::optional<DecidedCycle> cycle = page->take_cycle(); report && cycle)
        settings_.recorder->add(std::move(*cycle));
    co_return report;
}

asio::awaitable<Result<PageReport>> RoutingService::run_page_singly(PassState state)
{
    PageReport total;
    for (std::int64_t i = 0; i < kPageJobs; ++i) {
        const Result<PageReport> report = co_await run_page(state, 1);
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

void RoutingService::observe(const PageReport& report)
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
