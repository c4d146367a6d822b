#include "core/model/probe_result.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/model/operator_manifest.hpp"
#include "core/model/probe_task.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr double kMaxDuration = 1e9;
constexpr double kLargest = 1e300;
constexpr std::int64_t kMaxSamples = 10000;
constexpr std::size_t kMaxProjections = 16;
constexpr std::size_t kMaxFigures = 16;
constexpr std::size_t kMaxFigureName = 64;

void read_indices(ObjectReader& reader, const char* field, std::vector<std::int64_t>& indices)
{
    const Json* items = reader.array(field, 0, kMaxSamples);
    if (items == nullptr) return;
    for (const Json& index : *items) {
        if (index.is_number_integer())
            indices.push_back(index.get<std::int64_t>());
        else
            reader.fail(field, "must be whole numbers");
    }
}

void read_disturbed(ObjectReader& reader, OperatorResult& result, std::vector<FieldError>& errors)
{
    const Json* items = reader.array("disturbed", 0, kMaxSamples);
    if (items == nullptr) return;
    for (std::size_t i = 0; i < items->size(); ++i) {
        ObjectReader item((*items)[i], reader.path_of("disturbed[" + std::to_string(i) + "]"), errors);
        DisturbedSample one;
        one.sample = item.required_integer("sample", 0, kMaxSamples - 1);
        one.causes = item.strings("causes", 8, {.min_length = 1, .max_length = 32});
        result.disturbed.push_back(std::move(one));
    }
}

void read_samples(ObjectReader& reader, std::vector<double>& samples_s)
{
    const Json* samples = reader.array("samples_s", 1, kMaxSamples);
    if (samples == nullptr) return;
    for (const Json& sample : *samples) {
        if (sample.is_number() && sample.get<double>() > 0 && sample.get<double>() < kMaxDuration)
            samples_s.push_back(sample.get<double>());
        else
            reader.fail("samples_s", "must be positive numbers");
    }
}

std::map<std::string, double> read_further_figures(ObjectReader& reader)
{
    std::map<std::string, double> figures;
    const Json* items = reader.object("figures");
    if (items == nullptr) return figures;
    if (items->size() > kMaxFigures) reader.fail("figures", "must be at most 16");
    for (const auto& [name, value] : items->items()) {
        if (!value.is_number() || !(std::abs(value.get<double>()) < kLargest) || name.size() > kMaxFigureName) {
            reader.fail("figures", "must be numbers with names of at most 64 bytes");
            return figures;
        }
        figures[name] = value.get<double>();
    }
    return figures;
}

SampledTimes parse_times(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    SampledTimes times;
    read_samples(reader, times.samples_s);
    read_indices(reader, "executions", times.executions);
    times.median_s = reader.required_number("median_s", 1e-12, kMaxDuration);
    times.ci_low_s = reader.required_number("ci_low_s", 0, kMaxDuration);
    times.ci_high_s = reader.required_number("ci_high_s", 0, kMaxDuration);
    return times;
}

struct NamedTimes {
    const char* name;
    SampledTimes* times;
};

/// Two times under two names.
void read_two_times(const Json& json, const std::string& path, const std::array<NamedTimes, 2>& named,
                    std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    for (const auto& [name, times] : named) {
        if (const Json* one = reader.object(name))
            *times = parse_times(*one, reader.path_of(name), errors);
        else
            reader.fail(name, "is required");
    }
}

void read_projection(ObjectReader& reader, OperatorResult& result)
{
    const Json* items = reader.array("projection", 0, kMaxProjections);
    if (items == nullptr) return;
    for (const Json& item : *items) {
        if (item.is_number() && std::abs(item.get<double>()) < kLargest)
            result.projection.push_back(item.get<double>());
        else
            reader.fail("projection", "must be numbers");
    }
}

