#include "cli/profile/predict.hpp"

#include "cli/client/input_file.hpp"
#include "cli/profile/program_profile.hpp"
#include "cli/text/format_units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <ostream>

namespace fathom::cli {
namespace {

struct PredictOptions {
    std::string profile;
    std::string reference;
    std::vector<std::string> probes;
    std::string reference_one_core;
    std::vector<std::string> probes_one_core; ///< one for each of `probes`, or none
};

/// A probe's result with its measurements as predictions take them.
struct ReadResult {
    std::string path;
    ProbedUnit unit;
};

/// @param one_core  the file with the same measured by one thread; empty for none.
Result<ReadResult> read_result(const std::string& path, const std::string& one_core, const Console& console)
{
    const Result<Json> json = read_input_file(path, console);
    if (!json) return json.error();
    const Result<ProbeResult> result = parse_probe_result(*json);
    if (!result) return in_file(path, result.error());
    ReadResult read{path, {measured_operators(*result), {}, result->cores}};
    if (one_core.empty()) return read;
    const Result<ReadResult> serial = read_result(one_core, "", console);
    if (!serial) return serial.error();
    if (serial->unit.cores != 1)
        return Error{Errc::kInvalid, one_core + " was measured with " + std::to_string(serial->unit.cores) +
                                         " threads; run fathom-probe with FATHOM_CORES=1"};
    read.unit.one_core = serial->unit.operators;
    return read;
}

Json operator_json(const OperatorPrediction& one)
{
    Json json{{"id", one.operator_id},
              {"parameters", one.parameters_key},
              {"count", one.count},
              {"total_s", one.total_s},
              {"low_s", one.low_s},
              {"high_s", one.high_s},
              {"basis", std::string(to_string(one.basis))}};
    if (!one.remainder.empty()) json["remainder"] = one.remainder;
    return json;
}

Json prediction_json(const ReadResult& there, const RunPrediction& found)
{
    Json operators = Json::array();
    for (const OperatorPrediction& one : found.operators)
        operators.push_back(operator_json(one));
    return {{"probe", there.path},
            {"run_s", found.run_s},
            {"low_s", found.low_s},
            {"high_s", found.high_s},
            {"waiting_s", found.waiting_s},
            {"unmatched_s", found.unmatched_s},
            {"unknown_share", found.unknown_share},
            {"operators", std::move(operators)}};
}

/// What takes most of the time there, with what it took before.
std::string render_parts(const RunPrediction& found, const ProgramProfile& program, Session& session)
{
    constexpr std::size_t kMaxRows = 12;
    Table table({{"OPERATOR"}, {"SIZE"}, {"BEFORE", Align::kRight}, {"THERE", Align::kRight}, {"BASIS"}});
    std::vector<std::size_t> order(found.operators.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const double first = found.operators[a].total_s;
        const double second = found.operators[b].total_s;
        return first != second ? first > second : a < b;
    });
    order.resize(std::min(order.size(), kMaxRows));
    for (const std::size_t i : order) {
        const OperatorPrediction& one = found.operators[i];
        const std::string name =
            one.remainder.empty() ? one.operator_id : fmt::format("{} (remainder: {})", one.operator_id, one.remainder);
        table.add_row({name, one.parameters_key, format_duration(program.operators[i].share * program.wall_s),
                       format_duration(one.total_s), std::string(to_string(one.basis))});
    }
    return table.render(table_style(session));
}

void print_prediction(Session& session, const ReadResult& there, const RunPrediction& found,
                      const ProgramProfile& program)
{
    std::ostream& out = *session.console().out;
    out << fmt::format("{}\nRun time  {}   80 % interval {}   {:.2f} × the profiled run of {}\n", there.path,
                       format_duration(found.run_s), format_interval(found.low_s, found.high_s),
                       found.run_s / program.wall_s, format_duration(program.wall_s));
    out << render_parts(found, program, session);
    if (found.waiting_s > 0.005 * found.run_s)
        out << fmt::format("waiting, the same everywhere: {}\n", format_duration(found.waiting_s));
    if (found.unmatched_s > 0.005 * found.run_s)
        out << fmt::format("without an operator, scaled like the rest: {}\n", format_duration(found.unmatched_s));
    if (found.unknown_share > 0)
        out << fmt::format("{} operators were not measured on both: {} of the run is scaled like the rest\n",
                           found.estimated_operators, format_percent(found.unknown_share));
}

Outcome predict(Session& session, const PredictOptions& options)
{
    const Result<Json> json = read_input_file(options.profile, session.console());
    if (!json) return json.error();
    const Result<ProgramProfile> program = parse_program_profile(*json);
    if (!program) return in_file(options.profile, program.error());
    if (!options.probes_one_core.empty() && options.probes_one_core.size() != options.probes.size())
        return Error{Errc::kInvalid, "--one-core is needed once for each --probe, or not at all"};
    const Result<ReadResult> reference = read_result(options.reference, options.reference_one_core, session.console());
    if (!reference) return reference.error();
    Json items = Json::array();
    for (std::size_t i = 0; i < options.probes.size(); ++i) {
        const std::string one_core = options.probes_one_core.empty() ? "" : options.probes_one_core[i];
        const Result<ReadResult> there = read_result(options.probes[i], one_core, session.console());
        if (!there) return there.error();
        const RunPrediction found = predict_program(*program, reference->unit, there->unit);
        if (session.wants_json())
            items.push_back(prediction_json(*there, found));
        else
            print_prediction(session, *there, found, *program);
    }
    if (session.wants_json()) print_json(session, {{"profiled_s", program->wall_s}, {"items", std::move(items)}});
    return ExitCode::kOk;
}

Outcome print_task(Session& session, const NameOptions& options)
{
    const Result<Json> json = read_input_file(options.name, session.console());
    if (!json) return json.error();
    if (!json->is_object() || !json->contains("probe_task"))
        return Error{Errc::kInvalid, options.name + " has no probe_task: make it with `fathom profile --format json`"};
    const Result<ProbeTask> task = parse_probe_task((*json)["probe_task"]);
    if (!task) return in_file(options.name, task.error());
    print_json(session, to_json(*task));
    return ExitCode::kOk;
}

} // namespace

void add_predict_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "predict", "How long a profiled program would take on other units");
    auto options = std::make_shared<PredictOptions>();
    CLI::App& run =
        add_verb(noun, "run", "Predicts run times from a profile and results of fathom-probe",
                 "fathom profile --format json --output-file p.json -- ./solver\n"
                 "  fathom predict task p.json > task.json\n"
                 "  fathom-probe --task task.json > here.json        # and there.json on the other machine\n"
                 "  fathom predict run --profile p.json --reference here.json --probe there.json");
    run.add_option("--profile", options->profile, "What `fathom profile --format json` wrote")->required();
    run.add_option("--reference", options->reference, "The probe's result on the units that the profile was made on")
        ->required();
    run.add_option("--probe", options->probes, "The same probe task's result on other units; may be repeated")
        ->required();
    run.add_option(
        "--one-core", options->probes_one_core,
        "Where --probe used several cores: the same with FATHOM_CORES=1, for what the program does serially");
    run.add_option("--reference-one-core", options->reference_one_core, "The same for --reference");
    on_chosen(run, invocation, options, predict);

    auto task = std::make_shared<NameOptions>();
    CLI::App& print = add_verb(noun, "task", "Prints the probe task that a prediction needs to be measured",
                               "fathom predict task p.json > task.json");
    add_required(print, "profile", task->name, "What `fathom profile --format json` wrote");
    on_chosen(print, invocation, task, print_task);
}

} // namespace fathom::cli
