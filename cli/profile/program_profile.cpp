#include "cli/profile/program_profile.hpp"

namespace fathom::cli {
namespace {

constexpr double kLargest = 1e300;
constexpr double kMaxDuration = 1e9;

OperatorDemand parse_demand(const Json& json, const std::string& path, std::vector<FieldError>& errors)
{
    ObjectReader reader(json, path, errors);
    OperatorDemand demand;
    demand.operator_id = reader.required_string("id", {.min_length = 1, .max_length = 64});
    if (const Json* parameters = reader.object("parameters"))
        demand.parameters_key = parameters_key(parse_parameters(*parameters, reader.path_of("parameters"), errors));
    demand.count = reader.required_integer("count", 1, 1'000'000'000'000);
    demand.operations = reader.required_number("operations", 0, kLargest);
    demand.bytes = reader.required_number("bytes", 0, kLargest);
    demand.share = reader.required_number("share", 0, 1);
    demand.is_serial = reader.optional_boolean("serial").value_or(false);
    demand.similarity = reader.optional_number(reader.name_or_former("similarity", "likeness"), 0, 1).value_or(1);
    demand.remainder =
        reader.optional_string("remainder", {.one_of = {"memory", "compute", "latency", "io"}}).value_or("");
    return demand;
}

} // namespace

Result<ProgramProfile> parse_program_profile(const Json& json)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);
    ProgramProfile profile;
    profile.wall_s = reader.required_number("wall_s", 1e-9, kMaxDuration);
    profile.parallelism = reader.optional_number("parallelism", 1, 1e6).value_or(1);
    if (const Json* remainder = reader.object("remainder")) {
        ObjectReader shares(*remainder, "remainder", errors);
        profile.waiting_share = shares.required_number("waiting", 0, 1);
    }
    if (const Json* operators = reader.array("operators", 1, 64)) {
        for (std::size_t i = 0; i < operators->size(); ++i)
            profile.operators.push_back(parse_demand((*operators)[i], "operators[" + std::to_string(i) + "]", errors));
    }
    reader.finish(UnknownFields::kIgnore);
    return value_or_errors(std::move(profile), std::move(errors), "the profile");
}

KnownRun known_run(const ProgramProfile& program, const ProbedUnit& unit)
{
    KnownRun known;
    known.run_s = program.wall_s;
    known.waiting_share = program.waiting_share;
    known.parallelism = program.parallelism;
    known.cores = unit.cores;
    known.operators = program.operators;
    known.measured = unit.operators;
    known.one_core = unit.one_core;
    return known;
}

RunPrediction predict_program(const ProgramProfile& program, const ProbedUnit& reference, const ProbedUnit& there)
{
    const KnownRun known = known_run(program, reference);
    return predict_run({.operators = program.operators, .known = &known, .there = there.units(), .missing = {}});
}

std::vector<MeasuredOperator> measured_operators(const ProbeResult& result)
{
    std::vector<MeasuredOperator> measured;
    for (const OperatorResult& one : result.operators) {
        MeasuredOperator item;
        item.operator_id = one.id;
        item.parameters_key = parameters_key(one.parameters);
        item.operations = one.operations;
        item.bytes = one.bytes;
        item.median_s = one.median_s;
        item.ci_low_s = one.ci_low_s;
        item.ci_high_s = one.ci_high_s;
        item.error = one.error;
        item.tolerance = one.tolerance;
        item.start_up_s = result.start_up_s;
        measured.push_back(std::move(item));
    }
    return measured;
}

} // namespace fathom::cli
