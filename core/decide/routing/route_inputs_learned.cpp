#include "core/decide/routing/route_inputs_learned.hpp"

#include <memory>
#include <utility>

namespace fathom::route_inputs {
namespace {

RunAnswer read_run(const Json& json, const std::string& path, Errors& errors)
{
    constexpr double kMaxFactor = 1e9;
    ObjectReader reader(json, path, errors);
    RunAnswer answer;
    answer.correction.factor = number(reader, "factor");
    answer.correction.deviation = number(reader, "deviation");
    // Missing in decisions from before these were kept.
    answer.correction.raw_share =
        reader.optional_number(reader.name_or_former("raw_share", "promise_share"), 0, 1).value_or(1);
    answer.correction.own_share = reader.optional_number("own_share", 0, 1).value_or(0);
    answer.correction.knows_type = reader.optional_boolean("knows_type").value_or(false);
    answer.correction.known_factor = reader.optional_number("known_factor", 0, kMaxFactor).value_or(1);
    answer.correction.job_count = reader.required_integer("job_count", 0, kMaxUnits);
    answer.correction.like_count = reader.required_integer("like_count", 0, kMaxUnits);
    answer.correction.width_factor = number(reader, "width_factor");
    if (const Json* estimate = reader.object("estimate")) {
        ObjectReader inner(*estimate, reader.path_of("estimate"), errors);
        RunEstimate read;
        read.time = {number(inner, "run_s"), number(inner, "low_s"), number(inner, "high_s")};
        read.basis = text(inner, "basis");
        read.job_count = inner.required_integer("job_count", 0, kMaxUnits);
        inner.finish(UnknownFields::kReject);
        answer.estimate = std::move(read);
    }
    reader.finish(UnknownFields::kReject);
    return answer;
}

WaitModel read_wait(const Json& json, const std::string& path, Errors& errors)
{
    ObjectReader reader(json, path, errors);
    const auto quantiles = [&](std::string_view name) -> WaitQuantiles {
        const Json* row = reader.any(name);
        const auto read = read_row<3>(row == nullptr ? Json() : *row, reader.path_of(name), errors);
        return read ? WaitQuantiles{(*read)[0], (*read)[1], (*read)[2]} : WaitQuantiles{};
    };
    WaitModel model;
    model.extra_s = quantiles("extra_s");
    model.ratio = quantiles("ratio");
    reader.finish(UnknownFields::kReject);
    return model;
}

void read_estimates(ObjectReader& unit_type, const std::string& id, Learned& learned, Errors& errors)
{
    learned.has_estimates = learned.has_estimates || unit_type.has("estimates");
    for_each_item(unit_type, "estimates", kMaxNamedOperators, [&](const Json& item, const std::string& path) {
        ObjectReader reader(item, path, errors);
        EstimatedOperator one;
        one.operator_id = text(reader, "operator_id");
        one.parameters_key = text(reader, "parameters_key");
        one.unit_type = id;
        one.estimate.execution_s = number(reader, "execution_s");
        one.estimate.deviation = number(reader, "deviation");
        one.estimate.like_count = reader.required_integer("like_count", 0, kMaxUnits);
        reader.finish(UnknownFields::kReject);
        learned.estimates.push_back(std::move(one));
    });
}

} // namespace

void read_learned(ObjectReader& unit_type, const LearnedOf& of, Learned& learned, Errors& errors)
{
    if (const Json* run = unit_type.object("run")) {
        RunAnswer answer = read_run(*run, unit_type.path_of("run"), errors);
        answer.job_type = of.job_type;
        answer.unit_type = of.unit_type;
        learned.runs.push_back(std::move(answer));
    }
    if (const Json* wait = unit_type.object("wait"))
        learned.waits[of.unit_type] = read_wait(*wait, unit_type.path_of("wait"), errors);
    read_estimates(unit_type, of.unit_type, learned, errors);
}

RouteKnowledge knowledge_of(Learned learned)
{
    RouteKnowledge knowledge;
    if (!learned.runs.empty()) knowledge.runs = std::make_shared<RunHistory>(RunHistory::from(learned.runs));
    if (!learned.waits.empty())
        knowledge.waits = std::make_shared<WaitHistory>(WaitHistory::from(std::move(learned.waits)));
    if (learned.has_estimates)
        knowledge.estimates = std::make_shared<OperatorEstimates>(OperatorEstimates::from(learned.estimates));
    return knowledge;
}

} // namespace fathom::route_inputs
