#include "server/probing/results/result_store.hpp"

#include "core/decide/measurement/cache_rule.hpp"
#include "core/decide/statistics/slowdown.hpp"
#include "core/model/operator_place.hpp"
#include "server/probing/results/busy_cores.hpp"

#include <pqxx/pqxx>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace fathom::server {
namespace {

constexpr const char* kStoreResult = R"sql(
    UPDATE probe_run SET state = 'succeeded', ended_at = now(), unit_type_id = $2, center_id = $3, result = $4::jsonb,
        seen_s = $5, unit_count = $6, busy_cores = $7
    WHERE id = $1 AND state = 'queued')sql";

constexpr const char* kInsertMeasurements = R"sql(
    INSERT INTO measurement (probe_run_id, operator_id, operator_version, parameters_key, parameters, unit_type_id,
        unit_count, median_s, ci_low_s, ci_high_s, spread, sample_count, outlier_count, operations, bytes, error,
        tolerance, precision, library, checksum, start_up_s, drawn, disturbed_count, one_thread_median_s,
        one_thread_ci_low_s, one_thread_ci_high_s, cache_verdict)
    SELECT $1, x.operator_id, x.operator_version, x.parameters_key, x.parameters, $2, $3, x.median_s, x.ci_low_s,
           x.ci_high_s, x.spread, x.sample_count, x.outlier_count, x.operations, x.bytes, x.error, x.tolerance,
           x.precision, x.library, x.checksum, $4, x.drawn, x.disturbed_count, x.one_thread_median_s,
           x.one_thread_ci_low_s, x.one_thread_ci_high_s, x.cache_verdict
    FROM jsonb_to_recordset($5::jsonb) AS x(operator_id text, operator_version bigint, parameters_key text,
        parameters jsonb, median_s float8, ci_low_s float8, ci_high_s float8, spread float8, sample_count integer,
        outlier_count integer, operations float8, bytes float8, error float8, tolerance float8, precision text,
        library text, checksum text, drawn jsonb, disturbed_count integer, one_thread_median_s float8,
        one_thread_ci_low_s float8, one_thread_ci_high_s float8, cache_verdict text))sql";

constexpr const char* kInsertCopies = R"sql(
    INSERT INTO copy_measurement (probe_run_id, unit_type_id, copies, copy, operator_id, operator_version, parameters_key,
        median_s, ci_low_s, ci_high_s, alone_s, slowdown, slowdown_deviation, beside_bubbles, reporter_beside,
        reporter_beside_bubbles)
    SELECT $1, $2, $3, x.copy, x.operator_id, x.operator_version, x.parameters_key, x.median_s, x.ci_low_s, x.ci_high_s,
           x.alone_s, x.slowdown, x.slowdown_deviation, x.beside_bubbles, x.reporter_beside, x.reporter_beside_bubbles
    FROM jsonb_to_recordset($4::jsonb) AS x(copy integer, operator_id text, operator_version bigint, parameters_key text,
        median_s float8, ci_low_s float8, ci_high_s float8, alone_s float8, slowdown float8, slowdown_deviation float8,
        beside_bubbles float8, reporter_beside float8, reporter_beside_bubbles float8))sql";

// Written where it says something new only: all runs of a unit type say the same.
constexpr const char* kUpdateCaches = R"sql(
    UPDATE unit_type SET last_level_caches_bytes = $2::bigint
    WHERE id = $1 AND last_level_caches_bytes IS DISTINCT FROM $2::bigint)sql";

/// The operator of the order that a result is for; nullptr when the task as it was sent has no such operator.
const OperatorUse* asked_for(const EndingRun& run, const OperatorResult& item)
{
    for (std::size_t i = 0; i < run.task.operators.size() && i < run.asked.operators.size(); ++i) {
        if (is_same_place(run.task.operators[i], item)) return &run.asked.operators[i];
    }
    return nullptr;
}

/// By which times at the size that was drawn are those at the size that was asked for.
double scale_of(const OperatorResult& item, const Parameters& asked, const OperatorManifest& manifest)
{
    return work_of(manifest, asked) / work_of(manifest, item.parameters);
}

/// @param times  of an operator's result, beside the other copies or alone.
TimedSamples samples_of(const auto& times)
{
    return {times.samples_s, times.median_s};
}

Json measurement_row(const OperatorResult& item, const Parameters& asked, const OperatorManifest& manifest)
{
    // The formulas were checked at some sizes; where they have no value, no rate follows from the time.
    const double operations = formula_value(manifest.operation_count, asked);
    const double bytes = formula_value(manifest.byte_count, asked);
    const double scale = scale_of(item, asked, manifest);
    Json row = {{"operator_id", item.id},
                {"operator_version", item.version},
                {"parameters_key", parameters_key(asked)},
                {"parameters", fathom::to_json(asked)},
                {"median_s", item.median_s * scale},
                {"ci_low_s", item.ci_low_s * scale},
                {"ci_high_s", item.ci_high_s * scale},
                {"spread", item.spread},
                {"sample_count", item.samples_s.size()},
                {"outlier_count", item.outliers.size()},
                {"disturbed_count", item.disturbed.size()},
                {"drawn", asked == item.parameters ? Json() : fathom::to_json(item.parameters)},
                {"operations", operations},
                {"bytes", bytes},
                {"error", item.error},
                {"tolerance", item.tolerance},
                {"precision", item.precision},
                {"library", item.library},
                {"checksum", item.checksum},
                {"cache_verdict", item.cache_verdict}};
    if (item.one_thread) {
        row["one_thread_median_s"] = item.one_thread->median_s * scale;
        row["one_thread_ci_low_s"] = item.one_thread->ci_low_s * scale;
        row["one_thread_ci_high_s"] = item.one_thread->ci_high_s * scale;
    }
    return row;
}

