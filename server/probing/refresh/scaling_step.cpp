#include "server/probing/refresh/scaling_step.hpp"

#include "core/decide/prediction/scaling.hpp"
#include "server/probing/tasks/run_queue.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

#include <pqxx/pqxx>

#include <map>
#include <optional>

namespace fathom::server {
namespace {

// An order's runs at a unit type, all ended, as many as its counts were: a step more makes one more, and ends it.
constexpr const char* kSelectOpen = R"sql(
    SELECT r.order_id, r.probe_task_id, r.unit_type_id, u.unit_count, max(r.id) AS newest
    FROM probe_run r JOIN unit_type u ON u.id = r.unit_type_id JOIN center c ON c.id = u.center_id
    WHERE r.count_by = 'scaling' AND r.mode = 'strong' AND r.repeats_run_id IS NULL AND r.created_at > now() - interval '1 day'
      AND u.active AND c.state = 'online' AND NOT c.drained AND c.revoked_at IS NULL
    GROUP BY r.order_id, r.probe_task_id, r.unit_type_id, u.unit_count
    HAVING count(*) = $1 AND u.unit_count > $1 AND bool_and(r.state = 'succeeded')
    ORDER BY r.order_id LIMIT 100)sql";

constexpr const char* kSelectPoints = R"sql(
    SELECT m.operator_id || ' ' || m.parameters_key AS key, m.unit_count, 1 / m.median_s AS rate
    FROM measurement m JOIN probe_run r ON r.id = m.probe_run_id
    WHERE r.order_id = $1 AND r.unit_type_id = $2 AND r.probe_task_id = $3 AND m.void_reason = '' AND m.median_s > 0)sql";

std::vector<ScalingCurve> fit_curves(const pqxx::result& rows, std::vector<std::int64_t>& measured)
{
    std::map<std::string, std::vector<ScalingPoint>> points;
    for (const pqxx::row& row : rows) {
        const auto count = row["unit_count"].as<std::int64_t>();
        measured.push_back(count);
        points[row["key"].as<std::string>()].push_back({static_cast<double>(count), row["rate"].as<double>()});
    }
    std::vector<ScalingCurve> curves;
    for (const auto& [key, of_operator] : points) {
        Result<ScalingCurve> curve = fit_scaling(of_operator, ScalingMode::kStrong);
        if (curve) curves.push_back(std::move(*curve));
    }
    return curves;
}

} // namespace

Result<void> ScalingStep::look(pqxx::work& transaction) const
{
    for (const pqxx::row& row : transaction.exec_params(kSelectOpen, kScalingCounts)) {
        const auto order = row["order_id"].as<std::string>();
        const auto unit_type = row["unit_type_id"].as<std::string>();
        std::vector<std::int64_t> measured;
        const std::vector<ScalingCurve> curves = fit_curves(
            transaction.exec_params(kSelectPoints, order, unit_type, row["probe_task_id"].as<std::string>()), measured);
        const std::optional<std::int64_t> count =
            next_scaling_count(curves, row["unit_count"].as<std::int64_t>(), measured);
        if (!count) continue;
        const std::optional<ProbeRunRecord> run = select_run(transaction, row["newest"].as<std::string>());
        const std::optional<ProbeTaskRecord> task = lock_task(transaction, row["probe_task_id"].as<std::string>());
        if (!run || !task) continue;
        const RunPlace place{.unit_type_id = run->unit_type_id,
                             .center_id = run->center_id,
                             .unit_count = *count,
                             .selection = run->selection,
                             .cause = run->cause,
                             .created_by = run->created_by,
                             .seed = run->document.value("seed", 0LL),
                             .order_id = order,
                             .count_by = "scaling",
                             .able_unit_types = {}};
        const Result<ProbeRunId> added = queue_run(transaction, *writer_, *task, place);
        if (!added && added.error().code != Errc::kInfeasible) return added.error();
        if (!added) continue;
        notify(transaction, "route", "");
        log_after_commit(LogLevel::kInfo, "scaling_step",
                         {{"probe_run_id", added->value}, {"order_id", order}, {"unit_count", *count}});
    }
    return {};
}

} // namespace fathom::server
