#include "server/learning/drift_watch.hpp"

#include "core/base/log.hpp"
#include "server/identity/audit.hpp"
#include "server/learning/health_store.hpp"
#include "server/learning/predictions_store.hpp"
#include "server/store/after_commit.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/notifier.hpp"

#include <utility>

namespace fathom::server {
namespace {

/// Beyond what find_drift() looks at on hundreds of unit types.
constexpr std::int64_t kMaxResiduals = 20000;
/// A wake-up is never lost; this only ends the wait.
constexpr std::chrono::hours kLookAtLeastEvery{1};

std::vector<TimedResidual> to_residuals(const std::vector<PredictionRecord>& records,
                                        const std::map<std::string, Timestamp>& measured_at)
{
    std::vector<TimedResidual> residuals;
    for (const PredictionRecord& record : records) {
        if (record.outcome != "succeeded" || !record.actual_run_s || !record.ended_at || record.job_type.empty())
            continue;
        const auto measured = measured_at.find(record.unit_type_id.value);
        // Its raw prediction is from before the measurement that it ended after: it speaks of neither.
        const bool is_between = measured != measured_at.end() && record.decided_at < measured->second &&
                                *record.ended_at > measured->second;
        if (is_between) continue;
        // Raw predictions of another basis are off by another error: they are compared with their own.
        residuals.push_back({{record.unit_type_id.value, record.job_type + '\n' + record.raw_basis, record.raw.run_s,
                              *record.actual_run_s},
                             *record.ended_at});
    }
    return residuals;
}

} // namespace

Result<void> DriftWatch::look(pqxx::work& transaction)
{
    if (rule_.least_jobs <= 0) return {};
    Evidence evidence;
    evidence.measured_at = select_last_measured(transaction);
    evidence.residuals = to_residuals(select_ended_predictions(transaction, kMaxResiduals), evidence.measured_at);
    {
        const std::scoped_lock lock(mutex_);
        evidence_ = std::move(evidence);
    }
    wake_.wake();
    return {};
}

void DriftWatch::start(net::TaskGroup& group)
{
    group.keep_running(wake_.executor(), "drift", [this] { return follow(); });
}

asio::awaitable<void> DriftWatch::follow()
{
    for (;;) {
        co_await wake_.wait(kLookAtLeastEvery);
        std::optional<Evidence> evidence = take_evidence();
        if (evidence) co_await judge(std::move(*evidence));
    }
}

std::optional<DriftWatch::Evidence> DriftWatch::take_evidence()
{
    const std::scoped_lock lock(mutex_);
    return std::exchange(evidence_, std::nullopt);
}

asio::awaitable<void> DriftWatch::judge(Evidence evidence)
{
    auto find = [&]() -> Result<std::vector<Drift>> {
        return find_drift(evidence.residuals, evidence.measured_at, rule_.least_jobs, rule_.threshold);
    };
    const Result<std::vector<Drift>> found = co_await compute_->run(std::string(), std::move(find));
    Result<void> asked = found ? Result<void>() : found.error();
    if (found && !found->empty()) {
        auto ask = [&](pqxx::work& transaction) -> Result<void> {
            for (const Drift& drift : *found)
                ask_for_probes(transaction, drift, evidence.measured_at.at(drift.unit_type));
            return {};
        };
        asked = co_await database_->run(std::move(ask));
    }
    if (!asked) log_warning("drift_not_judged", {{"error", describe(asked.error())}}); // the next turn looks anew
}

void DriftWatch::ask_for_probes(pqxx::work& transaction, const Drift& drift, Timestamp measured_at) const
{
    // Nothing where it was measured or asked for meanwhile.
    const std::optional<DriftedUnitType> asked =
        request_drift_probes(transaction, drift.unit_type, measured_at, rule_.pause);
    if (!asked) return;
    const std::string place = asked->center + "/" + asked->name;
    audit(transaction, actor_, "unit_type.drift", drift.unit_type, "",
          {{"unit_type", place}, {"ratio", drift.ratio}, {"jobs", drift.job_count}, {"reason", drift.reason}});
    notify(transaction, "catalog", asked->center_id.value);
    log_after_commit(LogLevel::kWarning, "unit_type_drifted",
                     {{"unit_type", place}, {"unit_type_id", drift.unit_type}, {"reason", drift.reason}});
    after_commit([metrics = metrics_] {
        metrics->count("fathom_unit_type_drifts_total",
                       "Unit types whose jobs went otherwise than predicted, so that they were measured again.");
    });
}

} // namespace fathom::server
