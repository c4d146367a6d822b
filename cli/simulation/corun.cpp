#include "cli/simulation/corun.hpp"

#include "cli/client/input_file.hpp"
#include "cli/simulation/corun_simulate.hpp"
#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"
#include "core/decide/corun/corun_json.hpp"

#include <fmt/format.h>

#include <ostream>

namespace fathom::cli {
namespace {

struct CorunDecideOptions {
    std::string path;
};

std::string corun_step_text(const CorunDecision& decision)
{
    if (decision.action == CorunAction::kKeep) return "keep what runs";
    const std::string victims = printable(fmt::format("{}", fmt::join(decision.victims, ", ")));
    if (decision.action == CorunAction::kLaunch) return "launch " + printable(decision.launch);
    if (decision.launch.empty()) return "pre-empt " + victims;
    return fmt::format("pre-empt {} for {}", victims, printable(decision.launch));
}

std::string corun_basis_table(Session& session, const CorunDecision& decision)
{
    Table table({{"KERNEL"},
                 {"BESIDE"},
                 {"NORMALIZED IPC", Align::kRight},
                 {"SPREAD", Align::kRight},
                 {"RUNS", Align::kRight},
                 {"SOURCE"}});
    for (const PairBasis& basis : decision.basis)
        table.add_row({basis.kernel, basis.beside, fmt::format("{:.3f}", basis.expected.share),
                       fmt::format("{:.3f}", basis.expected.spread), format_count(basis.expected.count),
                       std::string(to_string(basis.expected.source))});
    return table.render(table_style(session));
}

std::string corun_classes_table(Session& session, const CorunQuestion& question)
{
    Table table({{"KERNEL"}, {"CLASS"}, {"SOURCE"}, {"BECAUSE", Align::kLeft, 1, true}});
    for (const ClassedKernel& kernel : question.classes)
        table.add_row({kernel.id, std::string(to_string(kernel.finding.kernel_class)),
                       std::string(to_string(kernel.finding.source)), kernel.finding.basis});
    return table.render(table_style(session));
}

std::string corun_predictions_text(Session& session, const CorunQuestion& question)
{
    if (question.predicted.empty()) return "";
    Table table({{"KERNEL"}, {"INSTRUCTIONS", Align::kRight}, {"80 % INTERVAL"}, {"RUNS", Align::kRight}, {"FROM"}});
    for (const PredictedKernel& kernel : question.predicted)
        table.add_row({kernel.id, fmt::format("{:.3g}", kernel.instructions.instructions),
                       fmt::format("{:.3g} to {:.3g}", kernel.instructions.low, kernel.instructions.high),
                       format_count(kernel.instructions.runs), std::string(to_string(kernel.instructions.basis))});
    std::string text = "\n" + table.render(table_style(session));
    if (const std::optional<InstructionErrors>& errors = question.prediction_errors)
        text +=
            fmt::format("Of {} runs, each predicted from the others, half were off by at most {}, nine of ten by {}; "
                        "{} were in their interval.\n",
                        errors->runs, format_percent(errors->median_error), format_percent(errors->p90_error),
                        format_percent(errors->in_interval_share));
    return text;
}

std::string corun_decision_text(Session& session, const CorunDecision& decision, const CorunQuestion& question)
{
    std::vector<std::pair<std::string, Cell>> details{
        {"Decision", corun_step_text(decision)},
        {"Because", printable(decision.reason)},
        {"Combined",
         fmt::format("{:.4g} normalized IPC now, {:.4g} then", decision.combined_now, decision.combined_then)}};
    if (decision.figures) {
        details.emplace_back("Before", fmt::format("{:.6g} cycles' work without the change", decision.figures->before));
        details.emplace_back("After", fmt::format("{:.6g} with it", decision.figures->after));
        details.emplace_back("Pre-empting", fmt::format("{:.6g} cycles", decision.figures->preempt_cycles));
        details.emplace_back("First end", fmt::format("in {:.6g} cycles", decision.figures->rest_cycles));
    }
    std::string text = render_details(details, table_style(session));
    if (!decision.basis.empty()) text += "\n" + corun_basis_table(session, decision);
    if (const std::optional<HeldOutErrors>& errors = question.pairs.held_out_errors())
        text += fmt::format("Pairs left out were off by {} (class average) and {} (completed), root mean square of {} "
                            "values.\n",
                            format_percent(errors->class_average), format_percent(errors->completion), errors->entries);
    if (!question.classes.empty()) text += "\n" + corun_classes_table(session, question);
    return text + corun_predictions_text(session, question);
}

Outcome corun_decide(Session& session, const CorunDecideOptions& options)
{
    const Result<Json> json = read_input_file(options.path, session.console(), {.max_bytes = 64UL << 20U});
    if (!json) return json.error();
    const Result<CorunQuestion> question = parse_corun_question(*json);
    if (!question) return in_file(options.path, question.error());
    const Result<CorunDecision> decision = decide_corun(question->state, question->pairs);
    if (!decision) return in_file(options.path, decision.error());
    if (session.wants_json())
        print_json(session, to_json(*decision, *question));
    else
        *session.console().out << corun_decision_text(session, *decision, *question);
    return ExitCode::kOk;
}

} // namespace

void add_corun_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "corun", "GPU kernels and jobs together: which, and when pre-empting pays");
    auto options = std::make_shared<CorunDecideOptions>();
    CLI::App& decide = add_verb(noun, "decide", "What would be launched or pre-empted on a GPU in the state of a file",
                                "fathom corun decide gpu.json");
    decide.add_option("state", options->path, "JSON or YAML (docs/corun.md), - for standard input")
        ->required()
        ->type_name("FILE");
    on_chosen(decide, invocation, options, corun_decide);
    add_corun_simulate_command(noun, invocation);
}

} // namespace fathom::cli
