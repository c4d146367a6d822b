#include "cli/billing/bill_schedule.hpp"

#include "cli/client/json_view.hpp"
#include "cli/client/schedule_text.hpp"
#include "cli/text/format_units.hpp"

namespace fathom::cli {
namespace {

struct ScheduleOptions {
    std::string name;
    std::string new_name;
    std::string cron;
    std::string format;
    std::string months;
    std::string destination;
    std::string project;
    std::string center;
    std::string version;
    std::string service_level;
    bool disable = false;
    bool enable = false;
};

std::string path_of(const std::string& name)
{
    return "/export-schedules/" + path_segment(name);
}

/// "focus of the previous month, project materials": what a run writes, in a few words.
std::string content_text(const Json& schedule)
{
    const std::string months = text_of(schedule, "months");
    std::string text = text_of(schedule, "format") + (months == "all" ? "" : " of the " + months + " month");
    for (const auto& [name, value] : member(schedule, "parameters").items())
        text += ", " + name + " " + (value.is_string() ? value.get<std::string>() : value.dump());
    return text;
}

Table schedules_table(const Json& schedules, Timestamp now)
{
    Table table({{"NAME"},
                 {"CRON (UTC)"},
                 {"NEXT RUN", Align::kRight},
                 {"LAST RUN", Align::kRight, 2},
                 {"WRITES", Align::kLeft, 3, true},
                 {"TO", Align::kLeft, 4, true},
                 {"LAST ERROR", Align::kLeft, 1, true}});
    for (const Json& schedule : schedules)
        table.add_row({text_of(schedule, "name"), text_of(schedule, "cron"), next_run_of(schedule, now),
                       age_of(schedule, "last_run_at", now), content_text(schedule), text_of(schedule, "destination"),
                       text_of(schedule, "last_error", "")});
    return table;
}

std::string schedule_text(Session& session, const Json& schedule)
{
    std::vector<std::pair<std::string, Cell>> details{
        {"Schedule", text_of(schedule, "name")},
        {"Id", text_of(schedule, "id")},
        {"Cron (UTC)", text_of(schedule, "cron")},
        {"Writes", content_text(schedule)},
        {"To", text_of(schedule, "destination")},
        {"Enabled", is_true(schedule, "enabled") ? Cell("yes") : Cell("no", Tone::kPending)},
        {"Last run", age_of(schedule, "last_run_at", session.now())},
        {"Last file", text_of(schedule, "last_file")},
        {"Last error", text_of(schedule, "last_error")},
    };
    if (number_of(schedule, "failures").value_or(0) > 0)
        details.emplace_back("Tried again", age_of(schedule, "next_run_at", session.now()));
    add_next_runs(details, schedule, "Runs for");
    return render_details(details, table_style(session));
}

Outcome print_schedule(Session& session, const Result<Json>& answer)
{
    return print_answer(session, answer, [&](const Json& schedule) { return schedule_text(session, schedule); });
}

/// What the options say; what they leave out is not in it.
Json body_of(const ScheduleOptions& options)
{
    Json body = Json::object();
    const auto add = [](Json& object, const char* name, const std::string& value) {
        if (!value.empty()) object[name] = value;
    };
    add(body, "cron", options.cron);
    add(body, "format", options.format);
    add(body, "months", options.months);
    add(body, "destination", options.destination);
    Json parameters = Json::object();
    add(parameters, "project", options.project);
    add(parameters, "center", options.center);
    add(parameters, "version", options.version);
    add(parameters, "service_level_type", options.service_level);
    if (!parameters.empty()) body["parameters"] = std::move(parameters);
    if (options.enable) body["enabled"] = true;
    if (options.disable) body["enabled"] = false;
    return body;
}

Outcome list_schedules(Session& session, const ListOptions& options)
{
    return print_list(session,
                      {.path = "/export-schedules",
                       .query = {},
                       .table = schedules_table,
                       .when_empty = "No schedules; `fathom bill schedule add --help` shows how to make one."},
                      options);
}

Outcome show_schedule(Session& session, const NameOptions& options)
{
    return print_schedule(session, session.get(path_of(options.name)));
}

Outcome add_schedule(Session& session, const ScheduleOptions& options)
{
    Json body = body_of(options);
    body["name"] = options.name;
    return print_schedule(session, session.post("/export-schedules", body));
}

Outcome change_schedule(Session& session, const ScheduleOptions& options)
{
    Json body = body_of(options);
    if (!options.new_name.empty()) body["name"] = options.new_name;
    if (body.empty()) return Error{Errc::kInvalid, "nothing to change: `fathom bill schedule change --help`"};
    return print_schedule(session, session.patch(path_of(options.name), body));
}

Outcome remove_schedule(Session& session, const NameOptions& options)
{
    return print_answer(session, session.remove(path_of(options.name)), [&](const Json&) {
        return "Schedule " + options.name + " is gone; files that it wrote stay.\n";
    });
}

Outcome run_schedule(Session& session, const NameOptions& options)
{
    return print_answer(session, session.post(path_of(options.name) + "/run", Json::object()), [&](const Json&) {
        return "It is written in a moment; `fathom bill schedule show " + options.name + "` says how it went.\n";
    });
}

void add_content(CLI::App& verb, ScheduleOptions& options)
{
    verb.add_option("--months", options.months,
                    "Which month a run writes: previous (default), current as far as it has gone, all (the ledger)")
        ->check(CLI::IsMember({"previous", "current", "all"}));
    verb.add_option("--project", options.project, "Only of this project");
    verb.add_option("--center", options.center, "Only at this center");
    verb.add_option("--focus-version", options.version, "1.2 (default) or 1.3")->check(CLI::IsMember({"1.2", "1.3"}));
    verb.add_option("--service-level-type", options.service_level, "What apel records call the score")
        ->check(CLI::IsMember({"si2k", "hepspec", "hepscore23"}));
    verb.add_flag("--disable", options.disable, "Keep it, but do not run it");
}

CLI::Option* add_format(CLI::App& verb, ScheduleOptions& options)
{
    return verb.add_option("--format", options.format, "As of `fathom bill export`")
        ->check(CLI::IsMember({"focus", "jsonl", "ledger", "apel", "apel-summary", "sacct"}));
}

void add_add(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<ScheduleOptions>();
    CLI::App& add = add_verb(noun, "add", "Write an export again and again, by the server's clock",
                             "fathom bill schedule add accountants --cron \"0 5 3 * *\" --format focus --to folder\n"
                             "  fathom bill schedule add archive --cron @daily --format ledger --to s3://bills/fathom");
    add_required(add, "NAME", options->name, "The schedule's name, and of the folder that its files lie in");
    add.add_option("--cron", options->cron,
                   "minute hour day-of-month month day-of-week in UTC; @hourly, @daily, @weekly; @every SECONDS")
        ->required();
    add_format(add, *options)->required();
    add.add_option(
           "--to", options->destination,
           "folder: in the folder that the server's setting export_folder names. s3://BUCKET/PREFIX: in the object "
           "store of its setting s3_endpoint")
        ->required();
    add_content(add, *options);
    on_chosen(add, invocation, std::move(options), add_schedule);
}

void add_change(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<ScheduleOptions>();
    CLI::App& change = add_verb(noun, "change", "Change a schedule; a failed run of it is tried again at once",
                                "fathom bill schedule change accountants --cron \"0 5 2 * *\"");
    add_required(change, "NAME", options->name, "The schedule's name or id");
    change.add_option("--name", options->new_name, "A new name");
    change.add_option("--cron", options->cron, "When it runs, see `fathom bill schedule add --help`");
    add_format(change, *options);
    change.add_option("--to", options->destination, "Where to, see `fathom bill schedule add --help`");
    add_content(change, *options);
    change.add_flag("--enable", options->enable, "Run it again; what it missed is not made up for")
        ->excludes(change.get_option("--disable"));
    on_chosen(change, invocation, std::move(options), change_schedule);
}

/// A verb that takes a schedule's name and nothing else.
void add_named(CLI::App& noun, Invocation& invocation, const std::string& verb, const std::string& what,
               Outcome (*act)(Session&, const NameOptions&))
{
    add_named_verb(noun, invocation, {verb, what, "fathom bill schedule " + verb + " accountants"},
                   {"NAME", "The schedule's name or id"}, act);
}

} // namespace

void add_bill_schedule(CLI::App& bill, Invocation& invocation)
{
    CLI::App& noun = add_noun(bill, "schedule", "Exports that the server writes by the clock");
    add_list_verb(noun, invocation, "Every schedule with its next run", "fathom bill schedule list", list_schedules);
    add_named(noun, invocation, "show", "One schedule, with how its last run went", show_schedule);
    add_add(noun, invocation);
    add_change(noun, invocation);
    add_named(noun, invocation, "run", "Write it now, for the month that is due", run_schedule);
    add_named(noun, invocation, "remove", "Forget a schedule; files that it wrote stay", remove_schedule);
}

} // namespace fathom::cli
