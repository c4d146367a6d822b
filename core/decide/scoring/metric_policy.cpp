#include "core/decide/scoring/metric_policy.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/result.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/scoring/find_measured.hpp"
#include "core/model/formula.hpp"
#include "core/model/operator_manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr double kLargest = 1e300;
constexpr double kWeightTolerance = 1e-9;
constexpr std::size_t kMaxNames = 256;

using Errors = std::vector<FieldError>;

std::string indexed(std::string_view field, std::size_t index)
{
    return fmt::format("{}[{}]", field, index);
}

double parse_weight(ObjectReader& item)
{
    const double weight = item.required_number("weight", 0, 1e9);
    if (weight == 0 && item.has("weight")) item.fail("weight", "must be greater than 0");
    return weight;
}

/// Reports weights that do not sum to 1.
void check_sum(double sum, const std::string& field, PolicyRules rules, Errors& errors)
{
    if (rules == PolicyRules::kAll && !(std::abs(sum - 1) <= kWeightTolerance))
        errors.push_back({field, fmt::format("the weights must sum to 1; they sum to {:.12g}", sum)});
}

/// Reports how an interval lies beside the one before it, which ends at `end`.
void check_place(const ScoreInterval& interval, double end, std::size_t index, ObjectReader& reader)
{
    const std::string field = indexed("steps", index) + ".from";
    if (interval.from > end)
        reader.fail(field, fmt::format("gap: nothing covers [{}, {})", end, interval.from));
    else if (interval.from < end)
        reader.fail(field, fmt::format("overlap: [{}, {}) is covered twice", interval.from,
                                       std::min(end, interval.below.value_or(end))));
    if (interval.below && *interval.below <= interval.from)
        reader.fail(indexed("steps", index) + ".below",
                    fmt::format("must be greater than {}, where it begins", interval.from));
}

std::vector<ScoreInterval> parse_intervals(ObjectReader& reader, PolicyRules rules, Errors& errors)
{
    std::vector<ScoreInterval> intervals;
    const Json* items = reader.array("steps", 1, 100);
    if (items == nullptr) return intervals;
    double end = 0; // of the one before
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string field = indexed("steps", i);
        ObjectReader item((*items)[i], reader.path_of(field), errors);
        ScoreInterval interval;
        interval.from = item.optional_number("from", 0, kLargest).value_or(end);
        interval.below = item.optional_number("below", 0, kLargest);
        interval.points = item.required_number("points", rules == PolicyRules::kAll ? 0 : -1e9, 1e9);
        item.finish(UnknownFields::kReject);
        const bool is_last = i + 1 == items->size();
        if (rules == PolicyRules::kAll) check_place(interval, end, i, reader);
        if (rules == PolicyRules::kAll && is_last && interval.below)
            reader.fail(
                field + ".below",
                fmt::format("must be left out in the last step: nothing covers [{}, infinity)", *interval.below));
        if (!is_last && !interval.below) reader.fail(field + ".below", "is required in all steps but the last");
        end = interval.below.value_or(kLargest);
        intervals.push_back(interval);
    }
    return intervals;
}

std::vector<ScoreFigure> parse_figures(ObjectReader& reader, PolicyRules rules, Errors& errors)
{
    std::vector<ScoreFigure> figures;
    const Json* items = reader.array("figures", 1, 16);
    if (items == nullptr) return figures;
    double sum = 0;
    std::set<std::string> names;
    for (std::size_t i = 0; i < items->size(); ++i) {
        ObjectReader item((*items)[i], reader.path_of(indexed("figures", i)), errors);
        ScoreFigure figure;
        figure.figure =
            item.required_string("figure", {.one_of = {"time_s", "error", "rate_flops", "rate_bytes", "start_up_s"}});
        if (rules == PolicyRules::kAll && !figure.figure.empty() && !names.insert(figure.figure).second)
            item.fail("figure", "stands in the list twice");
        figure.weight = parse_weight(item);
        figure.intervals = parse_intervals(item, rules, errors);
        item.finish(UnknownFields::kReject);
        sum += figure.weight;
        figures.push_back(std::move(figure));
    }
    check_sum(sum, "figures", rules, errors);
    return figures;
}

