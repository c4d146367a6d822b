#include "server/learning/drift_watch.hpp"

#include "core/base/log.hpp"
#include "server/identity/audit.hpp"
#include "server/learning/health_store.hpp"
#include "server/learning/predictions_store.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {
namespace {

/// Beyond what find_drift() looks at on hundreds of unit types.
constexpr std::int64_t kMaxResiduals = 20000;

std::vector<TimedResidual> to_residuals(const std::vector<PredictionRecord>& records,
                                        const std::map<std::string, Timestamp>& measured_at)
{
    std::vector<TimedResidual> residuals;
    for (const PredictionRecord& record : records) {
        if (record.outcome != "succeeded" || !record.actual_run_s || !record.ended_at || record.job_type.empty())
            continue;
        const auto measured = measured_at.find(record.unit_type_id.value);
        // Its promise is from before the measurement that it ended after: it speaks of neither.
        const bool is_between = measured != measured_at.end() && record.decided_at < measured->second &&
                                *record.ended_at > measured->second;
        if (is_between) continue;
        // Promises of another basis are off by another error: they are compared with their own.
        residuals.push_back({{record.unit_type_id.value, record.job_type + '\n' + record.promise_basis,
                              record.promised.run_s, *record.actual_run_s},
                             *record.ended_at});
    }
    return residuals;
}

} // namespace

Result<void> DriftWatch::look(pqxx::work& transaction) const
{
    if (rule_.least_jobs <= 0) return {};
    const std::map<std::string, Timestamp> measured_at = select_last_measured(transaction);
    const std::vector<TimedResidual> residuals =
        to_residuals(select_ended_predictions(transaction, kMaxResiduals), measured_at);
    for (const Drift& drift : find_drift(residuals, measured_at, rule_.least_jobs, rule_.threshold)) {
        const std::optional<DriftedUnitType> asked =
            request_drift_probes(transaction, drift.unit_type, measured_at.at(drift.unit_type), rule_.pause);
        if (!asked) continue;
        const std::string place = asked->center + "/" + asked->name;
        audit(transaction, actor_, "unit_type.drift", drift.unit_type, "",
              {{"unit_type", place}, {"ratio", drift.ratio}, {"jobs", drift.job_count}, {"reason", drift.reason}});
        notify(transaction, "catalog", asked->center_id.value);
        log_warning("unit_type_drifted",
                    {{"unit_type", place}, {"unit_type_id", drift.unit_type}, {"reason", drift.reason}});
        metrics_->count("fathom_unit_type_drifts_total",
                        "Unit types whose jobs went otherwise than predicted, so that they were measured again.");
    }
    return {};
}

} // namespace fathom::server