/// A result with what was asked for.
struct MeasuredItem {
    const OperatorResult* item;
    const OperatorUse* asked;
    const OperatorManifest* manifest;

    double scale() const { return scale_of(*item, asked->parameters, *manifest); }
    Json row() const { return measurement_row(*item, asked->parameters, *manifest); }
};

std::vector<MeasuredItem> measured_items(const EndingRun& run, const ProbeResult& result,
                                         const OperatorLibrary& library)
{
    std::vector<MeasuredItem> items;
    std::set<std::string> seen;
    for (const OperatorResult& item : result.operators) {
        const OperatorUse* const asked = asked_for(run, item);
        const OperatorManifest* const manifest = library.manifest(item.id, item.version);
        if (asked == nullptr || manifest == nullptr) continue; // read_probe_result has refused such results
        // The same operator at the same size twice in one task (M5) is measured by its first place there.
        if (!seen.insert(operator_key(item.id, asked->parameters) + "@" + std::to_string(item.version)).second)
            continue;
        items.push_back({&item, asked, manifest});
    }
    return items;
}

Json measurement_rows(const EndingRun& run, const ProbeResult& result, const OperatorLibrary& library)
{
    Json rows = Json::array();
    for (const MeasuredItem& one : measured_items(run, result, library))
        rows.push_back(one.row());
    return rows;
}

/// What the first of several copies told in turn with bubbles; no columns where it told nothing.
Json pressure_columns(const ProbeResult& result, const OperatorResult& item)
{
    Json columns = Json::object();
    if (!item.alone || !item.pressure || !result.reporter) return columns;
    // What the host does by itself comes as often while its processors are busy with bubbles as while they are with
    // copies. The few samples of a turn have other bursts by chance, which is no difference between the two.
    const double bursts =
        slowdown_of(samples_of(item), samples_of(*item.alone)).ratio / (item.median_s / item.alone->median_s);
    columns["beside_bubbles"] = bursts * item.pressure->beside_bubbles.median_s / item.alone->median_s;
    columns["reporter_beside"] = item.pressure->reporter.median_s / result.reporter->alone.median_s;
    columns["reporter_beside_bubbles"] = result.reporter->beside_bubbles.median_s / result.reporter->alone.median_s;
    return columns;
}

/// Those of each copy, over what the first took alone.
Json copy_rows(const EndingRun& run, const ProbeResult& result, const OperatorLibrary& library)
{
    std::map<std::pair<std::string, std::string>, MeasuredItem> first; // by operator and the size that was asked for
    for (const MeasuredItem& one : measured_items(run, result, library)) {
        if (one.item->alone) first.emplace(std::pair(one.item->id, parameters_key(one.asked->parameters)), one);
    }
    Json rows = Json::array();
    std::int64_t number = 0;
    const auto add = [&](const ProbeResult& copy) {
        ++number;
        for (const MeasuredItem& one : measured_items(run, copy, library)) {
            const auto found = first.find({one.item->id, parameters_key(one.asked->parameters)});
            if (found == first.end()) continue; // check_copies() has refused such results
            const OperatorResult& of_first = *found->second.item;
            const Slowdown slowdown = slowdown_of(samples_of(*one.item), samples_of(*of_first.alone));
            Json row = one.row();
            row["copy"] = number;
            row["alone_s"] = of_first.alone->median_s * found->second.scale();
            row["slowdown"] = slowdown.ratio;
            row["slowdown_deviation"] = slowdown.deviation;
            if (number == 1) row.update(pressure_columns(result, of_first));
            rows.push_back(std::move(row));
        }
    };
    add(result);
    for (const ProbeResult& copy : result.copies)
        add(copy);
    return rows;
}

} // namespace

void store_result(pqxx::transaction_base& transaction, const EndingRun& run, const ProbeResult& result,
                  std::optional<double> seen_s, const OperatorLibrary& library)
{
    const auto text_of = [](const std::optional<double>& figure) {
        return figure ? std::optional(pqxx::to_string(*figure)) : std::nullopt;
    };
    const std::optional<std::string> seen = text_of(seen_s);
    const std::optional<std::string> busy = text_of(select_busy_cores(transaction, run.job_id));
    transaction.exec_params(kStoreResult, run.id.value, run.unit_type_id.value, run.center_id.value,
                            to_json(result).dump(), seen ? seen->c_str() : nullptr, run.unit_count,
                            busy ? busy->c_str() : nullptr);
    if (run.mode == ScalingMode::kThroughput) {
        transaction.exec_params0(kInsertCopies, run.id.value, run.unit_type_id.value, run.unit_count,
                                 copy_rows(run, result, library).dump());
        return;
    }
    transaction.exec_params(kInsertMeasurements, run.id.value, run.unit_type_id.value, run.unit_count,
                            result.start_up_s, measurement_rows(run, result, library).dump());
    const std::optional<std::int64_t> caches_bytes = measured_caches(result);
    if (caches_bytes && run.unit_count == 1)
        transaction.exec_params0(kUpdateCaches, run.unit_type_id.value, *caches_bytes);
}

} // namespace fathom::server
