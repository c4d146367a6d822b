#include "core/decide/corun/corun_json.hpp"

namespace fathom {
namespace {

Json text_or_null(const std::string& text)
{
    return text.empty() ? Json() : Json(text);
}

Json basis_json(const std::vector<PairBasis>& basis)
{
    Json items = Json::array();
    for (const PairBasis& one : basis)
        items.push_back({{"kernel", one.kernel},
                         {"beside", one.beside},
                         {"normalized_ipc", one.expected.share},
                         {"spread", one.expected.spread},
                         {"count", one.expected.count},
                         {"source", to_string(one.expected.source)}});
    return items;
}

Json predicted_json(const std::vector<PredictedKernel>& predicted)
{
    Json items = Json::array();
    for (const PredictedKernel& one : predicted)
        items.push_back({{"id", one.id},
                         {"instructions", one.instructions.instructions},
                         {"low", one.instructions.low},
                         {"high", one.instructions.high},
                         {"exponent", one.instructions.exponent},
                         {"runs", one.instructions.runs},
                         {"basis", to_string(one.instructions.basis)}});
    return items;
}

} // namespace

Json to_json(const CorunDecision& decision)
{
    const bool is_kept = decision.action == CorunAction::kKeep;
    Json json{{"action", to_string(decision.action)},
              {"launch", is_kept ? Json() : text_or_null(decision.launch)},
              {"victims", is_kept ? Json::array() : Json(decision.victims)},
              {"considered", {{"launch", text_or_null(decision.launch)}, {"victims", Json(decision.victims)}}},
              {"combined_now", decision.combined_now},
              {"combined_then", decision.combined_then},
              {"figures", nullptr},
              {"basis", basis_json(decision.basis)},
              {"reason", decision.reason}};
    if (decision.figures) {
        json["figures"] = {{"before", decision.figures->before},
                           {"after", decision.figures->after},
                           {"preempt_cycles", decision.figures->preempt_cycles},
                           {"rest_cycles", decision.figures->rest_cycles}};
    }
    return json;
}

Json to_json(const CorunDecision& decision, const CorunQuestion& question)
{
    Json json = to_json(decision);
    json["classes"] = Json::array();
    for (const ClassedKernel& kernel : question.classes)
        json["classes"].push_back({{"id", kernel.id},
                                   {"class", to_string(kernel.finding.kernel_class)},
                                   {"source", to_string(kernel.finding.source)},
                                   {"basis", kernel.finding.basis}});
    json["predicted"] = predicted_json(question.predicted);
    json["prediction_errors"] = nullptr;
    if (const std::optional<InstructionErrors>& errors = question.prediction_errors)
        json["prediction_errors"] = {{"runs", errors->runs},
                                     {"median_error", errors->median_error},
                                     {"p90_error", errors->p90_error},
                                     {"in_interval_share", errors->in_interval_share}};
    json["pair_errors"] = nullptr;
    if (const std::optional<HeldOutErrors>& errors = question.pairs.held_out_errors())
        json["pair_errors"] = {
            {"entries", errors->entries}, {"class_average", errors->class_average}, {"completion", errors->completion}};
    return json;
}

} // namespace fathom
