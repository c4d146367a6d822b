#include "server/retention/retention_task.hpp"

#include "core/base/log.hpp"
#include "server/retention/event_months.hpp"
#include "server/retention/old_rows.hpp"
#include "server/store/savepoint.hpp"

#include <pqxx/transaction>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kTurnEvery = 10min;
constexpr auto kGaugesEvery = 30s;

std::vector<std::string> ids_of(const std::vector<Due>& due)
{
    std::vector<std::string> ids;
    ids.reserve(due.size());
    for (const Due& one : due)
        ids.push_back(one.id);
    return ids;
}

/// Removes at most `pieces` of these attempts' output, in their order.
/// @return of how many attempts none is left
std::int64_t remove_first_outputs(pqxx::work& transaction, const std::vector<std::string>& attempts,
                                  std::int64_t pieces)
{
    std::int64_t done = 0;
    for (std::int64_t room = pieces; done < std::ssize(attempts) && room > 0; ++done) {
        const RemovedOutput part = remove_output(transaction, attempts[static_cast<std::size_t>(done)], room);
        if (!part.is_complete) break;
        room -= part.pieces;
    }
    return done;
}

/// All at once; where that fails one by one, so that only those stay that cannot be removed.
template <class Remove>
std::int64_t remove_each(pqxx::work& transaction, const std::vector<std::string>& ids, Remove remove)
{
    const Result<std::int64_t> together =
        in_savepoint(transaction, [&]() -> Result<std::int64_t> { return remove(transaction, ids); });
    if (together) return *together;
    std::int64_t removed = 0;
    for (const std::string& id : ids) {
        const Result<std::int64_t> one =
            in_savepoint(transaction, [&]() -> Result<std::int64_t> { return remove(transaction, {id}); });
        if (one)
            removed += *one;
        else
            log_error("not_removed", {{"id", id}, {"error", describe(one.error())}});
    }
    return removed;
}

} // namespace

void RetentionTask::start(net::TaskGroup& group, const asio::any_io_executor& executor)
{
    group.keep_running(executor, "retention", [this] { return follow(); });
}

asio::awaitable<void> RetentionTask::follow()
{
    co_await update_event_months_and_log();
    auto next_turn = std::chrono::steady_clock::now() + kGaugesEvery;
    for (;;) {
        const Result<void> gauges = co_await set_gauges();
        if (!gauges) log_debug("retention_gauges_failed", {{"error", describe(gauges.error())}});
        co_await net::TaskGroup::sleep(kGaugesEvery);
        if (std::chrono::steady_clock::now() < next_turn) continue;
        co_await remove_and_log();
        co_await update_event_months_and_log();
        next_turn = std::chrono::steady_clock::now() + kTurnEvery;
    }
}

asio::awaitable<void> RetentionTask::remove_and_log()
{
    const Result<Removed> removed = co_await turn();
    if (!removed)
        log_warning("retention_failed", {{"error", describe(removed.error())}});
    else if (removed->outputs + removed->jobs + removed->probe_runs + removed->findings + removed->audit +
                 removed->usage + removed->balance_steps + removed->sub_units + removed->kept_outputs +
                 removed->job_types + removed->calendar >
             0)
        log_info("retention_removed", {{"outputs", removed->outputs},
                                       {"jobs", removed->jobs},
                                       {"probe_runs", removed->probe_runs},
                                       {"findings", removed->findings},
                                       {"audit", removed->audit},
                                       {"usage", removed->usage},
                                       {"balance_steps", removed->balance_steps},
                                       {"sub_units", removed->sub_units},
                                       {"kept_outputs", removed->kept_outputs},
                                       {"job_types", removed->job_types},
                                       {"calendar", removed->calendar}});
}

asio::awaitable<void> RetentionTask::update_event_months_and_log()
{
    const Result<EventMonths> months = co_await update_event_months();
    if (!months)
        log_warning("event_months_failed", {{"error", describe(months.error())}});
    else if (months->made + months->dropped + months->waiting > 0)
        log_info("event_months", {{"made", months->made}, {"dropped", months->dropped}, {"waiting", months->waiting}});
}

asio::awaitable<Result<RetentionTask::EventMonths>> RetentionTask::update_event_months()
{
    const Timestamp now = clock_->now();
    const Result<MonthChanges> made = co_await change_event_months(now, select_missing_event_months, make_event_month);
    if (!made) co_return made.error();
    EventMonths months{.made = made->done, .dropped = 0, .waiting = made->waiting};
    if (rule_.jobs > std::chrono::days(0)) {
        const Result<MonthChanges> dropped =
            co_await change_event_months(now - rule_.jobs, select_due_event_months, drop_event_month);
        if (!dropped) co_return dropped.error();
        months.dropped = dropped->done;
        months.waiting += dropped->waiting;
    }
    co_return months;
}

asio::awaitable<Result<RetentionTask::MonthChanges>>
RetentionTask::change_event_months(Timestamp at, SelectMonths select, ChangeMonth change)
{
    auto look = [at, select](pqxx::work& transaction) -> Result<std::vector<std::string>> {
        return select(transaction, at);
    };
    const Result<std::vector<std::string>> months = co_await database_->run(std::move(look));
    if (!months) co_return months.error();
    MonthChanges changes;
    for (const std::string& month : *months) {
        auto work = [month, change](pqxx::work& transaction) -> std::int64_t {
            return change(transaction, month) ? 1 : 0;
        };
        const Result<std::int64_t> done = co_await remove_in(std::move(work));
        if (!done) log_error("event_month_not_changed", {{"month", month}, {"error", describe(done.error())}});
        if (done && *done == 1)
            ++changes.done;
        else
            ++changes.waiting;
    }
    co_return changes;
}