std::vector<MeasuredOperator> parse_reference(ObjectReader& reader, PolicyRules rules, Errors& errors)
{
    std::vector<MeasuredOperator> reference;
    const Json* items = reader.array("reference", 1, 1000);
    if (items == nullptr) return reference;
    std::set<std::string> sizes;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string path = reader.path_of(indexed("reference", i));
        ObjectReader item((*items)[i], path, errors);
        MeasuredOperator figure;
        figure.operator_id = item.required_string("operator", {.min_length = 1, .max_length = 64});
        if (const Json* parameters = item.object("parameters"))
            figure.parameters_key = parameters_key(parse_parameters(*parameters, path + ".parameters", errors));
        figure.operations = item.required_number("operations", 0, kLargest);
        figure.bytes = item.required_number("bytes", 0, kLargest);
        figure.median_s = item.required_number("median_s", 1e-12, 1e9);
        item.finish(UnknownFields::kReject);
        if (rules == PolicyRules::kAll && !sizes.insert(figure.operator_id + "/" + figure.parameters_key).second)
            errors.push_back({path, "the operator stands in the list twice at this size"});
        if (rules == PolicyRules::kAll && item.has("operations") && figure.operations <= 0 && figure.bytes <= 0)
            errors.push_back({path, "operations or bytes must be greater than 0"});
        reference.push_back(std::move(figure));
    }
    return reference;
}

std::vector<PolicyPart> parse_parts(ObjectReader& reader, PolicyRules rules, Errors& errors)
{
    std::vector<PolicyPart> parts;
    const Json* items = reader.array("policies", 1, 16);
    if (items == nullptr) return parts;
    double sum = 0;
    for (std::size_t i = 0; i < items->size(); ++i) {
        ObjectReader item((*items)[i], reader.path_of(indexed("policies", i)), errors);
        PolicyPart part;
        const std::string name = item.required_string("policy", {.min_length = 1, .max_length = 80});
        if (const auto reference = parse_policy_reference(name)) {
            part.id = reference->id;
            part.version = reference->version;
        } else if (!name.empty()) {
            item.fail("policy", "must be an id or id@version");
        }
        part.weight = parse_weight(item);
        item.finish(UnknownFields::kReject);
        sum += part.weight;
        parts.push_back(std::move(part));
    }
    check_sum(sum, "policies", rules, errors);
    return parts;
}

/// `{"dgemm": 0.5, …}`, names to weights that sum to 1.
std::map<std::string, double> parse_weights(const Json& json, const std::string& path, PolicyRules rules,
                                            Errors& errors)
{
    std::map<std::string, double> weights;
    if (json.empty() || json.size() > kMaxNames) {
        errors.push_back({path, fmt::format("must hold 1 to {} weights", kMaxNames)});
        return weights;
    }
    ObjectReader reader(json, path, errors);
    double sum = 0;
    for (const auto& [name, value] : json.items()) {
        const double weight = reader.required_number(name, 0, 1e9);
        if (weight == 0 && value.is_number()) reader.fail(name, "must be greater than 0");
        weights[name] = weight;
        sum += weight;
    }
    check_sum(sum, path, rules, errors);
    return weights;
}

AggregateWeights parse_aggregate(ObjectReader& policy, PolicyRules rules, Errors& errors)
{
    AggregateWeights aggregate;
    const Json* json = policy.object("aggregate");
    if (json == nullptr) return aggregate;
    ObjectReader reader(*json, "aggregate", errors);
    if (const Json* categories = reader.object("categories"))
        aggregate.categories = parse_weights(*categories, "aggregate.categories", rules, errors);
    if (const Json* operators = reader.object("operators")) {
        if (operators->size() > kMaxNames)
            reader.fail("operators", fmt::format("must hold at most {} categories", kMaxNames));
        for (const auto& [category, weights] : operators->items()) {
            const std::string path = "aggregate.operators." + category;
            if (weights.is_object())
                aggregate.operators[category] = parse_weights(weights, path, rules, errors);
            else
                errors.push_back({path, "must be an object of weights by operator"});
        }
    }
    reader.finish(UnknownFields::kReject);
    return aggregate;
}

