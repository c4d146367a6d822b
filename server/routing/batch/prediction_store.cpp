#include "server/routing/batch/prediction_store.hpp"

#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom::server {
namespace {

constexpr Statement kInsertPredictions{"routing_insert_predictions", R"sql(
    INSERT INTO prediction (attempt_id, job_id, job_type, unit_type_id, unit_count, raw_prediction_s,
                            raw_prediction_low_s, raw_prediction_high_s, run_s, low_s, high_s, width_factor, free_s,
                            wait_s, wait_low_s, wait_high_s, cost, energy_j, currency, raw_prediction_basis, asked_s,
                            transfers_s, pressure, sensitivity, gpu_slowdown, host_slowdown, submitted_by, project)
    SELECT n.*, j.submitted_by, j.project
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::float8[], $7::float8[], $8::float8[],
                $9::float8[], $10::float8[], $11::float8[], $12::float8[], $13::float8[], $14::float8[], $15::float8[],
                $16::float8[], $17::float8[], $18::float8[], $19::text[], $20::text[], $21::bigint[], $22::float8[],
                $23::float8[], $24::float8[], $25::float8[], $26::float8[])
         AS n (attempt_id, job_id, job_type, unit_type_id, unit_count, raw_prediction_s, raw_prediction_low_s,
               raw_prediction_high_s, run_s, low_s, high_s, width_factor, free_s, wait_s, wait_low_s, wait_high_s, cost,
               energy_j, currency, raw_prediction_basis, asked_s, transfers_s, pressure, sensitivity, gpu_slowdown, host_slowdown)
         JOIN job j ON j.id = n.job_id)sql"};

/// Larger figures are as good as endless; a column must hold none that is not finite.
constexpr double kLargest = 1e15;

double kept(double value)
{
    return std::isnan(value) ? 0 : std::clamp(value, 0.0, kLargest);
}

/// How long its program is predicted to run. The interval stays as wide as the network's rate makes it.
RunTime without_staging(const RunPrediction& held, double staged_s)
{
    const double run_s = std::max(held.run_s - staged_s, 0.0);
    return {run_s, std::max(held.low_s - staged_s, 0.0), std::max(held.high_s - staged_s, run_s)};
}

/// A known run's own error is no error of the unit type that it was carried to.
RunTime raw_of(const Candidate& winner)
{
    const double factor = winner.correction.known_factor;
    return {factor * winner.raw.run_s, factor * winner.raw.low_s, factor * winner.raw.high_s};
}

/// In the order in which the statement has them.
using PredictionFigures = std::array<double, 13>;
PredictionFigures figures_of(const NewPrediction& one)
{
    return {one.raw.run_s,    one.raw.low_s,    one.raw.high_s, one.run.run_s,    one.run.low_s,
            one.run.high_s,   one.width_factor, one.free_s,     one.start.wait_s, one.start.low_s,
            one.start.high_s, one.cost,         one.energy_j};
}

/// Parameters of the statement.
struct PredictionColumns {
    SqlArray attempts;
    SqlArray jobs;
    SqlArray types;
    SqlArray unit_types;
    SqlArray unit_counts;
    SqlArray currencies;
    SqlArray bases;
    SqlArray asked;
    SqlArray transfers;
    SqlArray pressures;
    SqlArray sensitivities;
    SqlArray gpu_slowdowns;
    SqlArray host_slowdowns;
    std::array<SqlArray, std::tuple_size_v<PredictionFigures>> figures;

    void add(const NewPrediction& one)
    {
        attempts.add(one.attempt_id.value);
        jobs.add(one.job_id.value);
        types.add(one.job_type);
        unit_types.add(one.unit_type_id.value);
        unit_counts.add(one.unit_count);
        currencies.add(one.currency);
        bases.add(std::string(to_string(one.basis)));
        asked.add(one.asked_s);
        gpu_slowdowns.add(std::max(kept(one.gpu_slowdown), 1.0));
        host_slowdowns.add(std::max(kept(one.host_slowdown), 1.0));
        transfers.add(kept(one.transfers_s));
        if (one.memory) {
            pressures.add(kept(one.memory->pressure));
            sensitivities.add(kept(one.memory->sensitivity));
        } else {
            pressures.add_null();
            sensitivities.add_null();
        }
        const PredictionFigures values = figures_of(one);
        for (std::size_t i = 0; i < values.size(); ++i)
            figures[i].add(kept(values[i]));
    }
};

} // namespace

NewPrediction make_prediction(const Candidate& winner, const RouteRequest& request, const JobId& job,
                              std::int64_t asked_s, double queued_s, std::string currency)
{
    NewPrediction made;
    made.job_id = job;
    made.job_type = request.job_type;
    made.unit_type_id = winner.unit_type_id;
    made.unit_count = winner.unit_count;
    made.asked_s = asked_s;
    // Where an operator or the network is unknown, the figures are of a part of the job only; and what was estimated
    // from other unit types is none of its measurements.
    const bool is_own = winner.prediction.unknown_operators == 0 && winner.prediction.estimated_operators == 0;
    const bool moves_itself = request.moves_data_itself();
    if (!moves_itself && is_own) made.raw = raw_of(winner);
    const bool is_partial = winner.prediction.unknown_operators > 0 || (moves_itself && winner.plan.is_network_unknown);
    if (!is_partial || !winner.run_basis.empty())
        made.run = without_staging(winner.prediction, moves_itself ? 0 : winner.plan.in_s);
    if (moves_itself && !winner.plan.is_network_unknown) made.transfers_s = winner.plan.in_s + winner.plan.out_s;
    made.basis = winner.prediction.basis;
    made.width_factor = winner.correction.width_factor;
    made.free_s = std::max(winner.wait_s, queued_s); // what starts take beyond that is learned from it
    made.start = winner.start;
    made.cost = winner.cost;
    made.energy_j = winner.energy_j;
    made.currency = std::move(currency);
    made.memory = winner.memory;
    made.host_slowdown = winner.neighbours.factor;
    made.gpu_slowdown = winner.gpu_share.factor;
    return made;
}

void insert_predictions(pqxx::work& transaction, std::span<const NewPrediction> predictions)
{
    if (predictions.empty()) return;
    PredictionColumns rows;
    for (const NewPrediction& one : predictions)
        rows.add(one);
    auto& figures = rows.figures;
    exec(transaction, kInsertPredictions, rows.attempts.take(), rows.jobs.take(), rows.types.take(),
         rows.unit_types.take(), rows.unit_counts.take(), figures[0].take(), figures[1].take(), figures[2].take(),
         figures[3].take(), figures[4].take(), figures[5].take(), figures[6].take(), figures[7].take(),
         figures[8].take(), figures[9].take(), figures[10].take(), figures[11].take(), figures[12].take(),
         rows.currencies.take(), rows.bases.take(), rows.asked.take(), rows.transfers.take(), rows.pressures.take(),
         rows.sensitivities.take(), rows.gpu_slowdowns.take(), rows.host_slowdowns.take());
}

} // namespace fathom::server
