#include "cli/probes/probe.hpp"

#include "cli/client/interrupt.hpp"
#include "cli/client/json_view.hpp"
#include "cli/probes/copies_text.hpp"
#include "cli/probes/probe_compare.hpp"
#include "cli/probes/probe_order.hpp"
#include "cli/probes/probe_schedule.hpp"
#include "cli/probes/probe_task.hpp"
#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"
#include "cli/text/wait_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

namespace fathom::cli {
namespace {

struct RunOptions {
    ProbeOrderOptions order;
    bool wait = false;
    std::optional<double> timeout_s;
};

struct ProbeListOptions : ListOptions {
    std::string state;
    std::string unit_type;
    std::string task;
    std::string order;
};

Table runs_table(const Json& runs, Timestamp now)
{
    Table table({{"ID"},
                 {"CENTER"},
                 {"UNIT TYPE"},
                 {"UNITS", Align::kRight, 2},
                 {"STATE"},
                 {"SELECTION", Align::kLeft, 5},
                 {"CAUSE", Align::kLeft, 4},
                 {"CREATED", Align::kRight, 3},
                 {"ERROR", Align::kLeft, 1, true}});
    for (const Json& run : runs) {
        const std::string state = text_of(run, "state");
        table.add_row({text_of(run, "id"), text_of(run, "center"), text_of(run, "unit_type"),
                       number_of(run, "unit_count") == 0.0 ? "?" : count_of(run, "unit_count"),
                       Cell(state, tone_of_state(state)), text_of(run, "selection"), text_of(run, "cause"),
                       age_of(run, "created_at", now), text_of(run, "error", "")});
    }
    return table;
}

/// "7", or "12, 3 disturbed".
std::string samples_text(const Json& result)
{
    const std::size_t disturbed = items_of(result, "disturbed").size();
    const std::string samples = std::to_string(items_of(result, "samples_s").size());
    return disturbed == 0 ? samples : samples + ", " + std::to_string(disturbed) + " disturbed";
}

/// What was found of where the operators' data lay: "random_access n=256: L1", a line each.
std::string memory_notes(const Json& run)
{
    std::string notes;
    for (const Json& one : items_of(member(run, "result"), "operators")) {
        const std::string name = text_of(one, "id") + " " + parameters_of(one, "parameters") + ": ";
        for (const char* const field : {"memory_level", "cache_verdict"}) {
            if (const std::string found = text_of(one, field, ""); !found.empty()) notes += name + found + "\n";
        }
    }
    return notes;
}

std::string results_text(const Json& run, const TableStyle& style)
{
    Table table({{"OPERATOR"},
                 {"SIZE", Align::kLeft, 2, true},
                 {"MEDIAN", Align::kRight},
                 {"95 % INTERVAL", Align::kRight, 1},
                 {"SPREAD", Align::kRight},
                 {"SAMPLES", Align::kRight, 4},
                 {"RATE", Align::kRight},
                 {"BANDWIDTH", Align::kRight, 3},
                 {"ERROR", Align::kRight},
                 {"LIBRARY", Align::kLeft, 5}});
    for (const Json& one : items_of(member(run, "result"), "operators")) {
        const double median_s = number_of(one, "median_s").value_or(0);
        const auto rate = [&](std::string_view work, std::string (*format)(double)) {
            const double amount = number_of(one, work).value_or(0);
            return median_s > 0 && amount > 0 ? format(amount / median_s) : std::string("-");
        };
        table.add_row({text_of(one, "id"), parameters_of(one, "parameters"), duration_of(one, "median_s"),
                       format_interval(number_of(one, "ci_low_s").value_or(median_s),
                                       number_of(one, "ci_high_s").value_or(median_s)),
                       format_percent(number_of(one, "spread").value_or(0)), samples_text(one),
                       rate("operations", format_flops), rate("bytes", format_bandwidth),
                       format_error(number_of(one, "error").value_or(0)), text_of(one, "library")});
    }
    return table.empty() ? std::string() : "\n" + table.render(style) + memory_notes(run);
}

/// "0, 1", or "-".
std::string numbers_of(const Json& run, std::string_view list)
{
    std::string text;
    for (const Json& number : items_of(run, list))
        text += (text.empty() ? "" : ", ") + number.dump();
    return text.empty() ? "-" : text;
}

std::string names_text(const Json& run, std::string_view list)
{
    std::string text;
    for (const Json& name : items_of(run, list))
        text += (text.empty() ? "" : ", ") + (name.is_string() ? name.get<std::string>() : std::string());
    return text.empty() ? "-" : text;
}

/// "2 (0, 1)"; what is left to the center has no count yet.
std::string units_text(const Json& run)
{
    if (number_of(run, "unit_count") == 0.0) return "left to the center";
    const std::string units = numbers_of(run, "units");
    return count_of(run, "unit_count") + (units == "-" ? "" : " (" + units + ")");
}

/// Whether the metascheduler computed the same: "right", or "wrong: dgemm(…): …".
std::string verification_text(const Json& run)
{
    const std::string verification = text_of(run, "verification");
    const std::string detail = text_of(run, "verification_detail", "");
    if (verification == "none") return "not chosen to be";
    return verification + (detail.empty() ? "" : ": " + detail);
}

/// A figure of the host's or its GPU's sensors, or why there is none; empty for a result of before they were read.
std::string sensor_text(const Json& host, const char* name, const char* field, double scale, const char* unit,
                        const char* whose = "host")
{
    const Json& figure = member(host, name);
    if (member(figure, "absent").is_string()) return "not known: " + text_of(figure, "absent");
    const std::optional<double> value = field == nullptr ? number_of(host, name) : number_of(figure, field);
    return value ? fmt::format("{:.3g} {}, of the whole {}", *value * scale, unit, whose) : "";
}

/// Empty where it is not known.
std::string busy_cores_text(const Json& run)
{
    const std::optional<double> cores = number_of(run, "busy_cores");
    return cores ? fmt::format("{:.3g} cores of its host held by other jobs, on average", *cores) : "";
}

/// Empty for an ordinary one.
std::string mode_text(const Json& run)
{
    if (text_of(run, "mode", "") != "throughput") return "";
    return "copies side by side, one on each unit; below is the first beside the others";
}

std::string run_text(Session& session, const Json& run)
{
    const TableStyle style = table_style(session);
    const std::string state = text_of(run, "state");
    const Json& host = member(member(run, "result"), "host");
    return render_details(
               {{"Probe run", text_of(run, "id")},
                {"State", Cell(state, tone_of_state(state))},
                {"Error", text_of(run, "error")},
                {"At", text_of(run, "center") + "/" + text_of(run, "unit_type") + ", units: " + units_text(run)},
                {"Processors", numbers_of(run, "cpus")},
                {"Mode", mode_text(run)},
                {"Selection", text_of(run, "selection") + ", count by " + text_of(run, "count_by")},
                {"Able unit types", names_text(run, "able_unit_types")},
                {"Order", text_of(run, "order_id")},
                {"Repeats", text_of(run, "repeats_run_id")},
                {"Part of", text_of(run, "divides_run_id")},
                {"Cause", text_of(run, "cause")},
                {"Probe task", text_of(run, "probe_task_id")},
                {"Job", text_of(run, "job_id")},
                {"Created", age_of(run, "created_at", session.now())},
                {"Waited", duration_of(run, "queue_wait_s")},
                {"Ended", age_of(run, "ended_at", session.now())},
                {"Took", duration_of(member(run, "result"), "wall_s")},
                {"Beside it", busy_cores_text(run)},
                {"Verified", verification_text(run)},
                {"Processor", text_of(host, "cpu_model")},
                {"Energy", sensor_text(host, "energy", "joules", 1, "J")},
                {"Its GPU's", sensor_text(member(host, "gpu"), "energy", "joules", 1, "J", "GPU")},
                {"Clock", sensor_text(host, "cpu_hz", nullptr, 1e-9, "GHz")},
                {"Temperature", sensor_text(host, "cpu_celsius", nullptr, 1, "°C")}},
               style) +
           results_text(run, style) + copies_text(run, style);
}

bool has_ended(const Json& run)
{
    const std::string state = text_of(run, "state");
    return state == "succeeded" || state == "failed" || state == "cancelled" || state == "lost";
}

/// The run of which this one takes the place or measures a part; empty: of none.
std::string run_before(const Json& run)
{
    const std::string divided = text_of(run, "divides_run_id", "");
    return divided.empty() ? text_of(run, "repeats_run_id", "") : divided;
}

bool has_run_after(const Json& runs, const Json& run)
{
    const std::string id = text_of(run, "id");
    return std::any_of(runs.begin(), runs.end(), [&](const Json& other) { return run_before(other) == id; });
}

/// Adds the runs that go on with those that ended without a result.
Result<void> add_runs_after(Session& session, Json& runs)
{
    std::set<std::string> known;
    for (const Json& run : runs)
        known.insert(text_of(run, "id"));
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!has_ended(runs[i]) || text_of(runs[i], "state") == "succeeded" || has_run_after(runs, runs[i])) continue;
        const Result<Session::List> order =
            session.list("/probe-runs", {{"order", text_of(runs[i], "order_id")}}, std::nullopt);
        if (!order) return order.error();
        for (const Json& other : items_of(order->json)) {
            if (known.contains(run_before(other)) && known.insert(text_of(other, "id")).second) runs.push_back(other);
        }
    }
    return {};
}

