#include "server/jobs/operator_outcome_store.hpp"

#include "core/decide/prediction/operator_outcome.hpp"
#include "server/job_types/job_work.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <cmath>

namespace fathom::server {
namespace {

constexpr Statement kInsertOperatorOutcomes{"jobs_insert_operator_outcomes", R"sql(
    INSERT INTO operator_outcome (attempt_id, unit_type_id, operator_id, parameters_key, execution_count, actual_s,
                                  predicted_s, low_s, high_s, basis, similarity)
    SELECT $1::text, $2::text, n.*
    FROM unnest($3::text[], $4::text[], $5::bigint[], $6::float8[], $7::float8[], $8::float8[], $9::float8[],
                $10::text[], $11::float8[]) AS n
    ON CONFLICT DO NOTHING)sql"};

// As the table has them: sums and quotients of what is kept stay figures, whatever one job writes into its profile.
constexpr double kMin_s = 1e-9;
constexpr double kMax_s = 1e15;
constexpr double kMinSimilarity = 1e-9;

bool is_kept(double seconds)
{
    return seconds >= kMin_s && seconds <= kMax_s;
}

bool is_predicted(const OperatorPrediction& predicted)
{
    return predicted.basis != PredictionBasis::kUnknown && is_kept(predicted.total_s);
}

double bounded(double value)
{
    return std::isnan(value) ? 0 : std::clamp(value, 0.0, kMax_s);
}

void insert_outcomes(pqxx::work& transaction, const AttemptId& attempt, const UnitTypeId& unit_type,
                     std::span<const OperatorOutcome> outcomes)
{
    SqlArray operators;
    SqlArray sizes;
    SqlArray counts;
    SqlArray actual;
    SqlArray predicted;
    SqlArray low;
    SqlArray high;
    SqlArray bases;
    SqlArray similarities;
    for (const OperatorOutcome& one : outcomes) {
        const bool is_known = is_predicted(one.predicted);
        operators.add(one.predicted.operator_id);
        sizes.add(one.predicted.parameters_key);
        counts.add(one.predicted.count);
        actual.add(one.actual_s);
        bases.add(to_string(is_known ? one.predicted.basis : PredictionBasis::kUnknown));
        similarities.add(one.similarity < kMinSimilarity ? 0 : std::min(one.similarity, 1.0));
        if (is_known) {
            predicted.add(one.predicted.total_s);
            low.add(bounded(one.predicted.low_s));
            high.add(bounded(one.predicted.high_s));
        } else {
            predicted.add_null();
            low.add_null();
            high.add_null();
        }
    }
    exec(transaction, kInsertOperatorOutcomes, attempt.value, unit_type.value, operators.take(), sizes.take(),
         counts.take(), actual.take(), predicted.take(), low.take(), high.take(), bases.take(), similarities.take());
}

} // namespace

void keep_operator_outcomes(pqxx::work& transaction, const AttemptJob& job, const AttemptEnd& end,
                            const CatalogSnapshot& catalog)
{
    const UnitTypeView* const view = catalog.find_unit_type(job.unit_type_id.value);
    const std::optional<double> run_s = program_run_s(end.profile, end.run_s);
    if (view == nullptr || !run_s) return;
    JobEvidence evidence;
    evidence.id = job.job_id;
    evidence.unit_type_id = job.unit_type_id.value;
    evidence.unit_count = job.unit_count;
    evidence.profile = end.profile;
    const std::optional<KeptRun> run = kept_run(evidence, catalog);
    if (!run) return;
    std::vector<OperatorOutcome> outcomes =
        operator_outcomes(run->operators, profiled_thread_s(end.profile, *run_s),
                          {.operators = view->measured, .cores = view->cores_per_unit, .one_core = view->one_core});
    std::erase_if(outcomes,
                  [](const OperatorOutcome& one) { return one.predicted.count < 1 || !is_kept(one.actual_s); });
    if (!outcomes.empty()) insert_outcomes(transaction, end.attempt_id, job.unit_type_id, outcomes);
}

} // namespace fathom::server
