#include "core/decide/route.hpp"

namespace fathom {
namespace {

Json prediction_json(const RunPrediction& prediction)
{
    Json operators = Json::array();
    for (const OperatorPrediction& one : prediction.operators) {
        operators.push_back({{"id", one.operator_id},
                             {"parameters_key", one.parameters_key},
                             {"count", one.count},
                             {"basis", to_string(one.basis)},
                             {"execution_s", one.execution_s},
                             {"total_s", one.total_s},
                             {"low_s", one.low_s},
                             {"high_s", one.high_s},
                             {"probe_run_id", one.probe_run_id.empty() ? Json() : Json(one.probe_run_id)},
                             {"measured_at", one.measured_at ? Json(format_rfc3339(*one.measured_at)) : Json()}});
    }
    return {{"run_s", prediction.run_s},
            {"low_s", prediction.low_s},
            {"high_s", prediction.high_s},
            {"start_up_s", prediction.start_up_s},
            {"unknown_operators", prediction.unknown_operators},
            {"operators", std::move(operators)}};
}

Json candidate_json(const Candidate& candidate)
{
    Json json = {{"unit_type_id", candidate.unit_type_id.value},
                 {"unit_type", candidate.unit_type},
                 {"center_id", candidate.center_id.value},
                 {"center", candidate.center},
                 {"feasible", candidate.feasible},
                 {"reason", candidate.reason},
                 {"unit_count", candidate.unit_count}};
    if (candidate.feasible) {
        json["prediction"] = prediction_json(candidate.prediction);
        json["wait_s"] = candidate.wait_s;
        json["completion_s"] = candidate.completion_s;
    } else {
        json["criterion"] = candidate.criterion;
    }
    return json;
}

} // namespace

Json to_json(const Decision& decision)
{
    Json candidates = Json::array();
    for (const Candidate& candidate : decision.candidates)
        candidates.push_back(candidate_json(candidate));
    return {{"winner", decision.winner ? Json(*decision.winner) : Json()},
            {"can_start_now", decision.can_start_now},
            {"assumptions", decision.assumptions},
            {"candidates", std::move(candidates)}};
}

} // namespace fathom
