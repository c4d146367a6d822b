#include "server/probing/schedules/schedule_runner.hpp"

#include "core/base/log.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/decide/probing/cron.hpp"
#include "server/probing/tasks/probe_budget_store.hpp"

#include <algorithm>
#include <array>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// The shortest period of a schedule is 10 s, and cron counts minutes.
constexpr auto kLookEvery = 1s;
constexpr auto kGaugesEvery = 10s;
/// Longer than an order takes to be queued, also one that asks the centers first.
constexpr auto kClaim = 300s;
constexpr std::int64_t kClaimedAtOnce = 20;
constexpr std::size_t kMaxErrorLength = 2000;

} // namespace

void ScheduleRunner::start(net::TaskGroup& group, const asio::any_io_executor& executor)
{
    group.keep_running(executor, "probe_schedules", [this] { return follow(); });
}

asio::awaitable<void> ScheduleRunner::follow()
{
    auto next_gauges = std::chrono::steady_clock::now();
    for (;;) {
        co_await net::TaskGroup::sleep(kLookEvery);
        const Result<std::int64_t> ran = co_await run_due();
        if (!ran) log_warning("probe_schedules_failed", {{"error", describe(ran.error())}});
        if (std::chrono::steady_clock::now() < next_gauges) continue;
        next_gauges = std::chrono::steady_clock::now() + kGaugesEvery;
        const Result<void> gauges = co_await set_gauges();
        if (!gauges) log_debug("probe_gauges_failed", {{"error", describe(gauges.error())}});
    }
}

asio::awaitable<Result<std::int64_t>> ScheduleRunner::run_due()
{
    const Timestamp now = clock_->now();
    auto claim = [now](pqxx::work& transaction) -> Result<std::vector<ProbeSchedule>> {
        return claim_due_schedules(transaction, now, now + kClaim, kClaimedAtOnce);
    };
    const Result<std::vector<ProbeSchedule>> due = co_await database_->run(std::move(claim));
    if (!due) co_return due.error();
    for (const ProbeSchedule& schedule : *due) {
        const Result<void> done = co_await run(schedule);
        // The others go on; its own claim ends by itself.
        if (!done)
            log_error("probe_schedule_failed", {{"schedule_id", schedule.id.value}, {"error", describe(done.error())}});
    }
    co_return static_cast<std::int64_t>(due->size());
}

asio::awaitable<Result<void>> ScheduleRunner::run(ProbeSchedule schedule)
{
    std::string error = co_await queue_order(schedule);
    error = utf8_prefix(error, kMaxErrorLength);
    const Timestamp now = clock_->now();
    const Result<CronSchedule> cron = parse_cron(schedule.cron);
    if (!cron) co_return cron.error(); // it was read when it was stored
    const Timestamp next = next_time(*cron, std::max(now, schedule.next_run_at.value_or(now)));
    auto finish = [=](pqxx::work& transaction) -> Result<void> {
        finish_schedule_run(transaction, schedule, next, now, error);
        return {};
    };
    co_return co_await database_->run(std::move(finish));
}

asio::awaitable<std::string> ScheduleRunner::queue_order(ProbeSchedule schedule)
{
    Result<RunOrder> order = parse_run_order(schedule.order);
    if (!order) co_return describe(order.error());
    // The runs name the schedule as the one who wanted them.
    Caller caller{schedule.id.value, ""};
    const Result<ProbingService::CreatedRuns> created =
        co_await probing_->create_runs(std::move(caller), std::move(*order), "schedule");
    if (!created) {
        log_warning("probe_schedule_failed", {{"schedule", schedule.name}, {"error", describe(created.error())}});
        co_return describe(created.error());
    }
    log_info("probe_schedule_ran",
             {{"schedule", schedule.name}, {"runs", created->runs.size()}, {"left_out", created->left_out.size()}});
    std::string left_out;
    for (const FieldError& place : created->left_out)
        left_out += (left_out.empty() ? "left out " : "; ") + place.field + ": " + place.detail;
    co_return left_out;
}

asio::awaitable<Result<void>> ScheduleRunner::set_gauges()
{
    struct Figures {
        std::vector<CenterBudget> budgets;
        std::vector<CauseCount> queued;
    };
    auto read = [](pqxx::work& transaction) -> Result<Figures> {
        return Figures{select_probe_budgets(transaction), count_queued_runs(transaction)};
    };
    const Result<Figures> figures = co_await database_->run(read);
    if (!figures) co_return figures.error();
    for (const CenterBudget& one : figures->budgets) {
        const MetricLabels labels{{"center", one.center}};
        metrics_->set("fathom_probe_budget_used_seconds", "Unit-seconds that probes used in the last 30 days, or may.",
                      one.budget.used_s + one.budget.reserved_s, labels);
        metrics_->set("fathom_probe_budget_limit_seconds", "Unit-seconds that probes may use in 30 days.",
                      limit_s(one.budget), labels);
    }
    constexpr std::array causes{"command", "arrival", "schedule", "catalog_change", "pretest", "learned"};
    for (const char* cause : causes) {
        double value = 0;
        for (const CauseCount& one : figures->queued)
            if (one.cause == cause) value = static_cast<double>(one.count);
        metrics_->set("fathom_probe_runs_queued", "Probe runs that have not ended, by cause.", value,
                      {{"cause", cause}});
    }
    co_return Result<void>();
}

} // namespace fathom::server
