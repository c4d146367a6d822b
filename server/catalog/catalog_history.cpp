#include "server/catalog/catalog_history.hpp"

#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <functional>
#include <vector>

namespace fathom::server {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr int kShare = 20;

// Tells whether there is anything new without reading it, by two short looks into indices. Of the newest runs some,
// since the last to end need not be the last to be committed.
constexpr Statement kSelectNewest{"routing_select_newest_run", R"sql(
    SELECT concat((SELECT string_agg(concat(job_id, ended_at), ' ' ORDER BY ended_at, job_id)
                   FROM (SELECT job_id, ended_at FROM prediction WHERE ended_at IS NOT NULL
                         ORDER BY ended_at DESC LIMIT 32) newest), ' ',
                  (SELECT max(drift_requested_at) FROM unit_type)))sql"};

// What was ended at the limit that its submitter had asked for teaches how much is asked for, and nothing else.
// A unit type that was measured again because its jobs went otherwise makes other raw predictions now: how far the old
// ones were off would correct it a second time. Its waits still hold. Whoever moves data itself is predicted for both,
// so its transfers are taken out of both; should they have been faster than predicted, a tenth of the time is the
// program's all the same.
constexpr Statement kSelectRuns{"routing_select_past_runs", R"sql(
    SELECT p.submitted_by, p.project, p.job_type, p.unit_type_id, p.unit_count, p.raw_prediction_s, p.raw_prediction_low_s, p.raw_prediction_high_s, p.raw_prediction_basis, p.host_slowdown * p.gpu_slowdown AS slowdown,
           greatest(p.run_s - p.transfers_s, 0) AS run_s, greatest(p.low_s - p.transfers_s, 0) AS low_s,
           greatest(p.high_s - p.transfers_s, 0) AS high_s, p.width_factor, p.free_s,
           greatest(p.actual_run_s - p.transfers_s, p.actual_run_s / 10) AS actual_run_s, p.actual_wait_s, p.ended_at, p.decided_at, p.asked_s, p.outcome = 'wall_limit' AS is_cut_off, now() AS read_at,
           (p.outcome = 'succeeded' OR (p.outcome = 'wall_limit' AND p.asked_s > 0)) AND p.job_type <> ''
               AND (u.drift_requested_at IS NULL OR p.decided_at > u.drift_requested_at) AS teaches
    FROM prediction p JOIN unit_type u ON u.id = p.unit_type_id
    WHERE p.ended_at > now() - interval '90 days'
    ORDER BY p.ended_at DESC LIMIT 20000)sql"};

PastRun to_past_run(const pqxx::row& row)
{
    const auto number = [&](const char* name) { return row[name].as<double>(); };
    return {.owner = row["submitted_by"].as<std::string>(),
            .project = row["project"].as<std::string>(),
            .job_type = row["job_type"].as<std::string>(),
            .unit_type = row["unit_type_id"].as<std::string>(),
            .unit_count = row["unit_count"].as<std::int64_t>(),
            .raw_s = number("raw_prediction_s"),
            .raw_low_s = number("raw_prediction_low_s"),
            .raw_high_s = number("raw_prediction_high_s"),
            .basis = row["raw_prediction_basis"].as<std::string>() == to_string(RawBasis::kReference)
                         ? RawBasis::kReference
                         : RawBasis::kOperators,
            .slowdown = number("slowdown"),
            .predicted_s = number("run_s"),
            .low_s = number("low_s"),
            .high_s = number("high_s"),
            .width_factor = number("width_factor"),
            .actual_s = number("actual_run_s"),
            .ended_at = to_timestamp(row["ended_at"]),
            .decided_at = to_timestamp(row["decided_at"]),
            .asked_s = number("asked_s"),
            .is_cut_off = row["is_cut_off"].as<bool>()};
}

/// Of all that estimates are made of. A new measurement has a new probe run; the median changes also where an older one
/// that counts together with it is found to be false.
std::uint64_t fingerprint(const CatalogSnapshot& catalog)
{
    const std::hash<std::string> hash;
    std::uint64_t sum = catalog.unit_types.size();
    const auto add = [&](const std::string& text) { sum = (sum ^ hash(text)) * 0x9e3779b97f4a7c15U; };
    for (const UnitTypeView& view : catalog.unit_types) {
        add(view.id.value);
        for (const MeasuredOperator& measured : view.measured) {
            add(measured.probe_run_id);
            add(measured.operator_id);
            add(measured.parameters_key);
            sum = (sum ^ std::hash<double>{}(measured.median_s)) * 0x9e3779b97f4a7c15U;
        }
    }
    return sum;
}

SteadyTime due_after(SteadyTime began)
{
    const SteadyTime ended = std::chrono::steady_clock::now();
    return ended + kShare * (ended - began);
}

} // namespace

RouteKnowledge CatalogHistory::read(pqxx::work& transaction, const CatalogSnapshot& catalog,
                                    const RouteKnowledge& previous)
{
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return previous;
    const SteadyTime now = std::chrono::steady_clock::now();
    if (now >= runs_due_.load()) read_runs(transaction);
    const SteadyTime then = std::chrono::steady_clock::now();
    if (then >= estimates_due_) {
        compare_unit_types(catalog);
        estimates_due_ = due_after(then);
    }
    return known_;
}

void CatalogHistory::read_runs_only(pqxx::work& transaction)
{
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && std::chrono::steady_clock::now() >= runs_due_.load()) read_runs(transaction);
}

RouteKnowledge CatalogHistory::newest_runs() const
{
    const std::scoped_lock lock(runs_mutex_);
    return newest_runs_;
}

void CatalogHistory::read_runs(pqxx::work& transaction)
{
    auto newest = exec(transaction, kSelectNewest).front()[0].as<std::string>();
    if (newest == newest_) return;
    const SteadyTime began = std::chrono::steady_clock::now();
    std::vector<PastRun> runs;
    std::vector<PastWait> waits;
    Timestamp now{};
    for (const pqxx::row& row : exec(transaction, kSelectRuns)) {
        now = to_timestamp(row["read_at"]);
        if (!row["actual_wait_s"].is_null())
            waits.push_back(
                {row["unit_type_id"].as<std::string>(), row["free_s"].as<double>(), row["actual_wait_s"].as<double>()});
        if (row["teaches"].as<bool>() && !row["actual_run_s"].is_null()) runs.push_back(to_past_run(row));
    }
    // Also of no runs: how far raw predictions usually are off is known before the first.
    known_.runs = std::make_shared<const RunHistory>(runs, now);
    known_.waits = waits.empty() ? nullptr : std::make_shared<const WaitHistory>(waits);
    newest_ = std::move(newest);
    runs_due_ = due_after(began);
    const std::scoped_lock lock(runs_mutex_);
    newest_runs_ = {.runs = known_.runs, .waits = known_.waits, .estimates = nullptr};
}

void CatalogHistory::compare_unit_types(const CatalogSnapshot& catalog)
{
    const std::uint64_t measurements = fingerprint(catalog);
    if (known_.estimates && measurements == measurements_) return;
    std::vector<MeasuredUnitType> unit_types;
    for (const UnitTypeView& view : catalog.unit_types) {
        if (!view.measured.empty()) unit_types.push_back({view.id.value, view.measured});
    }
    known_.estimates = std::make_shared<const OperatorEstimates>(unit_types);
    measurements_ = measurements;
}

} // namespace fathom::server
