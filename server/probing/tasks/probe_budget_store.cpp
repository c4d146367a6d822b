#include "server/probing/tasks/probe_budget_store.hpp"

#include "server/rows/probe_budget_row.hpp"
#include "server/store/column.hpp"
#include "server/store/database_now.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <optional>

namespace fathom::server {
namespace {

// A lock of its own, not the center's row: that is written with every sign of life of the agent.
constexpr Statement kLock{"probing_lock_budget", "SELECT pg_advisory_xact_lock(7233005, hashtext($1))"};

constexpr Statement kSelect{"probing_select_budget",
                            "SELECT b.*, c.name AS center FROM probe_budget b JOIN center c ON c.id = b.center_id "
                            "WHERE b.center_id = $1"};

constexpr Statement kSelectAll{"probing_select_budgets",
                               "SELECT b.*, c.name AS center FROM probe_budget b JOIN center c ON c.id = b.center_id "
                               "WHERE c.revoked_at IS NULL ORDER BY c.name"};

constexpr Statement kCountQueued{"probing_count_queued",
                                 "SELECT cause, count(*) FROM probe_run WHERE state = 'queued' GROUP BY cause"};

// By hour, so that the rows are few; an hour leaves the window with its last probe.
constexpr Statement kSelectSpent{"probing_select_spent", R"sql(
    SELECT max(ended_at) AS ended_at, sum(unit_s) AS unit_s FROM probe_use
    WHERE center_id = $1 AND ended_at > now() - interval '30 days'
      AND (run_ended_at IS NULL OR run_ended_at > now() - interval '31 days')
    GROUP BY date_trunc('hour', ended_at))sql"};

CenterBudget to_budget(const pqxx::row& row)
{
    return {.center_id = {row["center_id"].as<std::string>()},
            .center = row["center"].as<std::string>(),
            .budget = to_probe_budget(row),
            .largest_unit_count = row["largest_unit_count"].as<std::int64_t>()};
}

std::optional<CenterBudget> lock_budget(pqxx::work& transaction, const CenterId& center)
{
    exec(transaction, kLock, center.value);
    const pqxx::result rows = exec(transaction, kSelect, center.value);
    if (rows.empty()) return std::nullopt;
    return to_budget(rows[0]);
}

Error no_such_center()
{
    return Error{Errc::kNotFound, "no such center"};
}

} // namespace

Result<ProbeBudget> lock_probe_budget(pqxx::work& transaction, const CenterId& center)
{
    const std::optional<CenterBudget> found = lock_budget(transaction, center);
    if (!found) return no_such_center();
    return found->budget;
}

Result<void> check_probe_budget(pqxx::work& transaction, const CenterId& center, double wall_limit_s,
                                std::int64_t unit_count)
{
    const std::optional<CenterBudget> found = lock_budget(transaction, center);
    if (!found) return no_such_center();
    const ProbeBudget& budget = found->budget;
    const double cost_s = wall_limit_s * static_cast<double>(unit_count > 0 ? unit_count : found->largest_unit_count);
    if (budget.used_s + budget.reserved_s + cost_s <= limit_s(budget)) return {};
    std::vector<SpentProbe> spent;
    for (const pqxx::row& row : exec(transaction, kSelectSpent, center.value))
        spent.push_back({to_timestamp(row["ended_at"]), row["unit_s"].as<double>()});
    return Error{Errc::kInfeasible, explain_refusal(found->center, budget, cost_s, spent, database_now(transaction))};
}

std::vector<CenterBudget> select_probe_budgets(pqxx::transaction_base& transaction)
{
    std::vector<CenterBudget> budgets;
    for (const pqxx::row& row : exec(transaction, kSelectAll))
        budgets.push_back(to_budget(row));
    return budgets;
}

std::vector<CauseCount> count_queued_runs(pqxx::transaction_base& transaction)
{
    std::vector<CauseCount> counts;
    for (const pqxx::row& row : exec(transaction, kCountQueued))
        counts.push_back({row[0].as<std::string>(), row[1].as<std::int64_t>()});
    return counts;
}

} // namespace fathom::server