/// The run as it is now; people are told of its end.
Result<void> look_again(Session& session, Json& run)
{
    Result<Json> now = session.get("/probe-runs/" + path_segment(text_of(run, "id")));
    if (!now) return now.error();
    run = std::move(*now);
    if (has_ended(run) && session.console().err_is_terminal)
        say(session, "  " + printable(text_of(run, "center") + "/" + text_of(run, "unit_type") + " " +
                                      text_of(run, "state") + " " + text_of(run, "error", "")));
    return {};
}

/// Replaces each run that has not ended by its state now. @return how many have ended
Result<std::size_t> look_at_running(Session& session, Json& runs)
{
    std::size_t ended = 0;
    for (Json& run : runs) {
        if (!has_ended(run)) {
            if (const Result<void> seen = look_again(session, run); !seen) return seen.error();
        }
        if (has_ended(run)) ++ended;
    }
    return ended;
}

/// Replaces each run by its state at the end, and adds those that go on with it.
Result<void> wait_for_runs(Session& session, Json& runs, std::optional<double> timeout_s)
{
    const InterruptNotice notice("fathom: the probes go on; `fathom probe list` shows them\n");
    WaitTime time(timeout_s);
    for (;;) {
        const Result<std::size_t> ended = look_at_running(session, runs);
        if (!ended) return ended.error();
        if (*ended == runs.size()) {
            if (const Result<void> added = add_runs_after(session, runs); !added) return added.error();
            if (*ended == runs.size()) return {};
        }
        if (!time.pause())
            return Error{Errc::kDeadline, std::to_string(runs.size() - *ended) +
                                              " probe runs have not ended; they go on (`fathom probe list`)"};
    }
}