/// Of one thread, alone, and beside what presses on the memory: each where it was measured.
void read_further_times(ObjectReader& reader, OperatorResult& result, std::vector<FieldError>& errors)
{
    if (const Json* one_thread = reader.object("one_thread"))
        result.one_thread = parse_times(*one_thread, reader.path_of("one_thread"), errors);
    if (const Json* alone = reader.object("alone")) result.alone = parse_times(*alone, reader.path_of("alone"), errors);
    if (const Json* pressure = reader.object("pressure")) {
        result.pressure.emplace();
        read_two_times(
            *pressure, reader.path_of("pressure"),
            {{{"beside_bubbles", &result.pressure->beside_bubbles}, {"reporter", &result.pressure->reporter}}}, errors);
    }
}

OperatorResult parse_operator_result(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    OperatorResult result;
    result.id = reader.required_string("id", {.min_length = 1, .max_length = 64});
    result.version = reader.required_integer("version", 1, 1000000);
    if (const Json* parameters = reader.object("parameters"))
        result.parameters = parse_parameters(*parameters, reader.path_of("parameters"), errors);
    result.count = reader.required_integer("count", 1, 1'000'000'000'000);
    result.label = reader.optional_string("label", {.max_length = 64}).value_or("");
    result.first_s = reader.required_number("first_s", 0, kMaxDuration);
    read_samples(reader, result.samples_s);
    read_indices(reader, "executions", result.executions);
    read_disturbed(reader, result, errors);
    result.is_target_reached = reader.optional_boolean("is_target_reached").value_or(true);
    read_indices(reader, "outliers", result.outliers);
    result.median_s = reader.required_number("median_s", 1e-12, kMaxDuration);
    result.ci_low_s = reader.required_number("ci_low_s", 0, kMaxDuration);
    result.ci_high_s = reader.required_number("ci_high_s", 0, kMaxDuration);
    result.spread = reader.required_number("spread", 0, kMaxDuration);
    result.operations = reader.required_number("operations", 0, kLargest);
    result.bytes = reader.required_number("bytes", 0, kLargest);
    result.error = reader.required_number("error", 0, kLargest);
    result.tolerance = reader.required_number("tolerance", 0, 1);
    result.precision = reader.required_string("precision", {.min_length = 1, .max_length = 16});
    result.library = reader.optional_string("library", {.max_length = 200}).value_or("");
    result.checksum = reader.optional_string("checksum", {.max_length = 128}).value_or("");
    read_projection(reader, result);
    result.figures = read_further_figures(reader);
    read_further_times(reader, result, errors);
    return result;
}

Json times_json(const SampledTimes& times)
{
    return {{"samples_s", times.samples_s},
            {"executions", times.executions},
            {"median_s", times.median_s},
            {"ci_low_s", times.ci_low_s},
            {"ci_high_s", times.ci_high_s}};
}

Json operator_result_json(const OperatorResult& result)
{
    Json disturbed = Json::array();
    for (const DisturbedSample& one : result.disturbed)
        disturbed.push_back({{"sample", one.sample}, {"causes", one.causes}});
    Json json = {{"id", result.id},
                 {"version", result.version},
                 {"parameters", to_json(result.parameters)},
                 {"count", result.count},
                 {"first_s", result.first_s},
                 {"samples_s", result.samples_s},
                 {"executions", result.executions},
                 {"outliers", result.outliers},
                 {"disturbed", std::move(disturbed)},
                 {"is_target_reached", result.is_target_reached},
                 {"median_s", result.median_s},
                 {"ci_low_s", result.ci_low_s},
                 {"ci_high_s", result.ci_high_s},
                 {"spread", result.spread},
                 {"operations", result.operations},
                 {"bytes", result.bytes},
                 {"rate_flops", result.rate_flops()},
                 {"rate_bytes", result.rate_bytes()},
                 {"error", result.error},
                 {"tolerance", result.tolerance},
                 {"precision", result.precision},
                 {"library", result.library},
                 {"checksum", result.checksum}};
    if (!result.projection.empty()) json["projection"] = result.projection;
    if (!result.figures.empty()) json["figures"] = result.figures;
    if (!result.label.empty()) json["label"] = result.label;
    if (!result.cache_verdict.empty()) json["cache_verdict"] = result.cache_verdict;
    if (!result.memory_level.empty()) json["memory_level"] = result.memory_level;
    if (result.one_thread) json["one_thread"] = times_json(*result.one_thread);
    if (result.alone) json["alone"] = times_json(*result.alone);
    if (result.pressure)
        json["pressure"] = {{"beside_bubbles", times_json(result.pressure->beside_bubbles)},
                            {"reporter", times_json(result.pressure->reporter)}};
    return json;
}

