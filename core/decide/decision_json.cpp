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

Json scaling_json(const Candidate& candidate)
{
    return {{"single_run_s", candidate.single_run_s},
            {"compute_s", candidate.compute_s},
            {"speedup", candidate.compute_s > 0 ? candidate.single_run_s / candidate.compute_s : 1.0},
            {"knee", candidate.knee},
            {"reason", candidate.count_reason}};
}

Json transfer_json(const StartPlan& plan)
{
    Json window;
    if (plan.window) {
        window = {{"start", format_rfc3339(plan.window->start)},
                  {"rate_now_bytes", plan.window->rate_now_bytes},
                  {"rate_then_bytes", plan.window->rate_then_bytes},
                  {"transfer_now_s", plan.window->transfer_now_s}};
    }
    return {{"in_s", plan.in_s},
            {"out_s", plan.out_s},
            {"rate_bytes", plan.rate_bytes},
            {"basis", to_string(plan.basis)},
            {"window", std::move(window)}};
}

Json counts_json(const std::vector<CountChoice>& counts)
{
    Json list = Json::array();
    for (const CountChoice& one : counts) {
        list.push_back({{"unit_count", one.unit_count},
                        {"wait_s", one.wait_s},
                        {"run_s", one.run_s},
                        {"completion_s", one.completion_s}});
    }
    return list;
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
        json["start_s"] = candidate.plan.start_s;
        json["completion_s"] = candidate.completion_s;
        json["trust_factor"] = candidate.trust_factor;
        json["scaling"] = scaling_json(candidate);
        if (candidate.plan.in_s + candidate.plan.out_s > 0) json["transfer"] = transfer_json(candidate.plan);
        if (!candidate.counts.empty()) json["counts"] = counts_json(candidate.counts);
    } else {
        json["criterion"] = candidate.removed_by ? Json(to_string(*candidate.removed_by)) : Json();
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
