#include "core/decide/balance/regulator_settings.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/result.hpp"
#include "core/decide/balance/action_plan.hpp"
#include "core/decide/balance/action_table.hpp"
#include "core/decide/balance/control_law.hpp"
#include "core/decide/balance/fuzzy_gains.hpp"
#include "core/decide/balance/gain_schedule.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace fathom {
namespace {

void read_law(ObjectReader& reader, RegulatorSettings& settings)
{
    if (const auto law = reader.optional_string("law", {.one_of = {"pid", "pi", "pd", "aimd"}}))
        settings.law = parse_control_law(*law).value_or(settings.law);
    LawOptions& options = settings.law_options;
    if (const auto kind = reader.optional_string("anti_windup", {.one_of = {"none", "clamping", "back_calculation"}}))
        options.anti_windup = parse_anti_windup(*kind).value_or(options.anti_windup);
    if (const auto form = reader.optional_string("integral_form", {.one_of = {"sum", "term"}}))
        options.integral = form == "sum" ? IntegralForm::kSum : IntegralForm::kTerm;
    options.derivative_memory =
        reader.optional_number("derivative_memory", 0, 0.99).value_or(options.derivative_memory);
}

FuzzySettings read_fuzzy(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    FuzzySettings fuzzy;
    fuzzy.is_on = reader.optional_boolean("enabled").value_or(fuzzy.is_on);
    fuzzy.error_scale = reader.optional_number("error_scale", 0.01, 1).value_or(fuzzy.error_scale);
    fuzzy.change_scale = reader.optional_number("change_scale", 0.01, 2).value_or(fuzzy.change_scale);
    fuzzy.most.proportional = reader.optional_number("most_proportional", 0, 100).value_or(fuzzy.most.proportional);
    fuzzy.most.integral = reader.optional_number("most_integral", 0, 100).value_or(fuzzy.most.integral);
    fuzzy.most.derivative = reader.optional_number("most_derivative", 0, 100).value_or(fuzzy.most.derivative);
    reader.finish(UnknownFields::kReject);
    return fuzzy;
}

void read_plan(ObjectReader& reader, PlanRules& plan)
{
    if (reader.has("actuators")) {
        plan.actuators.clear();
        for (const std::string& name :
             reader.strings("actuators", 3, {.one_of = {"sub_units", "clock", "precision"}})) {
            const std::optional<ActuatorKind> kind = parse_actuator_kind(name);
            if (!kind) continue; // reported
            if (std::find(plan.actuators.begin(), plan.actuators.end(), *kind) != plan.actuators.end())
                reader.fail("actuators", "names " + name + " twice");
            plan.actuators.push_back(*kind);
        }
    }
    if (const auto use = reader.optional_string("use", {.one_of = {"together", "first"}}))
        plan.use = use == "first" ? ActuatorUse::kFirst : ActuatorUse::kTogether;
    plan.keeps_work = reader.optional_boolean("keeps_work").value_or(plan.keeps_work);
    plan.stops_at_balance = reader.optional_boolean("stops_at_balance").value_or(plan.stops_at_balance);
}

} // namespace

RegulatorSettings read_regulator_settings(ObjectReader& reader, std::vector<FieldError>& errors)
{
    RegulatorSettings settings;
    read_law(reader, settings);
    if (const Json* gains = reader.has("gains") ? reader.object("gains") : nullptr)
        settings.gains = read_gain_schedule(*gains, reader.path_of("gains"), errors);
    if (const Json* fuzzy = reader.has("fuzzy") ? reader.object("fuzzy") : nullptr)
        settings.fuzzy = read_fuzzy(*fuzzy, reader.path_of("fuzzy"), errors);
    settings.band = reader.optional_number("band", 0, 1).value_or(settings.band);
    if (const Json* actions = reader.has("actions") ? reader.any("actions") : nullptr)
        settings.table = read_action_table(*actions, reader.path_of("actions"), errors);
    read_plan(reader, settings.plan);
    settings.averaged_samples =
        reader.optional_integer("averaged_samples", 1, 1000).value_or(settings.averaged_samples);
    settings.confirming_samples = reader.optional_integer("confirming_samples", 1, settings.averaged_samples)
                                      .value_or(std::min(settings.confirming_samples, settings.averaged_samples));
    settings.noise_margin = reader.optional_number("noise_margin", 0, 10).value_or(settings.noise_margin);
    settings.pause_periods = reader.optional_integer("pause_periods", 0, 1000).value_or(settings.pause_periods);
    settings.let_go_reversals =
        reader.optional_integer("let_go_reversals", 1, 1000).value_or(settings.let_go_reversals);
    settings.let_go_periods = reader.optional_integer("let_go_periods", 1, 1'000'000).value_or(settings.let_go_periods);
    settings.most_sample_age_s =
        reader.optional_number("most_sample_age_s", 0.001, 3600).value_or(settings.most_sample_age_s);
    return settings;
}

} // namespace fathom
