#include "core/decide/routing/decision_json.hpp"

#include "core/model/money.hpp"

#include <cmath>
#include <span>
#include <utility>

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

Json cost_json(double cost, std::string_view currency)
{
    return to_json(Money{to_micros(cost), std::string(currency)});
}

Json transfer_json(const StartPlan& plan, std::string_view currency)
{
    Json window;
    if (plan.window) {
        window = {{"start", format_rfc3339(plan.window->start)},
                  {"rate_now_bytes", plan.window->rate_now_bytes},
                  {"rate_then_bytes", plan.window->rate_then_bytes},
                  {"transfer_now_s", plan.window->transfer_now_s}};
        if (plan.window->is_for_price && !currency.empty()) {
            window["cost_now"] = cost_json(plan.window->cost_now, currency);
            window["cost_then"] = cost_json(plan.window->cost_then, currency);
        }
    }
    return {{"in_s", plan.in_s},
            {"out_s", plan.out_s},
            {"rate_bytes", plan.rate_bytes},
            {"basis", to_string(plan.basis)},
            {"window", std::move(window)}};
}

Json counts_json(const std::vector<CountChoice>& counts, std::string_view currency)
{
    Json list = Json::array();
    for (const CountChoice& one : counts) {
        Json json = {{"unit_count", one.unit_count},
                     {"wait_s", one.wait_s},
                     {"run_s", one.run_s},
                     {"completion_s", one.completion_s},
                     {"objective", one.objective}};
        if (!currency.empty()) json["cost"] = cost_json(one.cost, currency);
        list.push_back(std::move(json));
    }
    return list;
}

/// What measurements alone let expect, and what history made of it; null where there is no raw prediction.
Json correction_json(const Candidate& candidate)
{
    if (candidate.raw.run_s <= 0) return nullptr;
    return {{"raw_prediction_s", candidate.raw.run_s},       {"raw_prediction_low_s", candidate.raw.low_s},
            {"raw_prediction_high_s", candidate.raw.high_s}, {"factor", candidate.correction.factor},
            {"deviation", candidate.correction.deviation},   {"job_count", candidate.correction.job_count},
            {"like_count", candidate.correction.like_count}};
}

Json rungs_json(const std::vector<PredictionRung>& rungs)
{
    Json list = Json::array();
    for (const PredictionRung& one : rungs)
        list.push_back({{"rung", one.rung}, {"weight", one.weight}, {"text", one.text}});
    return list;
}

/// Of a place that only its end or its cost rules out these say by how much.
void add_plan(const Candidate& candidate, std::string_view currency, Json& json)
{
    json["wait_s"] = candidate.wait_s;
    json["start_s"] = candidate.plan.start_s;
    json["completion_s"] = candidate.completion_s;
    if (!currency.empty()) json["cost"] = cost_json(candidate.cost, currency);
    if (candidate.energy_j > 0) json["energy_j"] = candidate.energy_j;
}

Json neighbours_json(const NeighbourCost& cost)
{
    return {{"busy_cores", cost.busy_cores},
            {"factor", cost.factor},
            {"pressure", cost.pressure},
            {"slowed_unit_s", cost.slowed_unit_s}};
}

Json gpu_share_json(const GpuShareCost& cost)
{
    return {{"share", cost.share},           {"spread", cost.spread},
            {"neighbours", cost.neighbours}, {"basis", to_string(cost.basis)},
            {"factor", cost.factor},         {"penalty_s", cost.penalty_s}};
}

Json gpu_room_json(const GpuRoomCost& cost)
{
    return {{"persistent_bytes", cost.had.persistent_bytes},
            {"temporary_bytes", cost.had.temporary_bytes},
            {"missing_bytes", cost.missing_bytes},
            {"penalty_s", cost.penalty_s}};
}

