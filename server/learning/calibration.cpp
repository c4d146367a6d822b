#include "server/learning/calibration.hpp"

#include "server/store/column.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace fathom::server {
namespace {

/// Whoever waits notices no less.
constexpr double kWaitGrain_s = 1;

/// Of the amounts that are compared, in units of the currency.
constexpr double kCostGrain = 0.000001;

bool has_succeeded(const PredictionRecord& record)
{
    return record.outcome == "succeeded" && record.actual_run_s && *record.actual_run_s > 0;
}

/// A cost is as unsure as the run time that it follows from.
PredictedFigure cost_figure(const PredictionRecord& record)
{
    const double run_s = record.run.run_s;
    const double low = run_s > 0 ? record.run.low_s / run_s : 1;
    const double high = run_s > 0 ? record.run.high_s / run_s : 1;
    return {record.cost, record.cost * low, record.cost * high, record.actual_cost.value_or(0)};
}

/// Waits and costs of a group; run times are calibrated together, since they lean on each other.
struct Figures {
    std::vector<PredictedFigure> waits;
    std::vector<PredictedFigure> costs;

    void add(const PredictionRecord& record, const std::string& currency)
    {
        if (record.actual_wait_s)
            waits.push_back({record.wait.wait_s, record.wait.low_s, record.wait.high_s, *record.actual_wait_s});
        if (has_succeeded(record) && record.actual_cost && record.currency == currency && !currency.empty())
            costs.push_back(cost_figure(record));
    }

    PredictionQuality quality(const Calibration& run) const
    {
        return {run, accuracy_of(waits, kWaitGrain_s), accuracy_of(costs, kCostGrain)};
    }
};

Calibration find(const std::map<std::string, Calibration, std::less<>>& calibrations, const std::string& name)
{
    const auto found = calibrations.find(name);
    return found == calibrations.end() ? Calibration() : found->second;
}

Json to_json(const PredictionQuality& quality)
{
    return {{"run", fathom::to_json(quality.run)},
            {"wait", fathom::to_json(quality.wait)},
            {"cost", fathom::to_json(quality.cost)}};
}

} // namespace

PastRun to_past_run(const PredictionRecord& record)
{
    PastRun run;
    run.owner = record.owner;
    run.project = record.project;
    run.job_type = record.job_type;
    run.unit_type = record.unit_type_id.value;
    run.unit_count = record.unit_count;
    run.raw_s = record.raw.run_s;
    run.raw_low_s = record.raw.low_s;
    run.raw_high_s = record.raw.high_s;
    if (record.raw_basis == to_string(RawBasis::kReference)) run.basis = RawBasis::kReference;
    run.predicted_s = record.run.run_s;
    run.low_s = record.run.low_s;
    run.high_s = record.run.high_s;
    run.width_factor = record.width_factor;
    run.actual_s = record.actual_run_s.value_or(0);
    run.ended_at = record.ended_at.value_or(Timestamp());
    run.decided_at = record.decided_at;
    return run;
}

NetworkCalibration calibrate_network(std::span<const PredictionRecord> records, Timestamp now)
{
    NetworkCalibration result;
    const auto priced = std::find_if(records.begin(), records.end(),
                                     [](const PredictionRecord& record) { return !record.currency.empty(); });
    if (priced != records.end()) result.currency = priced->currency;
    std::vector<PastRun> runs;
    Figures all;
    std::map<std::string, Figures> by_unit_type;
    std::map<std::string, Figures> by_job_type;
    std::map<std::string, const PredictionRecord*> places;
    for (const PredictionRecord& record : records) {
        if (has_succeeded(record)) runs.push_back(to_past_run(record));
        all.add(record, result.currency);
        by_unit_type[record.unit_type_id.value].add(record, result.currency);
        by_job_type[record.job_type].add(record, result.currency);
        places.emplace(record.unit_type_id.value, &record);
    }
    const RunCalibrations run = calibrate(runs, now);
    result.all = all.quality(run.all);
    for (const auto& [unit_type, figures] : by_unit_type)
        result.by_unit_type.push_back({*places[unit_type], figures.quality(find(run.by_unit_type, unit_type))});
    std::sort(result.by_unit_type.begin(), result.by_unit_type.end(), [](const auto& left, const auto& right) {
        return std::tie(left.place.center, left.place.unit_type) < std::tie(right.place.center, right.place.unit_type);
    });
    for (const auto& [job_type, figures] : by_job_type)
        result.by_job_type.push_back({job_type, figures.quality(find(run.by_job_type, job_type))});
    for (const Rung rung : {Rung::kRuns, Rung::kReference, Rung::kOperators}) {
        if (run.on(rung).all.job_count > 0) result.by_rung.push_back({rung, run.on(rung).all});
    }
    return result;
}

Json to_json(const NetworkCalibration& calibration)
{
    Json json = to_json(calibration.all);
    json["currency"] = text_or_null(calibration.currency);
    json["by_unit_type"] = Json::array();
    for (const NetworkCalibration::OfUnitType& one : calibration.by_unit_type) {
        Json item = to_json(one.quality);
        item["center_id"] = one.place.center_id.value;
        item["center"] = one.place.center;
        item["unit_type_id"] = one.place.unit_type_id.value;
        item["unit_type"] = one.place.unit_type;
        json["by_unit_type"].push_back(std::move(item));
    }
    json["by_job_type"] = Json::array();
    for (const NetworkCalibration::OfJobType& one : calibration.by_job_type) {
        Json item = to_json(one.quality);
        item["job_type"] = one.job_type;
        json["by_job_type"].push_back(std::move(item));
    }
    json["by_rung"] = Json::array();
    for (const NetworkCalibration::OfRung& one : calibration.by_rung)
        json["by_rung"].push_back({{"rung", to_string(one.rung)}, {"run", fathom::to_json(one.run)}});
    return json;
}

} // namespace fathom::server