/// @param may_have_copies  those of a result have none themselves.
ProbeResult parse_result(const Json& json, const std::string& path, bool may_have_copies,
                         std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    ProbeResult result;
    result.task = reader.required_string("task", {.max_length = 200});
    result.runner_version = reader.optional_string("runner_version", {.max_length = 64}).value_or("");
    result.wall_s = reader.required_number("wall_s", 0, kMaxDuration);
    result.start_up_s = reader.required_number("start_up_s", 0, kMaxDuration);
    result.task_s = reader.required_number("task_s", 0, kLargest);
    result.cores = reader.required_integer("cores", 1, 1000000);
    result.unit_count = reader.required_integer("unit_count", 1, 1000000);
    result.seed = reader.optional_integer("seed", 0, kLargestSeed).value_or(0);
    result.clock_step_s = reader.optional_number("clock_step_s", -kMaxDuration, kMaxDuration).value_or(0);
    if (const Json* items = reader.array("operators", 1, 64)) {
        for (std::size_t i = 0; i < items->size(); ++i)
            result.operators.push_back(parse_operator_result(
                (*items)[i], reader.path_of("operators") + "[" + std::to_string(i) + "]", errors));
    }
    if (const Json* host = reader.object("host")) result.host = *host;
    if (const Json* reporter = reader.object("reporter")) {
        result.reporter.emplace();
        read_two_times(*reporter, reader.path_of("reporter"),
                       {{{"alone", &result.reporter->alone}, {"beside_bubbles", &result.reporter->beside_bubbles}}},
                       errors);
    }
    const Json* const copies =
        may_have_copies ? reader.array("copies", 0, static_cast<std::size_t>(kMaxProbeCopies) - 1) : nullptr;
    for (std::size_t i = 0; copies != nullptr && i < copies->size(); ++i)
        result.copies.push_back(
            parse_result((*copies)[i], reader.path_of("copies") + "[" + std::to_string(i) + "]", false, errors));
    reader.finish(UnknownFields::kIgnore);
    return result;
}

} // namespace

Result<ProbeResult> parse_probe_result(const Json& json)
{
    std::vector<FieldError> errors;
    ProbeResult result = parse_result(json, "", true, errors);
    return value_or_errors(std::move(result), std::move(errors), "the probe result");
}

Json to_json(const ProbeResult& result)
{
    Json operators = Json::array();
    for (const OperatorResult& item : result.operators)
        operators.push_back(operator_result_json(item));
    Json json = {{"task", result.task},
                 {"runner_version", result.runner_version},
                 {"wall_s", result.wall_s},
                 {"start_up_s", result.start_up_s},
                 {"task_s", result.task_s},
                 {"cores", result.cores},
                 {"unit_count", result.unit_count},
                 {"seed", result.seed},
                 {"clock_step_s", result.clock_step_s},
                 {"operators", std::move(operators)},
                 {"host", result.host}};
    if (result.reporter)
        json["reporter"] = {{"alone", times_json(result.reporter->alone)},
                            {"beside_bubbles", times_json(result.reporter->beside_bubbles)}};
    for (const ProbeResult& copy : result.copies)
        json["copies"].push_back(to_json(copy));
    return json;
}

} // namespace fathom
