#include "core/model/balance_step.hpp"

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/base/utf8_prefix.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxWordLength = 64;
constexpr std::int64_t kMaxChange = 1'000'000;
constexpr double kMaxOccupancy = 2;
constexpr double kMaxGain = 1e6;

void fit_text(std::string& text)
{
    std::erase(text, '\0');
    text = std::string(utf8_prefix(text, kMaxBalanceReasonLength));
}

Timestamp read_step_time(ObjectReader& reader)
{
    const std::optional<Timestamp> time = reader.optional_time("at");
    if (!time && !reader.has("at")) reader.fail("at", "is required");
    return time.value_or(Timestamp{});
}

/// Of a step that has a sample: then all of them are there.
std::optional<BalanceFigures> read_figures(ObjectReader& reader, std::vector<FieldError>& errors)
{
    if (!reader.has("error")) return std::nullopt;
    BalanceFigures figures;
    figures.transfer = reader.required_number("transfer", 0, kMaxOccupancy);
    figures.load = reader.required_number("load", 0, kMaxOccupancy);
    figures.sample_transfer = reader.required_number("sample_transfer", 0, kMaxOccupancy);
    figures.sample_load = reader.required_number("sample_load", 0, kMaxOccupancy);
    figures.error = reader.required_number("error", -kMaxOccupancy, kMaxOccupancy);
    figures.change = reader.required_number("change", -2 * kMaxOccupancy, 2 * kMaxOccupancy);
    figures.region = reader.required_string("region", {.max_length = kMaxWordLength});
    figures.output = reader.required_number("output", -1, 1);
    const Json* const json = reader.object("gains");
    if (json == nullptr) {
        if (!reader.has("gains")) reader.fail("gains", "is required");
        return figures;
    }
    ObjectReader gains(*json, reader.path_of("gains"), errors);
    figures.proportional = gains.required_number("proportional", -kMaxGain, kMaxGain);
    figures.integral = gains.required_number("integral", -kMaxGain, kMaxGain);
    figures.derivative = gains.required_number("derivative", -kMaxGain, kMaxGain);
    return figures;
}

void read_actions(ObjectReader& reader, std::vector<FieldError>& errors, BalanceStep& step)
{
    const Json* const json = reader.object("actions");
    if (json == nullptr) return;
    ObjectReader actions(*json, reader.path_of("actions"), errors);
    step.sub_units = actions.optional_integer("sub_units", -kMaxChange, kMaxChange).value_or(0);
    step.clock_mhz = actions.optional_integer("clock_mhz", -kMaxChange, kMaxChange).value_or(0);
    step.precision_steps = actions.optional_integer("precision_steps", -kMaxChange, kMaxChange).value_or(0);
}

} // namespace

void fit_bounds(BalanceStep& step)
{
    fit_text(step.reason);
    if (step.faults.size() > kMaxBalanceFaults) step.faults.resize(kMaxBalanceFaults);
    for (std::string& fault : step.faults)
        fit_text(fault);
}

Json to_json(const BalanceStep& step)
{
    const auto figure = [&](double BalanceFigures::* member) {
        return step.figures ? Json((*step.figures).*member) : Json();
    };
    return {{"at", format_rfc3339(step.at)},
            {"unit", step.unit},
            {"attempt", step.attempt},
            {"dry_run", step.is_dry_run},
            {"outcome", step.outcome},
            {"law", step.law},
            {"band", step.band ? Json(*step.band) : Json()},
            {"transfer", figure(&BalanceFigures::transfer)},
            {"load", figure(&BalanceFigures::load)},
            {"sample_transfer", figure(&BalanceFigures::sample_transfer)},
            {"sample_load", figure(&BalanceFigures::sample_load)},
            {"error", figure(&BalanceFigures::error)},
            {"change", figure(&BalanceFigures::change)},
            {"region", step.figures ? Json(step.figures->region) : Json()},
            {"gains",
             {{"proportional", figure(&BalanceFigures::proportional)},
              {"integral", figure(&BalanceFigures::integral)},
              {"derivative", figure(&BalanceFigures::derivative)}}},
            {"output", figure(&BalanceFigures::output)},
            {"actions",
             {{"sub_units", step.sub_units}, {"clock_mhz", step.clock_mhz}, {"precision_steps", step.precision_steps}}},
            {"wanted_sub_units", step.wanted_sub_units ? Json(*step.wanted_sub_units) : Json()},
            {"reason", step.reason},
            {"faults", step.faults}};
}

Json to_json(const BalanceSteps& steps)
{
    Json items = Json::array();
    for (const BalanceStep& step : steps.steps)
        items.push_back(to_json(step));
    return {{"steps", std::move(items)}, {"dropped_count", steps.dropped_count}};
}

BalanceStep read_balance_step(ObjectReader& reader, std::vector<FieldError>& errors)
{
    BalanceStep step;
    step.at = read_step_time(reader);
    step.unit = reader.required_string("unit", {.min_length = 1, .max_length = kMaxBalanceUnitLength});
    step.attempt = reader.optional_string("attempt", {.max_length = kMaxWordLength}).value_or("");
    step.is_dry_run = reader.optional_boolean("dry_run").value_or(false);
    step.outcome = reader.required_string("outcome", {.min_length = 1, .max_length = kMaxWordLength});
    step.law = reader.optional_string("law", {.max_length = kMaxWordLength}).value_or("");
    step.band = reader.optional_number("band", 0, 1);
    step.figures = read_figures(reader, errors);
    read_actions(reader, errors, step);
    step.wanted_sub_units = reader.optional_integer("wanted_sub_units", 0, kMaxChange);
    step.reason = reader.optional_string("reason", {.max_length = kMaxBalanceReasonLength}).value_or("");
    step.faults = reader.strings("faults", kMaxBalanceFaults, {.max_length = kMaxBalanceReasonLength});
    return step;
}

BalanceSteps read_balance_steps(ObjectReader& reader, std::vector<FieldError>& errors)
{
    BalanceSteps steps;
    const Json* const items = reader.array("steps", 1, kMaxBalanceSteps);
    if (items == nullptr) {
        if (!reader.has("steps")) reader.fail("steps", "is required");
        return steps;
    }
    for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string path = "steps[" + std::to_string(i) + "]";
        if (!(*items)[i].is_object()) {
            errors.push_back({path, "must be an object"});
            continue;
        }
        ObjectReader item((*items)[i], path, errors);
        steps.steps.push_back(read_balance_step(item, errors));
    }
    steps.dropped_count = reader.optional_integer("dropped_count", 0, 1LL << 60U).value_or(0);
    return steps;
}

} // namespace fathom
