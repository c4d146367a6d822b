#include "server/billing/ledger_service.hpp"

#include "core/base/log.hpp"
#include "core/model/money.hpp"
#include "server/billing/entry_plan.hpp"
#include "server/billing/usage_metering_store.hpp"
#include "server/identity/audit.hpp"
#include "server/store/column.hpp"
#include "server/store/database_now.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

#include <pqxx/pqxx>

#include <memory>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kPause = 2s;
/// Usage of one transaction: the ledger is held for as long as it takes to write.
constexpr std::int64_t kMaxUsage = 1000;

using BatchPointer = std::shared_ptr<const PostingBatch>;

BatchPointer read_batch(pqxx::work& transaction, RateBooks& books)
{
    auto batch = std::make_shared<PostingBatch>();
    batch->head = select_head(transaction);
    batch->usage = select_usage_after(transaction, {}, batch->head.usage_id, kMaxUsage);
    if (batch->usage.empty()) return batch;
    for (const UsageRecord& usage : batch->usage) {
        if (usage.revision == 1) continue;
        if (std::optional<PostedEntry> earlier = select_posted_before(transaction, usage.source, usage.revision)) {
            batch->earlier.emplace(usage.id, std::move(*earlier));
        }
    }
    batch->books = books.get(transaction);
    batch->closed_periods = select_closed_periods(transaction);
    batch->now = database_now(transaction);
    return batch;
}

/// Says so once when a bill reaches a part of its budget. @return whether jobs may have to be refused from now on.
bool look_at_budgets(pqxx::work& transaction, const std::vector<ProjectBill>& bills, const PriceBook& book)
{
    bool is_reached = false;
    for (const ProjectBill& bill : bills) {
        const ProjectBudget* budget = find_budget(book, bill.project);
        if (budget == nullptr || bill.currency != book.currency) continue;
        if (bill.billed_micros >= budget->per_month_micros) is_reached = true;
        for (const int percent : budget->alerts_percent) {
            if (bill.billed_micros < percent_of(budget->per_month_micros, percent)) continue;
            if (!insert_budget_alert(transaction, bill, percent)) continue;
            log_after_commit(LogLevel::kWarning, "budget_alert",
                             {{"project", bill.project},
                              {"period", bill.period},
                              {"percent", percent},
                              {"billed", format_amount(bill.billed_micros)},
                              {"budget", format_amount(budget->per_month_micros)},
                              {"currency", bill.currency}});
        }
    }
    return is_reached;
}

/// False when another replica was faster.
bool write_batch(pqxx::work& transaction, const PostingBatch& batch, const std::vector<PostedEntry>& entries)
{
    if (lock_head(transaction) != batch.head) return false;
    insert_entries(transaction, entries);
    update_head(transaction, {entries.back().entry.seq, entries.back().sha256, batch.usage.back().id});
    const std::vector<ProjectBill> bills = add_to_bills(transaction, entries);
    // Of budgets the book in force speaks, which is the last but those that are yet to come.
    const RateBook* book = nullptr;
    for (const RateBook& one : *batch.books)
        if (one.valid_from() <= batch.now) book = &one;
    if (book != nullptr && look_at_budgets(transaction, bills, book->book())) notify(transaction, "catalog", "");
    return true;
}

Result<BillingPeriod> close_period(pqxx::work& transaction, const Caller& caller, const std::string& period)
{
    lock_metering(transaction);
    LedgerHead head = lock_head(transaction);
    if (const std::string obstacle = find_obstacle_to_close(transaction, period); !obstacle.empty())
        return Error{Errc::kConflict, period + " cannot be closed: " + obstacle};
    PostedEntry posted;
    posted.entry.period = period;
    posted.entry.kind = EntryKind::kClose;
    posted.entry.source = "close/" + period;
    posted.entry.posted_at = database_now(transaction);
    posted.entry.note = "closed by " + caller.actor;
    const LedgerHead before = head;
    chain(posted, head);
    insert_entries(transaction, {posted});
    update_head(transaction, {head.seq, head.sha256, before.usage_id});
    insert_closed_period(transaction, period, caller.actor, head.seq);
    audit(transaction, caller.actor, "billing_period.close", period, caller.request_id,
          {{"seq", head.seq}, {"sha256", head.sha256}});
    for (BillingPeriod& one : select_periods(transaction))
        if (one.period == period) return std::move(one);
    return Error{Errc::kInternal, "the closed month is not there"};
}

} // namespace

