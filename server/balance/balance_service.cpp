#include "server/balance/balance_service.hpp"

#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"
#include "server/store/commit_without_wait.hpp"
#include "server/store/transaction.hpp"

#include <map>
#include <vector>

namespace fathom::server {
namespace {

using StepsByUnit = std::map<std::string, std::vector<BalanceStep>>;

/// In the order of names: whoever locks several units locks them in that order.
StepsByUnit by_unit(std::vector<BalanceStep> steps)
{
    StepsByUnit units;
    for (BalanceStep& step : steps)
        units[step.unit].push_back(std::move(step));
    return units;
}

} // namespace

asio::awaitable<Result<void>> BalanceService::take_steps(Reporter reporter, BalanceSteps steps)
{
    for (const BalanceStep& step : steps.steps) {
        if (contains_nul(to_json(step))) co_return Error{Errc::kInvalid, "a text holds a NUL character"};
    }
    const auto told = static_cast<double>(steps.steps.size());
    const std::int64_t dropped_count = steps.dropped_count;
    const StepsByUnit units = by_unit(std::move(steps.steps));
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        if (reporter.epoch && !is_balance_session(transaction, reporter.center_id, *reporter.epoch))
            return Error{Errc::kUnavailable, "the session is superseded"};
        commit_without_wait(transaction); // samples: a crash of the database may take the last of them
        for (const auto& [unit, of_unit] : units) {
            if (!insert_balance_steps(transaction, reporter.center_id, unit, of_unit, dropped_count, limits_))
                log_limited(
                    "balance_unit_not_kept",
                    {{"center_id", reporter.center_id.value}, {"unit", unit}, {"max_units", limits_.units_of_center}});
        }
        return {};
    };
    const Result<void> kept = co_await database_->run(std::move(work));
    if (kept) {
        metrics_->count("fathom_balance_steps_total", "Steps of balance loops that agents told.", {}, told);
        metrics_->count("fathom_balance_steps_dropped_total", "Steps of balance loops that agents dropped.", {},
                        static_cast<double>(dropped_count));
    }
    co_return kept;
}

asio::awaitable<Result<Page<BalanceStepRecord>>> BalanceService::history(History wanted)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<BalanceStepRecord>> {
        const std::optional<BalancedUnitRow> unit = find_balanced_unit(transaction, wanted.key);
        if (!unit) return Error{Errc::kNotFound, "the center has told of no such balanced unit"};
        return select_balance_history(transaction, unit->id, wanted.since, wanted.before, wanted.size, wanted.scope);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<BalancedUnitRecord>>> BalanceService::units(std::string center, std::int64_t size,
                                                                        std::string after, JobScope scope)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<BalancedUnitRecord>> {
        return select_balanced_units(transaction, center, size, after, scope);
    };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
