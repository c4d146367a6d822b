#include "cli/jobs/job.hpp"

#include "cli/centers/shared_gpu.hpp"
#include "cli/client/json_view.hpp"
#include "cli/jobs/explain.hpp"
#include "cli/jobs/explain_tables.hpp"
#include "cli/jobs/job_count.hpp"
#include "cli/jobs/job_filter.hpp"
#include "cli/jobs/job_follow.hpp"
#include "cli/jobs/job_operators.hpp"
#include "cli/jobs/job_outputs.hpp"
#include "cli/jobs/job_parts_text.hpp"
#include "cli/jobs/job_submit.hpp"
#include "cli/jobs/staging_text.hpp"
#include "cli/text/format_units.hpp"
#include "core/model/job.hpp"

#include <algorithm>
#include <iterator>
#include <ostream>

namespace fathom::cli {
namespace {

struct JobListOptions : ListOptions {
    JobFilterOptions filter;
    std::string sort;
};

std::string place_of(const Json& job)
{
    const Json& attempt = member(job, "attempt");
    return attempt.is_object() ? text_of(attempt, "center") + "/" + text_of(attempt, "unit_type") : "-";
}

Table jobs_table(const Json& jobs, Timestamp now)
{
    Table table({{"ID"},
                 {"NAME", Align::kLeft, 0, true},
                 {"STATE"},
                 {"AT"},
                 {"UNITS", Align::kRight, 4},
                 {"RUN", Align::kRight, 1},
                 {"PREDICTED", Align::kRight, 2},
                 {"SUBMITTED", Align::kRight, 3},
                 {"PROJECT", Align::kLeft, 5},
                 {"NOTE", Align::kLeft, 6, true}});
    for (const Json& job : jobs) {
        const std::string state = text_of(job, "state");
        const std::string end = state == "succeeded" ? "" : text_of(job, "end_reason", "");
        table.add_row({text_of(job, "id"), text_of(job, "name"), Cell(state, tone_of_state(state)), place_of(job),
                       count_of(member(job, "attempt"), "unit_count"), duration_of(job, "run_s"),
                       duration_of(member(job, "predicted"), "run_s"), age_of(job, "submitted_at", now),
                       text_of(job, "project"), end.empty() ? text_of(job, "waiting_reason", "") : end});
    }
    return table;
}

std::string command_of(const Json& spec)
{
    std::string text;
    for (const Json& word : items_of(spec, "command"))
        text += (text.empty() ? "" : " ") + (word.is_string() ? word.get<std::string>() : word.dump());
    return text.empty() ? "(a script)" : text;
}

std::string predicted_text(const Json& job)
{
    const Json& predicted = member(job, "predicted");
    if (!number_of(predicted, "run_s")) return "-";
    // A job that is divided, and has no place yet, has neither of these.
    if (!number_of(predicted, "low_s")) return duration_of(predicted, "run_s");
    return duration_of(predicted, "run_s") + " (" +
           format_interval(number_of(predicted, "low_s").value_or(0), number_of(predicted, "high_s").value_or(0)) +
           "), wait " + duration_of(predicted, "wait_s");
}

/// "0, 1"; empty for none.
std::string numbers_text(const Json& json, std::string_view name)
{
    std::string text;
    for (const Json& number : items_of(json, name))
        text += (text.empty() ? "" : ", ") + number.dump();
    return text;
}

/// "Resources, expected to start in 3 min"; empty for one that does not wait in its center's batch system.
std::string center_queue_text(const Json& attempt, Timestamp now)
{
    const Json& queue = member(attempt, "center_queue");
    if (!queue.is_object()) return {};
    const Result<Timestamp> start = parse_rfc3339(text_of(queue, "expected_start", ""));
    if (!start) return text_of(queue, "reason");
    const double wait_s = std::max(0.0, std::chrono::duration<double>(*start - now).count());
    return text_of(queue, "reason") + ", expected to start in " + format_duration(wait_s);
}

std::vector<std::pair<std::string, Cell>> job_details(Session& session, const Json& job)
{
    const Timestamp now = session.now();
    const std::string state = text_of(job, "state");
    std::vector<std::pair<std::string, Cell>> details{
        {"Job", text_of(job, "id")}, {"Name", text_of(job, "name")}, {"State", Cell(state, tone_of_state(state))}};
    const auto add_known = [&](const std::string& name, const std::string& value) {
        if (value != "-" && !value.empty()) details.emplace_back(name, value);
    };
    const Json& attempt = member(job, "attempt");
    add_known("Waits for", text_of(job, "waiting_reason"));
    add_known("Ended by", text_of(job, "end_reason"));
    add_known("Exit code", text_of(job, "exit_code"));
    add_known("At", place_of(job));
    add_known("Waits there", center_queue_text(attempt, now));
    add_known("Units", text_of(attempt, "unit_count"));
    add_known("Processors", numbers_text(attempt, "cpus"));
    add_known("Nodes", text_of(attempt, "nodes"));
    add_known("Submitted", age_of(job, "submitted_at", now));
    add_known("Started", age_of(job, "started_at", now));
    add_known("Ended", age_of(job, "ended_at", now));
    add_known("Run", duration_of(job, "run_s"));
    add_known("Staging", staging_text(attempt));
    add_known("Predicted", predicted_text(job));
    add_known("CPU time", duration_of(attempt, "cpu_s"));
    const std::optional<double> memory = number_of(attempt, "max_resident_bytes");
    add_known("Memory", memory && *memory > 0 ? format_bytes(*memory) : "-");
    add_known("Energy", energy_of(attempt));
    add_known("Project", text_of(job, "project"));
    add_known("Type", text_of(job, "type"));
    if (const std::string from = text_of(job, "operators_from"); from != "-")
        add_known("Operators", "as its type learned them from " + from);
    add_known("Command", command_of(member(job, "spec")));
    add_known("Attempt", text_of(attempt, "id"));
    return details;
}

/// "0.12 EUR, 0.03 USD"; empty for none.
std::string amounts_text(const Json& cost, std::string_view name)
{
    std::string text;
    for (const Json& amount : items_of(cost, name))
        text += (text.empty() ? "" : ", ") + text_of(amount, "amount") + " " + text_of(amount, "currency");
    return text;
}

void add_cost(std::vector<std::pair<std::string, Cell>>& details, const Json& cost)
{
    if (const Json& expected = member(cost, "expected"); expected.is_object()) {
        std::string text =
            text_of(member(expected, "cost"), "amount") + " " + text_of(member(expected, "cost"), "currency");
        if (member(expected, "low").is_object())
            text += " (" + text_of(member(expected, "low"), "amount") + "–" +
                    text_of(member(expected, "high"), "amount") + ")";
        details.emplace_back("Cost expected", text);
    }
    if (const std::string running = amounts_text(cost, "running"); !running.empty())
        details.emplace_back("Cost so far", running);
    if (const std::string billed = amounts_text(cost, "billed"); !billed.empty())
        details.emplace_back(is_true(cost, "is_final") ? "Cost" : "Billed so far", billed);
}

/// Of a job that runs with GPUs which it shares, or did before it ended. A server that is older says nothing of it.
std::vector<std::pair<std::string, Cell>> gpu_details(Session& session, const Json& job)
{
    const std::string id = text_of(job, "id");
    const std::optional<JobState> state = parse_job_state(text_of(job, "state"));
    if (state && is_final(*state)) {
        const Result<Session::List> kept = session.list("/jobs/" + path_segment(id) + "/gpus", {}, std::nullopt);
        return kept ? kept_gpu_details(items_of(kept->json)) : std::vector<std::pair<std::string, Cell>>();
    }
    if (state != JobState::kRunning) return {};
    const Result<Session::List> gpus = session.list("/shared-gpus", {{"job", id}}, std::nullopt);
    if (!gpus) return {};
    return shared_gpu_details(items_of(gpus->json), id);
}

std::string events_text(Session& session, const Json& events)
{
    Table table({{"WHEN", Align::kRight}, {"STATE"}, {"CAUSE", Align::kLeft, 0, true}});
    for (const Json& event : items_of(events)) {
        const std::string state = text_of(event, "state");
        table.add_row({age_of(event, "at", session.now()), Cell(state, tone_of_state(state)), text_of(event, "cause")});
    }
    return table.empty() ? std::string() : "\n" + table.render(table_style(session));
}

std::string job_path(const NameOptions& options)
{
    return "/jobs/" + path_segment(options.name);
}

Outcome list_jobs(Session& session, const JobListOptions& options)
{
    Query query = job_filter_query(options.filter);
    query.emplace_back("sort", options.sort);
    return print_list(session,
                      {.path = "/jobs",
                       .query = std::move(query),
                       .table = jobs_table,
                       .when_empty = "No jobs; `fathom job submit --help` shows how to hand one in.",
                       .table_limit = 50},
                      options);
}

Outcome show_job(Session& session, const NameOptions& options)
{
    const Result<Json> job = session.get(job_path(options));
    if (!job || session.wants_json()) return print_answer(session, job, nullptr);
    const Result<Session::List> events = session.list(job_path(options) + "/events", {}, std::nullopt);
    if (!events) return events.error();
    std::vector<std::pair<std::string, Cell>> details = job_details(session, *job);
    // A server that bills nothing, or is older, says nothing of costs.
    if (const Result<Json> cost = session.get(job_path(options) + "/cost"); cost) add_cost(details, *cost);
    std::ranges::move(gpu_details(session, *job), std::back_inserter(details));
    *session.console().out << render_details(details, table_style(session))
                           << job_parts_text(*job, table_style(session)) << events_text(session, events->json);
    return ExitCode::kOk;
}

Outcome cancel_job(Session& session, const NameOptions& options)
{
    return print_answer(session, session.post(job_path(options) + ":cancel", Json()), [&](const Json& job) {
        const bool ended = text_of(job, "state") == "cancelled";
        return "Job " + options.name + (ended ? " is cancelled.\n" : " is being cancelled.\n");
    });
}

struct ExplainOptions : NameOptions {
    bool inputs = false;
};

Outcome explain_job(Session& session, const ExplainOptions& options)
{
    const Query query{{"inputs", options.inputs ? "true" : ""}};
    const Result<Json> placement = session.get(job_path(options) + "/placement", query);
    if (placement && options.inputs) {
        print_json(session, *placement);
        return ExitCode::kOk;
    }
    if (!placement || session.wants_json()) return print_answer(session, placement, nullptr);
    const Result<Json> work = session.get(job_path(options) + "/operators");
    return print_answer(session, session.get(job_path(options)), [&](const Json& job) {
        const std::string sharing = render_details(gpu_details(session, job), table_style(session));
        return render_explanation(job, *placement, work ? *work : Json(), session.now(), table_style(session)) +
               job_parts_text(job, table_style(session)) + (sharing.empty() ? "" : "\n" + sharing);
    });
}

void add_named(CLI::App& job, Invocation& invocation, const std::string& verb, const std::string& description,
               Outcome (*action)(Session&, const NameOptions&))
{
    add_named_verb(job, invocation, {verb, description, "fathom job " + verb + " job_01JD0000000000000000000000"},
                   {"ID", "The job's id"}, action);
}

void add_explain(CLI::App& job, Invocation& invocation)
{
    auto options = std::make_shared<ExplainOptions>();
    CLI::App& command = add_verb(job, "explain", "Where it went and why, and how well that was predicted",
                                 "fathom job explain job_01JD0000000000000000000000");
    add_required(command, "ID", options->name, "The job's id");
    command.add_flag("--inputs", options->inputs, "As JSON, with all that was decided on, for `fathom place replay`");
    on_chosen(command, invocation, std::move(options), explain_job);
}

} // namespace

void add_job_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& job = add_noun(app, "job", "Jobs: hand in, watch, understand");
    add_job_submit_commands(job, invocation);
    auto options = std::make_shared<JobListOptions>();
    CLI::App& list = add_verb(job, "list", "Jobs, newest first unless sorted otherwise",
                              "fathom job list --state running --sort name\n"
                              "  fathom job list --center alpha --submitted-after 2026-11-01T00:00:00Z");
    add_job_filter_options(list, options->filter);
    list.add_option("--sort", options->sort,
                    "By submitted, name, project, state or type; with - before it descending: --sort=-name")
        ->check(CLI::IsMember(
            {"submitted", "-submitted", "name", "-name", "project", "-project", "state", "-state", "type", "-type"}));
    add_list_options(list, *options);
    on_chosen(list, invocation, std::move(options), list_jobs);
    add_named(job, invocation, "show", "One job and what has happened to it", show_job);
    add_job_count_command(job, invocation);
    add_job_follow_commands(job, invocation);
    add_job_operators_command(job, invocation);
    add_job_outputs_command(job, invocation);
    add_explain(job, invocation);
    add_named(job, invocation, "cancel", "End it, or never start it", cancel_job);
}

} // namespace fathom::cli