asio::awaitable<Result<std::int64_t>> LedgerService::meter_next()
{
    auto find = [this](pqxx::work& transaction) -> Result<UsageMeter::Due> { return meter_->find_due(transaction); };
    const Result<UsageMeter::Due> due = co_await database_->run(std::move(find));
    if (!due) co_return due.error();
    UsageMeter::Judged judged;
    if (!due->unit_types.empty()) {
        // Before the lock of metering is taken, for which closing a month waits.
        auto judge = [this, &due]() -> Result<UsageMeter::Judged> { return meter_->judge(*due); };
        Result<UsageMeter::Judged> scored = co_await compute_->run("", std::move(judge));
        if (!scored) co_return scored.error();
        judged = std::move(*scored);
    }
    auto work = [this, &judged](pqxx::work& transaction) -> Result<std::int64_t> {
        const std::int64_t records = meter_->meter(transaction, judged);
        if (records > 0) reach("metering");
        return records;
    };
    const Result<std::int64_t> records = co_await database_->run(std::move(work));
    if (records && *records > 0) reach("metered");
    co_return records;
}

asio::awaitable<Result<std::int64_t>> LedgerService::post_next()
{
    auto read = [this](pqxx::work& transaction) -> Result<BatchPointer> { return read_batch(transaction, books_); };
    const Result<BatchPointer> batch = co_await database_->run(std::move(read));
    if (!batch) co_return batch.error();
    if ((*batch)->usage.empty()) co_return 0;
    auto plan = [batch = *batch]() -> Result<std::vector<PostedEntry>> { return plan_entries(*batch); };
    const Result<std::vector<PostedEntry>> entries = co_await compute_->run("", std::move(plan));
    if (!entries) co_return entries.error();
    reach("rated");
    auto write = [this, &entries, batch = *batch](pqxx::work& transaction) -> Result<std::int64_t> {
        if (!write_batch(transaction, *batch, *entries)) return 0;
        reach("posting");
        return static_cast<std::int64_t>(batch->usage.size());
    };
    const Result<std::int64_t> posted = co_await database_->run(std::move(write));
    if (posted && *posted > 0) {
        reach("posted");
        metrics_->count("fathom_ledger_usage_total", "Usage records that were posted to the ledger.", {},
                        static_cast<double>(*posted));
    }
    co_return posted;
}

asio::awaitable<Result<BillingPeriod>> LedgerService::close(Caller caller, std::string period)
{
    if (!start_of_period(period))
        co_return Error{Errc::kInvalid, "the request has 1 error", {{"period", "must be a month, such as 2026-11"}}};
    auto work = [&](pqxx::work& transaction) -> Result<BillingPeriod> {
        Result<BillingPeriod> closed = close_period(transaction, caller, period);
        if (closed) reach("closing");
        return closed;
    };
    const Result<BillingPeriod> closed = co_await database_->run(std::move(work));
    if (closed) reach("closed");
    co_return closed;
}

asio::awaitable<Result<std::vector<BillingPeriod>>> LedgerService::periods()
{
    auto work = [](pqxx::work& transaction) -> Result<std::vector<BillingPeriod>> {
        return select_periods(transaction);
    };
    co_return co_await database_->run(std::move(work));
}

void LedgerService::start(net::TaskGroup& group, const asio::any_io_executor& executor)
{
    group.keep_running(executor, "billing", [this] { return follow(); });
}

asio::awaitable<Result<void>> LedgerService::work_off()
{
    for (;;) {
        const Result<std::int64_t> records = co_await meter_next();
        if (!records) co_return records.error();
        const Result<std::int64_t> posted = co_await post_next();
        if (!posted) co_return posted.error();
        if (*records == 0 && *posted == 0) co_return Result<void>();
    }
}

asio::awaitable<void> LedgerService::follow()
{
    for (;;) {
        const Result<void> done = co_await work_off();
        if (!done) log_warning("billing_failed", {{"error", describe(done.error())}});
        co_await net::TaskGroup::sleep(kPause);
    }
}

Json to_json(const BillingPeriod& period)
{
    return {{"period", period.period},
            {"state", period.closed_at ? "closed" : "open"},
            {"closed_at", time_json(period.closed_at)},
            {"closed_by", text_or_null(period.closed_by)},
            {"entries", period.entries}};
}

} // namespace fathom::server