void parse_kind(ObjectReader& reader, PolicyRules rules, MetricPolicy& policy, Errors& errors)
{
    const std::string kind = reader.required_string("kind", {.one_of = {"intervals", "relative", "combined"}});
    if (kind == "intervals") policy.figures = parse_figures(reader, rules, errors);
    if (kind == "relative") {
        policy.kind = MetricPolicy::Kind::kRelative;
        policy.reference_machine = reader.required_string("reference_machine", {.min_length = 1, .max_length = 500});
        policy.reference = parse_reference(reader, rules, errors);
    }
    if (kind == "combined") {
        policy.kind = MetricPolicy::Kind::kCombined;
        policy.parts = parse_parts(reader, rules, errors);
    }
}

Json figures_json(const MetricPolicy& policy)
{
    Json figures = Json::array();
    for (const ScoreFigure& figure : policy.figures) {
        Json steps = Json::array();
        double end = 0;
        for (const ScoreInterval& interval : figure.intervals) {
            Json item = {{"points", interval.points}};
            if (interval.from != end) item["from"] = interval.from;
            if (interval.below) item["below"] = *interval.below;
            end = interval.below.value_or(kLargest);
            steps.push_back(std::move(item));
        }
        figures.push_back({{"figure", figure.figure}, {"weight", figure.weight}, {"steps", std::move(steps)}});
    }
    return figures;
}

Json reference_json(const MetricPolicy& policy)
{
    Json reference = Json::array();
    for (const MeasuredOperator& figure : policy.reference) {
        reference.push_back({{"operator", figure.operator_id},
                             {"parameters", to_json(parameters_of_key(figure.parameters_key))},
                             {"operations", figure.operations},
                             {"bytes", figure.bytes},
                             {"median_s", figure.median_s}});
    }
    return reference;
}

Json parts_json(const MetricPolicy& policy)
{
    Json parts = Json::array();
    for (const PolicyPart& part : policy.parts) {
        const std::string name = part.version == 0 ? part.id : part.id + "@" + std::to_string(part.version);
        parts.push_back({{"policy", name}, {"weight", part.weight}});
    }
    return parts;
}

} // namespace

std::optional<PolicyReference> parse_policy_reference(const std::string& text)
{
    const std::size_t at = std::min(text.find('@'), text.size());
    PolicyReference reference{text.substr(0, at), 0};
    if (reference.id.empty() || reference.id.size() > 64 || reference.id.find('/') != std::string::npos)
        return std::nullopt;
    if (at == text.size()) return reference;
    reference.version = parse_number<std::int64_t>(std::string_view(text).substr(at + 1)).value_or(0);
    if (reference.version < 1) return std::nullopt;
    return reference;
}

std::string policy_name(const MetricPolicy& policy)
{
    return policy.id + "@" + std::to_string(policy.version);
}

Result<MetricPolicy> parse_metric_policy(const Json& json, PolicyRules rules)
{
    Errors errors;
    ObjectReader reader(json, "", errors);
    MetricPolicy policy;
    policy.id = reader.required_string("id", {.min_length = 1, .max_length = 64});
    policy.version = reader.optional_integer("version", 1, 1'000'000'000).value_or(1);
    policy.description = reader.optional_string("description", {.max_length = 2000}).value_or("");
    parse_kind(reader, rules, policy, errors);
    policy.aggregate = parse_aggregate(reader, rules, errors);
    if (policy.id.find_first_of("@/") != std::string::npos) reader.fail("id", "must hold no '@' or '/'");
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(policy), std::move(errors), "the metric policy");
}

Json to_json(const MetricPolicy& policy)
{
    Json json = {{"id", policy.id}, {"version", policy.version}, {"description", policy.description}};
    switch (policy.kind) {
    case MetricPolicy::Kind::kIntervals:
        json["kind"] = "intervals";
        json["figures"] = figures_json(policy);
        break;
    case MetricPolicy::Kind::kRelative:
        json["kind"] = "relative";
        json["reference_machine"] = policy.reference_machine;
        json["reference"] = reference_json(policy);
        break;
    case MetricPolicy::Kind::kCombined:
        json["kind"] = "combined";
        json["policies"] = parts_json(policy);
        break;
    }
    if (!policy.aggregate.operators.empty()) json["aggregate"]["operators"] = policy.aggregate.operators;
    if (!policy.aggregate.categories.empty()) json["aggregate"]["categories"] = policy.aggregate.categories;
    return json;
}

} // namespace fathom
