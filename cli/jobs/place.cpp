#include "cli/jobs/place.hpp"

#include "cli/client/input_file.hpp"
#include "cli/client/json_view.hpp"
#include "cli/jobs/explain.hpp"
#include "cli/jobs/job_request.hpp"
#include "cli/text/choice_argument.hpp"
#include "cli/text/display_text.hpp"
#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/replay.hpp"
#include "core/model/money.hpp"

#include <ostream>

namespace fathom::cli {
namespace {

struct PlaceOptions {
    std::string file;
    std::string steps; ///< file; empty: the job is not to be divided
    bool what_if = false;
    // Changes of the job.
    std::string deadline;
    std::string count;
    std::string prefer;
    std::string budget;
    // Changes of the network.
    std::vector<std::string> prices; ///< CENTER/UNIT=AMOUNT
    std::vector<std::string> without;
    std::vector<std::string> only;
    std::vector<std::string> free;
    std::string at;

    bool changes_network() const
    {
        return !prices.empty() || !without.empty() || !only.empty() || !free.empty() || !at.empty();
    }
    bool changes_job() const { return !deadline.empty() || !count.empty() || !prefer.empty() || !budget.empty(); }
};

/// The job with the changes that the options ask for; the server says what is wrong with them.
Result<Json> changed_job(Json job, const PlaceOptions& options)
{
    if (!options.deadline.empty()) job["deadline"] = options.deadline;
    if (!options.prefer.empty()) job["prefer"] = preference_of_argument(options.prefer);
    if (!options.count.empty()) {
        const Result<Json> count = parse_json(options.count);
        job["units"]["count"] = count && count->is_number_integer() ? *count : Json(options.count);
        // Limits of "auto" say nothing of a count of one's own.
        job["units"].erase("min");
        job["units"].erase("max");
    }
    if (!options.budget.empty()) {
        const Result<Json> budget = parse_budget_argument(options.budget);
        if (!budget) return budget;
        job["budget"] = *budget;
    }
    if (const Result<JobSpec> spec = parse_job_spec(job); !spec) return spec.error();
    return job;
}

Result<Json> what_if_of(const PlaceOptions& options)
{
    Json what_if = Json::object();
    for (const std::string& price : options.prices) {
        const std::size_t slash = price.find('/');
        const std::size_t equals = price.rfind('=');
        if (slash == std::string::npos || equals == std::string::npos || equals < slash)
            return Error{Errc::kInvalid,
                         "--price \"" + price + "\" must be CENTER/UNIT=AMOUNT, such as beta/core=0.10"};
        what_if["prices"].push_back({{"center", price.substr(0, slash)},
                                     {"unit_type", price.substr(slash + 1, equals - slash - 1)},
                                     {"per_unit_hour", price.substr(equals + 1)}});
    }
    if (!options.without.empty()) what_if["exclude_centers"] = options.without;
    if (!options.only.empty()) what_if["only_centers"] = options.only;
    if (!options.free.empty()) what_if["free_centers"] = options.free;
    if (!options.at.empty()) what_if["now"] = options.at;
    return what_if;
}

/// The decision on the job as the file has it; null when it is refused, which a change may mend.
Result<Json> decision_as_it_is(Session& session, const Json& job)
{
    const Result<Json> answer = session.post("/placements:preview", job);
    if (answer) return member(*answer, "decision");
    if (answer.error().code != Errc::kInvalid) return answer.error();
    say(session, "fathom: as it is, the job is refused: " + describe(answer.error()));
    return Json();
}

Result<Json> ask(Session& session, const Json& job, const PlaceOptions& options)
{
    const Result<Json> before = decision_as_it_is(session, job);
    if (!before) return before;
    Result<Json> changed = changed_job(job, options);
    if (!changed) return changed;
    const Result<Json> what_if = what_if_of(options);
    if (!what_if) return what_if;
    if (!what_if->empty()) (*changed)["what_if"] = *what_if;
    const Result<Json> answer = session.post("/placements:preview", *changed);
    if (!answer) return answer;
    const Json& after = member(*answer, what_if->empty() ? "decision" : "what_if_decision");
    const auto place = [](const Json& decision) {
        const Json& winner = member(decision, "winner");
        return winner.is_number_unsigned()
                   ? text_of(items_of(decision, "candidates").at(winner.get<std::size_t>()), "unit_type_id")
                   : std::string();
    };
    return Json{{"decision", *before}, {"what_if_decision", after}, {"changes_place", place(*before) != place(after)}};
}

/// The job with the steps of the file; the server reads them.
Result<Json> with_steps(Session& session, Json job, const PlaceOptions& options)
{
    if (options.steps.empty()) return job;
    Result<Json> steps = read_input_file(options.steps, session.console());
    if (!steps) return steps;
    job["steps"] = std::move(*steps);
    return job;
}

/// Whether the job would better run in its steps, center by center.
std::string job_steps_text(const Json& preview)
{
    std::string text;
    for (const Json& split : items_of(preview, "split")) {
        const std::string center = "  - " + printable(text_of(split, "center")) + ": ";
        if (!member(split, "run").is_string()) {
            text += center + printable(text_of(split, "reason")) + "\n";
            continue;
        }
        if (text_of(split, "run") == "whole") {
            text += center + "whole on " + printable(text_of(split, "whole_on")) + ", " +
                    duration_of(split, "total_s") + "; no division into these steps is better\n";
            continue;
        }
        text += center + "in steps, " + duration_of(split, "total_s") + ", of which " +
                duration_of(split, "passing_s") + " to hand results on; whole on CPU " + duration_of(split, "cpu_s") +
                ", on GPU " + duration_of(split, "gpu_s") + "\n";
        for (const Json& step : items_of(split, "steps"))
            text += "      " + printable(text_of(step, "name")) + " on " + printable(text_of(step, "run_on")) + ": " +
                    duration_of(step, text_of(step, "run_on") == "GPU" ? "gpu_s" : "cpu_s") + "\n";
    }
    if (text.empty()) return "\nWhole or in steps\n  no center has both CPUs and GPUs for it\n";
    return "\nWhole or in steps\n" + text;
}

Outcome place_job(Session& session, const PlaceOptions& options)
{
    JobRequestOptions request;
    request.file = options.file;
    const Result<Json> own = make_job_request(request, session.console());
    if (!own) return own.error();
    if (own->is_array()) return Error{Errc::kInvalid, "a placement is asked for one job, and the file holds a list"};
    const Result<Json> job = with_steps(session, *own, options);
    if (!job) return job.error();
    const bool has_changes = options.changes_job() || options.changes_network();
    if (options.what_if && !has_changes)
        return Error{Errc::kInvalid, "--what-if needs a change: --deadline, --count, --prefer, --budget, --price, "
                                     "--without, --only, --free or --at"};
    if (has_changes && !options.steps.empty())
        return Error{Errc::kInvalid, "--steps asks about the job as it is: leave the changes out"};
    const Result<Json> answer = has_changes ? ask(session, *job, options) : session.post("/placements:preview", *job);
    const char* const shown = has_changes ? "what_if_decision" : "decision";
    const Outcome printed = print_answer(session, answer, [&](const Json& preview) {
        const TableStyle style = table_style(session);
        const Json& decision = member(preview, shown);
        const std::string comparison =
            has_changes ? render_comparison(member(preview, "decision"), decision, style) + "\n" : std::string();
        return comparison + render_decision(decision, session.now(), style) +
               (!has_changes && preview.contains("split") ? job_steps_text(preview) : std::string());
    });
    if (!printed) return printed;
    return member(member(*answer, shown), "winner").is_number() ? ExitCode::kOk : ExitCode::kInfeasible;
}

Outcome replay_decision(Session& session, const NameOptions& options)
{
    const Result<Json> placement = read_input_file(options.name, session.console());
    if (!placement) return placement.error();
    const Result<Replay> replay = replay_placement(*placement);
    if (!replay) return in_file(options.name, replay.error());
    const bool is_same = replay->differences.empty();
    if (session.wants_json()) {
        print_json(session, {{"is_same", is_same},
                             {"differences", replay->differences},
                             {"note", replay->note},
                             {"decision", to_json(replay->decision)}});
    } else {
        std::ostream& out = *session.console().out;
        out << (is_same ? "The same decision comes out.\n" : "Another decision comes out.\n");
        for (const std::string& difference : replay->differences)
            out << "  - " << difference << "\n";
        if (!replay->note.empty()) out << "Note: " << replay->note << ".\n";
        out << "\n" << render_decision(to_json(replay->decision), session.now(), table_style(session));
    }
    return is_same ? ExitCode::kOk : ExitCode::kFailed;
}

void add_changes(CLI::App& place, PlaceOptions& options)
{
    place.add_flag("--what-if", options.what_if, "Compare with the changes that follow; any of them implies it");
    place.add_option("--deadline", options.deadline, "By when it must have ended: 2030-12-01T18:00:00Z");
    place.add_option("--count", options.count, "So many units, or auto");
    place.add_option("--prefer", options.prefer, "fastest, cheapest, greenest, or weights: time=0.5,cost=0.5");
    place.add_option("--budget", options.budget, "What it may cost: 12.50EUR");
    const auto add_many = [&](const char* name, std::vector<std::string>& values, const char* description) {
        place.add_option(name, values, description)->allow_extra_args(false);
    };
    add_many("--price", options.prices, "Another price of an hour of a unit: beta/core=0.10; may be repeated");
    add_many("--without", options.without, "As if this center were not there; may be repeated");
    add_many("--only", options.only, "As if only this center were there; may be repeated");
    add_many("--free", options.free, "As if nothing ran at this center; may be repeated");
    place.add_option("--at", options.at, "As decided at that time: 2030-12-01T18:00:00Z");
}

} // namespace

void add_place_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& place =
        add_verb(app, "place", "Where a job would go and why, and what would change that",
                 "fathom place job.yaml\n"
                 "  fathom place job.yaml --prefer cheapest --without beta\n"
                 "  fathom place job.yaml --steps steps.yaml\n"
                 "  fathom place job.yaml --what-if --price beta/core=0.10 --free alpha\n"
                 "  fathom job explain job_01JD0000000000000000000000 --inputs > placement.json && fathom "
                 "place replay placement.json");
    auto options = std::make_shared<PlaceOptions>();
    place.add_option("FILE", options->file, "The job as YAML or JSON, - for standard input");
    place
        .add_option(
            "--steps", options->steps,
            "Its parts in the order in which they run, as YAML or JSON: whether it would better run whole or in "
            "these, some on CPUs and some on GPUs")
        ->type_name("FILE");
    add_changes(place, *options);
    add_named_verb(place, invocation,
                   {"replay", "Makes a stored decision again, here; exit 1 when another comes out",
                    "fathom job explain job_01JD0000000000000000000000 --inputs > placement.json\n"
                    "  fathom place replay placement.json"},
                   {"FILE", "What `fathom job explain --inputs` wrote"}, replay_decision);
    place.callback([&invocation, &place, options] {
        if (!place.get_subcommands().empty()) return; // its own callback has chosen
        if (options->file.empty()) throw CLI::RequiredError("FILE");
        invocation.action = [options](Session& session) { return place_job(session, *options); };
    });
}

} // namespace fathom::cli
