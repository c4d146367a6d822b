#include "core/decide/prediction/predict_run.hpp"

namespace fathom {

ReferenceRun KnownRun::reference() const
{
    return {.run_s = run_s,
            .waiting_share = waiting_share,
            .parallelism = parallelism,
            .units = {.operators = measured, .cores = cores, .one_core = one_core}};
}

RunPrediction predict_run(const RunQuestion& question)
{
    const KnownRun* const known = question.known;
    if (known == nullptr) return sum_operators(question.operators, question.there.operators, question.missing);
    const bool is_same_place = !known->unit_type.empty() && known->unit_type == question.missing.unit_type;
    if (is_same_place) return repeat_reference(known->operators, known->reference());
    return predict_from_reference(known->operators, known->reference(), question.there, question.missing);
}

} // namespace fathom