Outcome run_probe(Session& session, const RunOptions& options)
{
    const Result<Json> body = probe_order_of(options.order);
    if (!body) return body.error();
    Result<Json> answer = session.post("/probe-runs", *body);
    if (!answer) return answer.error();
    Json runs = items_of(*answer);
    if (options.wait) {
        if (const Result<void> waited = wait_for_runs(session, runs, options.timeout_s); !waited) return waited.error();
    }
    const Json& left_out = items_of(*answer, "left_out");
    if (session.wants_json())
        print_json(session, {{"items", runs}, {"left_out", left_out}});
    else
        *session.console().out << runs_table(runs, session.now()).render(table_style(session));
    if (const std::string order = runs.empty() ? "" : text_of(runs.front(), "order_id"); runs.size() > 1)
        say(session, "Order " + order + ": `fathom probe compare " + order + "`");
    for (const Json& place : left_out)
        say(session, printable("Left out: " + text_of(place, "place") + ": " + text_of(place, "reason")));
    bool all_good = true;
    for (const Json& run : runs)
        all_good = all_good && (!options.wait || text_of(run, "state") == "succeeded" || has_run_after(runs, run));
    return all_good ? ExitCode::kOk : ExitCode::kFailed;
}

Outcome list_runs(Session& session, const ProbeListOptions& options)
{
    return print_list(session,
                      {.path = "/probe-runs",
                       .query = {{"state", options.state},
                                 {"unit_type", options.unit_type},
                                 {"probe_task", options.task},
                                 {"order", options.order}},
                       .table = runs_table,
                       .when_empty = "No probe runs; `fathom probe run --wait` measures every unit type.",
                       .table_limit = 50},
                      options);
}

Outcome show_run(Session& session, const NameOptions& options)
{
    return print_answer(session, session.get("/probe-runs/" + path_segment(options.name)),
                        [&](const Json& run) { return run_text(session, run); });
}

void add_run(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<RunOptions>();
    CLI::App& run = add_verb(noun, "run", "Measure now; without options every operator on every unit type",
                             "fathom probe run --operators dgemm,fft3d:n=64 --centers alpha --wait\n"
                             "  fathom probe run --operators dgemm --ask --scaling\n"
                             "  fathom probe run --task ptk_01JD0000000000000000000000 --units alpha/core,beta/core "
                             "--counts 1,2,4");
    add_probe_order_options(run, options->order);
    auto* const wait =
        run.add_flag("--wait", options->wait,
                     "Wait for the results, also of runs that take the place of others; exit 1 when one has failed");
    run.add_option("--timeout-s", options->timeout_s, "With --wait: give up waiting (exit 7); the probes go on")
        ->check(CLI::NonNegativeNumber)
        ->needs(wait);
    on_chosen(run, invocation, std::move(options), run_probe);
}

} // namespace

void add_probe_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "probe", "Measurements of what the centers really do");
    add_run(noun, invocation);

    auto list_options = std::make_shared<ProbeListOptions>();
    CLI::App& list = add_verb(noun, "list", "Probe runs, newest first", "fathom probe list --state failed");
    list.add_option("--state", list_options->state, "Only in this state")
        ->check(CLI::IsMember({"queued", "succeeded", "failed", "cancelled", "lost"}));
    list.add_option("--unit-type", list_options->unit_type, "Only of this unit type");
    list.add_option("--task", list_options->task, "Only of this probe task");
    list.add_option("--order", list_options->order, "Only of this order");
    add_list_options(list, *list_options);
    on_chosen(list, invocation, std::move(list_options), list_runs);

    add_named_verb(noun, invocation,
                   {"show", "One probe run with its measurements", "fathom probe show prn_01JD0000000000000000000000"},
                   {"ID", "The probe run's id"}, show_run);
    add_probe_task_commands(noun, invocation);
    add_probe_schedule_commands(noun, invocation);
    add_probe_compare(noun, invocation);
}

} // namespace fathom::cli
