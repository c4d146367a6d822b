#include "cli/probes/probe_schedule.hpp"

#include "cli/client/input_file.hpp"
#include "cli/client/json_view.hpp"
#include "cli/client/schedule_text.hpp"
#include "cli/probes/probe_order.hpp"
#include "cli/text/format_units.hpp"

namespace fathom::cli {
namespace {

struct ScheduleOptions {
    std::string name;
    std::string new_name;
    std::string cron;
    ProbeOrderOptions order;
    std::string order_file;
    bool disable = false;
    bool enable = false;
};

std::string path_of(const std::string& name)
{
    return "/probe-schedules/" + path_segment(name);
}

/// "every operator", "dgemm, fft3d at alpha": what an order measures, in a few words.
std::string order_text(const Json& order)
{
    std::string text;
    for (const Json& use : items_of(order, "operators"))
        text += (text.empty() ? "" : ", ") + text_of(use, "id");
    if (text.empty()) text = text_of(order, "probe_task_id", "");
    if (text.empty() && !member(order, "job_type").is_null()) text = "jobs of type " + text_of(order, "job_type");
    if (text.empty()) text = "every operator";
    for (const char* places : {"unit_types", "centers"})
        if (!items_of(order, places).empty()) text += " at " + joined_texts(order, places);
    return text;
}

Table schedules_table(const Json& schedules, Timestamp now)
{
    Table table({{"NAME"},
                 {"CRON (UTC)"},
                 {"NEXT RUN", Align::kRight},
                 {"LAST RUN", Align::kRight, 2},
                 {"MEASURES", Align::kLeft, 3, true},
                 {"LAST ERROR", Align::kLeft, 1, true}});
    for (const Json& schedule : schedules)
        table.add_row({text_of(schedule, "name"), text_of(schedule, "cron"), next_run_of(schedule, now),
                       age_of(schedule, "last_run_at", now), order_text(member(schedule, "order")),
                       text_of(schedule, "last_error", "")});
    return table;
}

std::string schedule_text(Session& session, const Json& schedule)
{
    std::vector<std::pair<std::string, Cell>> details{
        {"Schedule", text_of(schedule, "name")},
        {"Id", text_of(schedule, "id")},
        {"Cron (UTC)", text_of(schedule, "cron")},
        {"Measures", order_text(member(schedule, "order"))},
        {"Order", member(schedule, "order").dump()},
        {"Enabled", is_true(schedule, "enabled") ? Cell("yes") : Cell("no", Tone::kPending)},
        {"Last run", age_of(schedule, "last_run_at", session.now())},
        {"Last error", text_of(schedule, "last_error")},
    };
    add_next_runs(details, schedule, "Next runs");
    return render_details(details, table_style(session));
}

/// The order of the options, or of the file.
Result<Json> order_of(const ScheduleOptions& options, const Console& console)
{
    Result<Json> order = probe_order_of(options.order);
    if (!order || options.order_file.empty()) return order;
    if (!order->empty())
        return Error{Errc::kInvalid, "--order FILE says all that is measured: leave out the other options"};
    return read_input_file(options.order_file, console);
}

Outcome list_schedules(Session& session, const ListOptions& options)
{
    return print_list(session,
                      {.path = "/probe-schedules",
                       .query = {},
                       .table = schedules_table,
                       .when_empty = "No schedules; `fathom probe schedule add --help` shows how to make one."},
                      options);
}

Outcome show_schedule(Session& session, const NameOptions& options)
{
    return print_answer(session, session.get(path_of(options.name)),
                        [&](const Json& schedule) { return schedule_text(session, schedule); });
}

Outcome add_schedule(Session& session, const ScheduleOptions& options)
{
    const Result<Json> order = order_of(options, session.console());
    if (!order) return order.error();
    const Json body{{"name", options.name}, {"cron", options.cron}, {"order", *order}, {"enabled", !options.disable}};
    return print_answer(session, session.post("/probe-schedules", body),
                        [&](const Json& schedule) { return schedule_text(session, schedule); });
}

Outcome change_schedule(Session& session, const ScheduleOptions& options)
{
    const Result<Json> order = order_of(options, session.console());
    if (!order) return order.error();
    Json body = Json::object();
    if (!options.new_name.empty()) body["name"] = options.new_name;
    if (!options.cron.empty()) body["cron"] = options.cron;
    if (!order->empty() || !options.order_file.empty()) body["order"] = *order;
    if (options.enable) body["enabled"] = true;
    if (options.disable) body["enabled"] = false;
    if (body.empty()) return Error{Errc::kInvalid, "nothing to change: give --cron, --name, --enable or an order"};
    return print_answer(session, session.patch(path_of(options.name), body),
                        [&](const Json& schedule) { return schedule_text(session, schedule); });
}

Outcome remove_schedule(Session& session, const NameOptions& options)
{
    return print_answer(session, session.remove(path_of(options.name)), [&](const Json&) {
        return "Schedule " + options.name + " is gone; probes that it queued go on.\n";
    });
}

void add_order(CLI::App& verb, ScheduleOptions& options)
{
    add_probe_order_options(verb, options.order);
    verb.add_option("--order", options.order_file,
                    "YAML or JSON file with the order as POST /probe-runs takes it, instead; - for standard input");
}

void add_add(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<ScheduleOptions>();
    CLI::App& add = add_verb(noun, "add", "Measure again and again; without further options every operator everywhere",
                             "fathom probe schedule add nightly --cron \"30 2 * * mon-fri\" --centers alpha\n"
                             "  fathom probe schedule add network --cron \"@every 900\" --operators network_fetch");
    add_required(add, "NAME", options->name, "The schedule's name");
    add.add_option("--cron", options->cron,
                   "minute hour day-of-month month day-of-week in UTC; @hourly, @daily, @weekly; @every SECONDS")
        ->required();
    add.add_flag("--disable", options->disable, "Do not run it yet");
    add_order(add, *options);
    on_chosen(add, invocation, std::move(options), add_schedule);
}

void add_change(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<ScheduleOptions>();
    CLI::App& change = add_verb(noun, "change", "Change a schedule; an order replaces the one before as a whole",
                                "fathom probe schedule change nightly --cron \"@every 3600\"");
    add_required(change, "NAME", options->name, "The schedule's name or id");
    change.add_option("--name", options->new_name, "A new name");
    change.add_option("--cron", options->cron, "When it runs, see `fathom probe schedule add --help`");
    auto* const enable =
        change.add_flag("--enable", options->enable, "Run it again; what it missed is not made up for");
    change.add_flag("--disable", options->disable, "Keep it, but do not run it")->excludes(enable);
    add_order(change, *options);
    on_chosen(change, invocation, std::move(options), change_schedule);
}

} // namespace

void add_probe_schedule_commands(CLI::App& probe, Invocation& invocation)
{
    CLI::App& noun = add_noun(probe, "schedule", "Probes that run by the clock");
    add_list_verb(noun, invocation, "Every schedule with its next run", "fathom probe schedule list", list_schedules);

    add_named_verb(noun, invocation,
                   {"show", "One schedule with its next five runs", "fathom probe schedule show nightly"},
                   {"NAME", "The schedule's name or id"}, show_schedule);

    add_add(noun, invocation);
    add_change(noun, invocation);

    add_named_verb(noun, invocation,
                   {"remove", "Forget a schedule; probes that it queued go on", "fathom probe schedule remove nightly"},
                   {"NAME", "The schedule's name or id"}, remove_schedule);
}

} // namespace fathom::cli
