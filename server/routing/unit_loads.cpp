#include "server/routing/unit_loads.hpp"

#include "core/base/log.hpp"
#include "core/decide/queue/busy_share.hpp"
#include "core/schedule/job_arrivals.hpp"
#include "core/schedule/unit_ledger.hpp"

#include <algorithm>
#include <unordered_map>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kPeriod = 10s;
/// Between two looks that change the rows: other replicas look, too.
constexpr auto kMinGap = 5s;
constexpr auto kMaxGap = 1h;

double busy_at(const UnitLoadRow& row, Timestamp now)
{
    BusyShare share(row.busy_share);
    if (row.used_share) share.note(*row.used_share, Seconds(now - row.noted_at).count());
    return share.mean();
}

/// Where each of the jobs would go if nothing was in use; jobs that are decided alike are decided once.
std::vector<JobArrival> arrivals_of(const std::vector<WaitingJob>& jobs, const CatalogSnapshot& catalog, Timestamp now)
{
    UnitLedger units(catalog.unit_types, catalog.knowledge, {.calendar = &catalog.calendar, .now = now});
    std::map<std::string, std::vector<JobArrival::Place>> by_kind;
    std::unordered_map<const KnownSpec*, std::string> spec_kinds; // many jobs have the same specification
    std::vector<JobArrival> arrivals;
    for (const WaitingJob& job : jobs) {
        const auto [spec_kind, is_new_spec] = spec_kinds.try_emplace(job.known.get());
        if (is_new_spec) spec_kind->second = spec_kind_of(job.spec, catalog);
        const auto [known, is_new] = by_kind.try_emplace(kind_of(job, spec_kind->second));
        if (is_new) {
            Result<RouteRequest> request = make_route_request(job.spec, catalog, now);
            if (!request) continue; // its operator is gone
            set_origin(*request, {job.job_type, job.submitter, job.takes_operators}, catalog);
            request->refused_by = job.refused_by;
            known->second = arrival_places(*request, units.decide(*request));
        }
        if (!known->second.empty()) arrivals.push_back({job.id.value, known->second});
    }
    return arrivals;
}

} // namespace

UnitLoadRows note_units_in_use(const UnitLoadRows& rows, const UnitLoadLook& last,
                               const std::map<std::string, std::int64_t>& used, const CatalogSnapshot& catalog,
                               Timestamp now)
{
    const Timestamp::duration passed = last.looked_at ? now - *last.looked_at : Timestamp::duration::zero();
    const Timestamp::duration uncounted = std::max<Timestamp::duration>(passed - kMaxGap, 0s);
    UnitLoadRows next;
    for (const UnitTypeView& view : catalog.unit_types) {
        std::optional<double> used_share;
        if (view.closed_reason.empty() && view.unit_count > 0) {
            const auto found = used.find(view.id.value);
            const std::int64_t units = found == used.end() ? 0 : found->second;
            used_share = std::min(1.0, static_cast<double>(units) / static_cast<double>(view.unit_count));
        }
        const auto known = rows.find(view.id.value);
        UnitLoadRow row;
        if (known != rows.end()) row = known->second;
        row.noted_at += uncounted;
        // A share that stays needs no new row: busy_at() counts on.
        if (known == rows.end() || row.used_share != used_share) {
            row.busy_share = busy_at(row, now);
            row.used_share = used_share;
            row.noted_at = now;
        }
        next.emplace(view.id.value, std::move(row));
    }
    return next;
}

UnitTypeLoads loads_at(const UnitLoadRows& rows, Timestamp now)
{
    UnitTypeLoads loads;
    for (const auto& [id, row] : rows) {
        loads.busy_shares.emplace(id, busy_at(row, now));
        if (row.shadow_price) loads.shadow_prices.emplace(id, *row.shadow_price);
    }
    return loads;
}

void UnitLoadService::start(net::TaskGroup& group, const asio::any_io_executor& executor)
{
    group.keep_running(executor, "unit_loads", [this] { return follow(); });
}

std::shared_ptr<const UnitTypeLoads> UnitLoadService::get() const
{
    const std::scoped_lock lock(mutex_);
    return current_;
}

asio::awaitable<void> UnitLoadService::follow()
{
    for (;;) {
        const Result<void> looked = co_await look();
        if (!looked) log_warning("unit_loads_not_noted", {{"error", describe(looked.error())}});
        co_await net::TaskGroup::sleep(kPeriod);
    }
}

Result<UnitLoadService::Found> UnitLoadService::read(pqxx::work& transaction)
{
    Found found{
        select_unit_loads(transaction), select_unit_load_look(transaction), count_units_in_use(transaction), {}};
    constexpr auto kMin = static_cast<std::int64_t>(kMinArrivals);
    if (count_jobs_after(transaction, found.last.newest_job, kMin) >= kMin)
        found.newest = select_newest_jobs(transaction, static_cast<std::int64_t>(kMaxArrivals));
    return found;
}

UnitLoadRows UnitLoadService::next_rows(const Found& found, const CatalogSnapshot& catalog, Timestamp now)
{
    UnitLoadRows next = note_units_in_use(found.rows, found.last, found.used, catalog, now);
    if (found.newest.empty()) return next;
    const auto shadow_prices = arrival_shadow_prices(arrivals_of(found.newest, catalog, now), catalog.unit_types);
    for (auto& [id, row] : next) {
        const auto shadow_price = shadow_prices.find(id);
        row.shadow_price = shadow_price == shadow_prices.end() ? std::nullopt : std::optional(shadow_price->second);
    }
    return next;
}

Result<void> UnitLoadService::write(pqxx::work& transaction, const Found& found, const UnitLoadRows& rows,
                                    Timestamp now)
{
    UnitLoadLook look{now, found.newest.empty() ? found.last.newest_job : found.newest.front().id.value};
    if (!advance_unit_load_look(transaction, found.last, look)) return {};
    UnitLoadRows changed = rows;
    std::erase_if(changed, [&](const auto& one) {
        const auto before = found.rows.find(one.first);
        return before != found.rows.end() && before->second == one.second;
    });
    upsert_unit_loads(transaction, changed);
    return {};
}

asio::awaitable<Result<void>> UnitLoadService::look()
{
    auto read_all = [](pqxx::work& transaction) { return read(transaction); };
    const Result<Found> found = co_await database_->run(std::move(read_all));
    if (!found) co_return found.error();
    const Timestamp now = clock_->now();
    const CatalogPointer catalog = catalog_->get();
    const bool is_due = !found->last.looked_at || now - *found->last.looked_at >= kMinGap ||
                        now < *found->last.looked_at; // by a clock that was ahead
    UnitLoadRows rows = found->rows;
    if (is_due) {
        auto compute = [&]() -> Result<UnitLoadRows> { return next_rows(*found, *catalog, now); };
        Result<UnitLoadRows> next = co_await compute_->run(std::string(), std::move(compute));
        if (!next) co_return next.error();
        rows = std::move(*next);
        auto write_rows = [&](pqxx::work& transaction) { return write(transaction, *found, rows, now); };
        const Result<void> written = co_await database_->run(std::move(write_rows));
        if (!written) co_return written.error();
    }
    auto loads = std::make_shared<const UnitTypeLoads>(loads_at(rows, now));
    const std::scoped_lock lock(mutex_);
    current_ = std::move(loads);
    co_return Result<void>();
}

} // namespace fathom::server
