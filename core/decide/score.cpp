#include "core/decide/score.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

std::vector<ScoreStep> parse_steps(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<ScoreStep> steps;
    const Json* items = reader.array("steps", 1, 100);
    if (items == nullptr) return steps;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string field = "steps[" + std::to_string(i) + "]";
        ObjectReader item((*items)[i], reader.path_of(field), errors);
        ScoreStep step{item.optional_number("below", 0, 1e300), item.required_number("points", -1e9, 1e9)};
        item.finish(UnknownFields::kReject);
        const bool last = i + 1 == items->size();
        if (last == step.below.has_value())
            reader.fail(field + ".below",
                        last ? "must be left out in the last step" : "is required in all steps but the last");
        if (!steps.empty() && step.below && steps.back().below && *step.below <= *steps.back().below)
            reader.fail(field + ".below", "must be greater than the one before");
        steps.push_back(step);
    }
    return steps;
}

std::vector<ScoreFigure> parse_figures(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<ScoreFigure> figures;
    const Json* items = reader.array("figures", 1, 16);
    if (items == nullptr) return figures;
    for (std::size_t i = 0; i < items->size(); ++i) {
        ObjectReader item((*items)[i], reader.path_of("figures[" + std::to_string(i) + "]"), errors);
        ScoreFigure figure;
        figure.figure = item.required_string("figure", {.one_of = {"time_s", "error"}});
        figure.weight = item.required_number("weight", 1e-9, 1e9);
        figure.steps = parse_steps(item, errors);
        item.finish(UnknownFields::kReject);
        figures.push_back(std::move(figure));
    }
    return figures;
}

std::vector<MeasuredOperator> parse_reference(ObjectReader& reader, std::vector<FieldError>& errors)
{
    std::vector<MeasuredOperator> reference;
    const Json* items = reader.array("reference", 1, 1000);
    if (items == nullptr) return reference;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string path = reader.path_of("reference[" + std::to_string(i) + "]");
        ObjectReader item((*items)[i], path, errors);
        MeasuredOperator figure;
        figure.operator_id = item.required_string("operator", {.min_length = 1, .max_length = 64});
        if (const Json* parameters = item.object("parameters"))
            figure.parameters_key = parameters_key(parse_parameters(*parameters, path + ".parameters", errors));
        figure.operations = item.required_number("operations", 0, 1e300);
        figure.bytes = item.required_number("bytes", 0, 1e300);
        figure.median_s = item.required_number("median_s", 1e-12, 1e9);
        item.finish(UnknownFields::kReject);
        reference.push_back(std::move(figure));
    }
    return reference;
}

/// `k=512,m=512` back to {"k": 512, "m": 512}.
Json parameters_json(const std::string& key)
{
    Json json = Json::object();
    std::size_t start = 0;
    while (start < key.size()) {
        const std::size_t end = std::min(key.find(',', start), key.size());
        const std::size_t equals = key.find('=', start);
        json[key.substr(start, equals - start)] = std::stoll(key.substr(equals + 1, end - equals - 1));
        start = end + 1;
    }
    return json;
}

double points_of(const ScoreFigure& figure, double value)
{
    for (const ScoreStep& step : figure.steps) {
        if (!step.below || value < *step.below) return step.points;
    }
    return 0;
}

/// 1 within tolerance, 0 from 1000 × tolerance on, straight between on a log scale.
double accuracy_factor(double error, double tolerance)
{
    if (error <= tolerance) return 1;
    if (tolerance <= 0) return 0;
    return std::clamp(1 - std::log10(error / tolerance) / 3, 0.0, 1.0);
}

double work_of(const MeasuredOperator& measured)
{
    return measured.operations > 0 ? measured.operations : measured.bytes;
}

std::optional<double> relative_score(const MetricPolicy& policy, const MeasuredOperator& measurement)
{
    const MeasuredOperator* nearest = nullptr;
    double nearest_distance = 0;
    for (const MeasuredOperator& figure : policy.reference) {
        if (figure.operator_id != measurement.operator_id || work_of(figure) <= 0 || work_of(measurement) <= 0)
            continue;
        const double distance = figure.parameters_key == measurement.parameters_key
                                    ? -1
                                    : std::abs(std::log(work_of(measurement) / work_of(figure)));
        if (nearest == nullptr || distance < nearest_distance) {
            nearest = &figure;
            nearest_distance = distance;
        }
    }
    if (nearest == nullptr) return std::nullopt;
    const double reference_s = nearest->median_s * work_of(measurement) / work_of(*nearest);
    return 1000 * reference_s / measurement.median_s * accuracy_factor(measurement.error, measurement.tolerance);
}

} // namespace

Result<MetricPolicy> parse_metric_policy(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    MetricPolicy policy;
    policy.id = reader.required_string("id", {.min_length = 1, .max_length = 64});
    policy.version = reader.optional_integer("version", 1, 1'000'000).value_or(1);
    policy.description = reader.optional_string("description", {.max_length = 2000}).value_or("");
    const std::string kind = reader.required_string("kind", {.one_of = {"intervals", "relative"}});
    if (kind == "relative") {
        policy.kind = MetricPolicy::Kind::kRelative;
        policy.reference_machine = reader.required_string("reference_machine", {.min_length = 1, .max_length = 500});
        policy.reference = parse_reference(reader, errors);
    } else {
        policy.figures = parse_figures(reader, errors);
    }
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(policy), std::move(errors), "the metric policy");
}

Json to_json(const MetricPolicy& policy)
{
    Json json = {{"id", policy.id}, {"version", policy.version}, {"description", policy.description}};
    if (policy.kind == MetricPolicy::Kind::kRelative) {
        json["kind"] = "relative";
        json["reference_machine"] = policy.reference_machine;
        json["reference"] = Json::array();
        for (const MeasuredOperator& figure : policy.reference) {
            json["reference"].push_back({{"operator", figure.operator_id},
                                         {"parameters", parameters_json(figure.parameters_key)},
                                         {"operations", figure.operations},
                                         {"bytes", figure.bytes},
                                         {"median_s", figure.median_s}});
        }
        return json;
    }
    json["kind"] = "intervals";
    json["figures"] = Json::array();
    for (const ScoreFigure& figure : policy.figures) {
        Json steps = Json::array();
        for (const ScoreStep& step : figure.steps) {
            Json item = {{"points", step.points}};
            if (step.below) item["below"] = *step.below;
            steps.push_back(std::move(item));
        }
        json["figures"].push_back({{"figure", figure.figure}, {"weight", figure.weight}, {"steps", std::move(steps)}});
    }
    return json;
}

std::optional<double> score(const MetricPolicy& policy, const MeasuredOperator& measurement)
{
    if (policy.kind == MetricPolicy::Kind::kRelative) return relative_score(policy, measurement);
    double total = 0;
    for (const ScoreFigure& figure : policy.figures) {
        total += figure.weight * points_of(figure, figure.figure == "error" ? measurement.error : measurement.median_s);
    }
    return total;
}

} // namespace fathom