asio::awaitable<Result<RetentionTask::Removed>> RetentionTask::turn()
{
    const Timestamp now = clock_->now();
    Removed removed;
    constexpr std::chrono::days never{0};
    std::chrono::days output = rule_.output;
    if (output == never || (rule_.jobs != never && rule_.jobs < output)) output = rule_.jobs;
    // In this order: a job goes once its output is gone.
    if (output > never) {
        const Result<std::int64_t> done = co_await remove_outputs(now - output);
        if (!done) co_return done.error();
        removed.outputs = *done;
    }
    if (rule_.jobs > never) {
        const Result<std::int64_t> done = co_await remove_pages(now - rule_.jobs, select_jobs_due, remove_jobs);
        if (!done) co_return done.error();
        removed.jobs = *done;
    }
    if (rule_.measurements > never) {
        const Result<std::int64_t> done =
            co_await remove_pages(now - rule_.measurements, select_probe_runs_due, remove_probe_runs);
        if (!done) co_return done.error();
        removed.probe_runs = *done;
    }
    const std::array<OldRows, 8> by_age{{{rule_.findings, remove_findings, &Removed::findings},
                                         {rule_.audit, remove_audit, &Removed::audit},
                                         {rule_.usage, remove_usage, &Removed::usage},
                                         {rule_.balance, remove_balance_steps, &Removed::balance_steps},
                                         {rule_.sub_units, remove_sub_unit_rows, &Removed::sub_units},
                                         {rule_.kept_outputs, remove_kept_outputs, &Removed::kept_outputs},
                                         {rule_.jobs, remove_job_types, &Removed::job_types},
                                         {rule_.jobs, remove_calendar_rows, &Removed::calendar}}};
    for (const OldRows& rows : by_age) {
        if (rows.kept_for == never) continue;
        const Result<std::int64_t> done = co_await remove_rows(now - rows.kept_for, rows.remove);
        if (!done) co_return done.error();
        removed.*rows.count = *done;
    }
    co_return removed;
}

asio::awaitable<Result<std::int64_t>> RetentionTask::remove_in(std::function<std::int64_t(pqxx::work&)> work)
{
    auto locked = [work = std::move(work)](pqxx::work& transaction) -> Result<std::int64_t> {
        return lock_retention(transaction) ? work(transaction) : 0;
    };
    const Result<std::int64_t> done = co_await database_->run(std::move(locked));
    co_await net::TaskGroup::sleep(pace_.pause);
    co_return done;
}

asio::awaitable<Result<std::int64_t>> RetentionTask::remove_outputs(Timestamp before)
{
    const std::int64_t pieces = pace_.pieces;
    std::int64_t removed = 0;
    Due after;
    for (;;) {
        auto look = [before, after, limit = pace_.jobs](pqxx::work& transaction) -> Result<std::vector<Due>> {
            return select_output_due(transaction, before, after, limit);
        };
        const Result<std::vector<Due>> due = co_await database_->run(std::move(look));
        if (!due) co_return due.error();
        if (due->empty()) co_return removed;
        after = due->back();
        // Small ones share a transaction; one that has more than fits goes on in the next.
        std::vector<std::string> left = ids_of(*due);
        while (!left.empty()) {
            auto remove = [&left, pieces](pqxx::work& transaction) {
                return remove_first_outputs(transaction, left, pieces) + 1; // 0 is for those who do not have the lock
            };
            const Result<std::int64_t> done = co_await remove_in(std::move(remove));
            if (!done) co_return done.error();
            if (*done == 0) co_return removed;
            removed += *done - 1;
            left.erase(left.begin(), left.begin() + (*done - 1));
        }
    }
}

asio::awaitable<Result<std::int64_t>> RetentionTask::remove_pages(Timestamp before, Select select, Remove remove)
{
    std::int64_t removed = 0;
    Due after;
    for (;;) {
        auto look = [before, after, select, limit = pace_.jobs](pqxx::work& transaction) -> Result<std::vector<Due>> {
            return select(transaction, before, after, limit);
        };
        const Result<std::vector<Due>> due = co_await database_->run(std::move(look));
        if (!due) co_return due.error();
        if (due->empty()) co_return removed;
        after = due->back();
        auto work = [ids = ids_of(*due), remove](pqxx::work& transaction) {
            return remove_each(transaction, ids, remove);
        };
        const Result<std::int64_t> done = co_await remove_in(std::move(work));
        if (!done) co_return done.error();
        removed += *done;
    }
}

asio::awaitable<Result<std::int64_t>> RetentionTask::remove_rows(Timestamp before, RemoveRows remove)
{
    std::int64_t removed = 0;
    for (;;) {
        auto work = [before, remove, limit = pace_.rows](pqxx::work& transaction) {
            return remove(transaction, before, limit);
        };
        const Result<std::int64_t> done = co_await remove_in(std::move(work));
        if (!done) co_return done.error();
        removed += *done;
        if (*done < pace_.rows) co_return removed;
    }
}

asio::awaitable<Result<void>> RetentionTask::set_gauges()
{
    auto read = [](pqxx::work& transaction) -> Result<std::vector<StoredBytes>> {
        return select_stored_bytes(transaction);
    };
    const Result<std::vector<StoredBytes>> stored = co_await database_->run(std::move(read));
    if (!stored) co_return stored.error();
    for (const StoredBytes& one : *stored)
        metrics_->set("fathom_stored_bytes", "What the database keeps, with indexes, by kind.", one.bytes,
                      {{"kind", one.kind}});
    co_return Result<void>();
}

} // namespace fathom::server