void add_choice(const Candidate& candidate, std::string_view currency, Json& json)
{
    json["prediction"] = prediction_json(candidate.prediction);
    json["correction"] = correction_json(candidate);
    if (!candidate.rungs.empty()) json["rungs"] = rungs_json(candidate.rungs);
    if (!candidate.run_basis.empty()) json["run_basis"] = candidate.run_basis;
    if (candidate.neighbours.is_known) json["neighbours"] = neighbours_json(candidate.neighbours);
    if (candidate.gpu_share.is_known) json["gpu_share"] = gpu_share_json(candidate.gpu_share);
    if (candidate.gpu_room.missing_bytes > 0) json["gpu_room"] = gpu_room_json(candidate.gpu_room);
    json["expected_start"] = {
        {"wait_s", candidate.start.wait_s}, {"low_s", candidate.start.low_s}, {"high_s", candidate.start.high_s}};
    if (candidate.closed_until_s > 0) json["closed_until_s"] = candidate.closed_until_s;
    json["objective"] = candidate.objective;
    json["trust_factor"] = candidate.trust_factor;
    json["scaling"] = scaling_json(candidate);
    if (candidate.plan.in_s + candidate.plan.out_s > 0 || candidate.plan.window)
        json["transfer"] = transfer_json(candidate.plan, currency);
    if (!candidate.counts.empty()) json["counts"] = counts_json(candidate.counts, currency);
}

Json candidate_json(const Candidate& candidate, std::string_view currency)
{
    Json json = {{"unit_type_id", candidate.unit_type_id.value},
                 {"unit_type", candidate.unit_type},
                 {"center_id", candidate.center_id.value},
                 {"center", candidate.center},
                 {"feasible", candidate.feasible},
                 {"reason", candidate.reason},
                 {"unit_count", candidate.unit_count}};
    const bool has_plan = candidate.feasible || candidate.removed_by == Filter::kDeadline ||
                          candidate.removed_by == Filter::kBudget || candidate.removed_by == Filter::kSpeedup;
    if (has_plan && std::isfinite(candidate.completion_s)) add_plan(candidate, currency, json);
    if (candidate.feasible)
        add_choice(candidate, currency, json);
    else
        json["removed_by"] = candidate.removed_by ? Json(to_string(*candidate.removed_by)) : Json();
    return json;
}

Json devices_json(const std::vector<DeviceChoice>& devices)
{
    Json list = Json::array();
    for (const DeviceChoice& one : devices)
        list.push_back(to_json(one));
    return list;
}

struct FormerName {
    const char* former;
    const char* name;
};

void rename_members(Json& json, std::span<const FormerName> names)
{
    if (!json.is_object()) return;
    for (const FormerName& one : names) {
        const auto found = json.find(one.former);
        if (found == json.end()) continue;
        Json value = std::move(*found);
        json.erase(found);
        json[one.name] = std::move(value);
    }
}

} // namespace

Json to_json(const std::vector<Counterfactual>& counterfactuals)
{
    Json list = Json::array();
    for (const Counterfactual& one : counterfactuals) {
        list.push_back({{"kind", one.kind},
                        {"center", one.center},
                        {"unit_type", one.unit_type},
                        {"needed", one.needed},
                        {"text", one.text}});
    }
    return list;
}

Json to_json(const Decision& decision, std::string_view currency)
{
    Json candidates = Json::array();
    for (const Candidate& candidate : decision.candidates)
        candidates.push_back(candidate_json(candidate, currency));
    return {{"winner", decision.winner ? Json(*decision.winner) : Json()},
            {"can_start_now", decision.can_start_now},
            {"quota_obstacle", decision.quota_obstacle.empty() ? Json() : Json(decision.quota_obstacle)},
            {"rank_text", decision.rank_text.empty() ? Json() : Json(decision.rank_text)},
            {"assumptions", decision.assumptions},
            {"candidates", std::move(candidates)},
            {"filter_trace", to_json(decision.filter_trace)},
            {"counterfactuals", to_json(decision.counterfactuals)},
            {"devices", devices_json(decision.devices)}};
}

Json with_current_names(Json decision)
{
    constexpr FormerName kOfCorrection[] = {{"promised_s", "raw_prediction_s"},
                                            {"promised_low_s", "raw_prediction_low_s"},
                                            {"promised_high_s", "raw_prediction_high_s"}};
    constexpr FormerName kOfDecision[] = {{"turn", "rank_text"}};
    if (!decision.is_object()) return decision;
    rename_members(decision, kOfDecision);
    const auto candidates = decision.find("candidates");
    if (candidates == decision.end() || !candidates->is_array()) return decision;
    for (Json& candidate : *candidates) {
        if (candidate.is_object() && candidate.contains("correction"))
            rename_members(candidate["correction"], kOfCorrection);
    }
    return decision;
}

} // namespace fathom
