#include "cli/accounts/project.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

#include <optional>

namespace fathom::cli {
namespace {

struct SetOptions {
    std::string name;
    std::string profile_jobs;
    std::optional<double> share;
    std::optional<std::int64_t> max_units;
    std::optional<double> max_score_hours;
    std::string max_cost;
    std::vector<std::string> centers;
    bool is_any_center = false;
};

/// A limit where 0 is none.
std::string limit_of(const Json& json, const std::string& name, const std::string& unit = "")
{
    const Json& value = member(json, name);
    const bool is_none = value.is_string() ? value == "0" : number_of(json, name).value_or(0) == 0;
    if (is_none) return "no limit";
    const std::string text = value.is_number_float() ? format_number(value.get<double>()) : text_of(json, name);
    return text + (unit.empty() ? "" : " " + unit);
}

std::string centers_of(const Json& project)
{
    const std::string names = joined_texts(project, "centers");
    return names == "-" ? "all" : names;
}

Table projects_table(const Json& projects, Timestamp now)
{
    Table table({{"PROJECT"},
                 {"SHARE", Align::kRight},
                 {"UNITS", Align::kRight},
                 {"SCORE-HOURS", Align::kRight, 3},
                 {"COST", Align::kRight, 2},
                 {"CENTERS", Align::kLeft, 4, true},
                 {"PROFILES JOBS", Align::kLeft, 5},
                 {"CHANGED", Align::kRight, 1},
                 {"BY", Align::kLeft, 6}});
    for (const Json& project : projects)
        table.add_row({text_of(project, "name"), format_number(number_of(project, "share").value_or(1)),
                       limit_of(project, "max_units"), limit_of(project, "max_score_hours"),
                       limit_of(project, "max_cost"), centers_of(project),
                       std::string(is_true(project, "profile_jobs") ? "yes" : "no"), age_of(project, "changed_at", now),
                       text_of(project, "changed_by")});
    return table;
}

std::string amount_of(const Json& use, const std::string& name)
{
    const std::string currency = text_of(use, "currency", "");
    return text_of(use, name) + (currency.empty() ? "" : " " + currency);
}

std::string number_text(const Json& json, const std::string& name)
{
    return format_number(number_of(json, name).value_or(0));
}

/// "has had less than its share".
std::string standing_of(const Json& fair_share)
{
    const double load = number_of(fair_share, "load").value_or(0);
    std::string text = format_number(load);
    if (load < 0.95) return text + ": has had less than its share, so its jobs go before others";
    if (load > 1.05) return text + ": has had more than its share, so its jobs go after others";
    return text + ": has had its share";
}

std::string use_text(Session& session, const Json& project, const Json& use)
{
    const Json& quota = member(use, "quota");
    const Json& fair = member(use, "fair_share");
    std::vector<std::pair<std::string, Cell>> details{
        {"Project", text_of(use, "project")},
        {"Share", number_text(fair, "share")},
        {"Units held", count_of(use, "units") + " of " + limit_of(quota, "max_units")},
        {"Score-hours", number_text(use, "score_hours") + " of " + limit_of(quota, "max_score_hours") + " in " +
                            text_of(use, "month")},
        {"Cost", amount_of(use, "cost") + " of " + limit_of(quota, "max_cost", text_of(use, "currency", "")) + " in " +
                     text_of(use, "month")},
        {"Standing", standing_of(fair)},
        {"  holds", format_percent(number_of(fair, "dominant_share").value_or(0)) + " of one unit type at most"},
        {"  has used", format_percent(number_of(fair, "used_share").value_or(0)) +
                           " of what all projects have of late (half is forgotten after 7 days)"},
    };
    if (project.is_object()) {
        details.emplace_back("Centers", centers_of(project));
        details.emplace_back("Profiles jobs", is_true(project, "profile_jobs") ? "yes" : "no");
        details.emplace_back("Changed",
                             age_of(project, "changed_at", session.now()) + " by " + text_of(project, "changed_by"));
    }
    std::string text = render_details(details, table_style(session));
    Table table({{"UNIT TYPE"},
                 {"HELD", Align::kRight},
                 {"UNIT-HOURS", Align::kRight},
                 {"SCORE-HOURS", Align::kRight, 1},
                 {"COST", Align::kRight, 2}});
    for (const Json& one : items_of(use, "unit_types"))
        table.add_row({text_of(one, "center") + "/" + text_of(one, "unit_type"), count_of(one, "units"),
                       number_text(one, "unit_hours"), number_text(one, "score_hours"), text_of(one, "cost")});
    if (!table.empty()) text += "\n" + table.render(table_style(session));
    return text;
}

Outcome list_projects(Session& session, const ListOptions& options)
{
    return print_list(
        session,
        {.path = "/projects",
         .query = {},
         .table = projects_table,
         .when_empty = "Every project has the default settings; `fathom project set --help` changes one."},
        options);
}

Outcome show_project(Session& session, const NameOptions& options)
{
    const std::string path = "/projects/" + path_segment(options.name);
    Result<Json> project = session.get(path);
    // Without settings of its own it has used something all the same.
    if (!project && project.error().code != Errc::kNotFound) return project.error();
    const Result<Json> use = session.get(path + "/use");
    if (!use) return use.error();
    const Json settings = project ? *project : Json();
    return print_answer(session, Json{{"settings", settings}, {"use", *use}},
                        [&](const Json&) { return use_text(session, settings, *use); });
}

Json change_of(const SetOptions& options)
{
    Json body = Json::object();
    if (!options.profile_jobs.empty()) body["profile_jobs"] = options.profile_jobs == "on";
    if (options.share) body["share"] = *options.share;
    if (options.max_units) body["max_units"] = *options.max_units;
    if (options.max_score_hours) body["max_score_hours"] = *options.max_score_hours;
    if (!options.max_cost.empty()) body["max_cost"] = options.max_cost;
    if (options.is_any_center)
        body["centers"] = Json::array();
    else if (!options.centers.empty())
        body["centers"] = options.centers;
    return body;
}

std::string changed_text(const Json& project)
{
    return "Project " + text_of(project, "name") + ": share " + format_number(number_of(project, "share").value_or(1)) +
           "; units at once: " + limit_of(project, "max_units") + "; in a month: score-hours " +
           limit_of(project, "max_score_hours") + ", cost " + limit_of(project, "max_cost") +
           "; centers: " + centers_of(project) + ".\nIts jobs that are submitted from now on are " +
           (is_true(project, "profile_jobs") ? "" : "not ") + "profiled unless they say so themselves.\n";
}

Outcome set_project(Session& session, const SetOptions& options)
{
    const Json body = change_of(options);
    if (body.empty())
        return Error{Errc::kInvalid, "nothing to change: name a setting, such as --share 2 (see --help for all)"};
    return print_answer(session, session.put("/projects/" + path_segment(options.name), body, ""), changed_text);
}

void add_set(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<SetOptions>();
    CLI::App& set = add_verb(noun, "set", "Change settings of a project; those that are not named stay",
                             "fathom project set materials --share 2 --max-units 8 --max-cost 250");
    add_required(set, "NAME", options->name, "The project");
    set.add_option("--share", options->share, "Weight in fair sharing against other projects (1 unless set)");
    CLI::Option* units =
        set.add_option("--max-units", options->max_units, "Units that its jobs hold at once; 0: no limit");
    CLI::Option* score_hours =
        set.add_option("--max-score-hours", options->max_score_hours,
                       "In a calendar month: unit-hours x score of the unit type / 1000; 0: no limit");
    CLI::Option* cost =
        set.add_option("--max-cost", options->max_cost,
                       "In a calendar month, in the currency of the price book, such as 250.00; 0: no limit");
    // As scripts for the version before name them; --help is silent about it.
    set.add_option("--most-units", options->max_units)->group("")->excludes(units);
    set.add_option("--most-score-hours", options->max_score_hours)->group("")->excludes(score_hours);
    set.add_option("--most-cost", options->max_cost)->group("")->excludes(cost);
    CLI::Option* centers =
        set.add_option("--centers", options->centers, "Names of the centers that its jobs may run at, by commas")
            ->delimiter(',');
    set.add_flag("--any-center", options->is_any_center, "Its jobs may run at every center")->excludes(centers);
    set.add_option("--profile-jobs", options->profile_jobs,
                   "on: the centers count the operators of every job of it, and its type learns from them; off")
        ->check(CLI::IsMember({"on", "off"}));
    on_chosen(set, invocation, std::move(options), set_project);
}

struct MemberOptions {
    std::string project;
    std::string token;
    std::string role = "submitter";
    std::optional<double> reserve_unit_hours;
    bool opens_project = false;
};

std::string members_path(const std::string& project)
{
    return "/projects/" + path_segment(project) + "/members";
}

std::string right_of(const Json& member)
{
    const double hours = number_of(member, "reserve_unit_hours").value_or(0);
    return hours > 0 ? format_number(hours) + " unit-hours" : "no";
}

Table members_table(const Json& members, Timestamp now)
{
    Table table({{"TOKEN"},
                 {"NAME"},
                 {"ROLE"},
                 {"STATE", Align::kLeft, 2},
                 {"MAY RESERVE"},
                 {"ADDED", Align::kRight, 1},
                 {"BY", Align::kLeft, 3}});
    for (const Json& member : members) {
        const Cell state =
            is_true(member, "usable") ? Cell("valid", Tone::kGood) : Cell("revoked or expired", Tone::kFaint);
        table.add_row({text_of(member, "token_id"), text_of(member, "name"), text_of(member, "role"), state,
                       right_of(member), age_of(member, "added_at", now), text_of(member, "added_by")});
    }
    return table;
}

/// What a role lets a member do, for a sentence.
std::string doing_of(const Json& member)
{
    const std::string role = text_of(member, "role");
    if (role == "viewer") return "sees all jobs of ";
    return role == "lead" ? "leads " : "may submit to ";
}

std::string added_text(const Json& member)
{
    std::string text = text_of(member, "name") + " (" + text_of(member, "token_id") + ") " + doing_of(member) +
                       text_of(member, "project");
    if (text_of(member, "role") == "viewer") return text + ".\n";
    return text + "; may reserve for it: " + right_of(member) +
           ".\nOnly its submitters and leads, and administrators, may submit to it.\n";
}

Outcome add_member(Session& session, const MemberOptions& options)
{
    Json body{{"role", options.role}};
    if (options.reserve_unit_hours) body["reserve_unit_hours"] = *options.reserve_unit_hours;
    const std::string path = members_path(options.project) + "/" + path_segment(options.token);
    return print_answer(session, session.put(path, body, ""), added_text);
}

Outcome remove_member(Session& session, const MemberOptions& options)
{
    const std::string path =
        members_path(options.project) + "/" + path_segment(options.token) + (options.opens_project ? "?open=true" : "");
    return print_answer(session, session.remove(path), [](const Json& member) {
        return text_of(member, "name") + " (" + text_of(member, "token_id") + ") is no member of " +
               text_of(member, "project") + " any more. Its jobs and reservations stay.\n";
    });
}

struct MemberListOptions : ListOptions {
    std::string project;
};

Outcome list_members(Session& session, const MemberListOptions& options)
{
    return print_list(session,
                      {.path = members_path(options.project),
                       .query = {},
                       .table = members_table,
                       .when_empty = "It has no members, so whoever may submit jobs may submit to it; `fathom project "
                                     "member add --help` shows how to change that."},
                      options);
}

void add_member_commands(CLI::App& project, Invocation& invocation)
{
    CLI::App& noun = add_noun(project, "member", "Who may do what in a project");
    auto add_options = std::make_shared<MemberOptions>();
    CLI::App& add =
        add_verb(noun, "add", "Let a token submit to a project, see all its jobs, or lead it; or change which of them",
                 "fathom project member add materials ada --role lead");
    add_required(add, "PROJECT", add_options->project, "The project");
    add_required(add, "TOKEN", add_options->token, "The token's id or name, as `fathom token list` shows them");
    add.add_option("--role", add_options->role,
                   "submitter: submits, and then nobody does who is none. viewer: sees all jobs of the project. lead: "
                   "both, cancels them, reads what the project is billed, and lets viewers and submitters in")
        ->check(CLI::IsMember({"viewer", "submitter", "lead"}))
        ->capture_default_str();
    add.add_option("--reserve", add_options->reserve_unit_hours,
                   "Units x hours that its reservations for the project may hold at once (default 0: none)")
        ->check(CLI::NonNegativeNumber);
    on_chosen(add, invocation, std::move(add_options), add_member);

    auto remove_options = std::make_shared<MemberOptions>();
    CLI::App& remove = add_verb(noun, "remove", "Take a token's rights in a project away",
                                "fathom project member remove materials ada");
    add_required(remove, "PROJECT", remove_options->project, "The project");
    add_required(remove, "TOKEN", remove_options->token, "The token's id or name");
    remove.add_flag("--open", remove_options->opens_project,
                    "Also when it is the last one who may submit, so that everybody may submit to the project");
    on_chosen(remove, invocation, std::move(remove_options), remove_member);

    auto list_options = std::make_shared<MemberListOptions>();
    CLI::App& list = add_verb(noun, "list", "Who may do what in a project", "fathom project member list materials");
    add_required(list, "PROJECT", list_options->project, "The project");
    add_list_options(list, *list_options);
    on_chosen(list, invocation, std::move(list_options), list_members);
}

} // namespace

void add_project_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "project", "Projects: shares, quotas, and what they have used");
    add_list_verb(noun, invocation, "Projects with settings of their own", "fathom project list", list_projects);

    add_named_verb(noun, invocation,
                   {"show", "Settings, what it has used this month, and its standing in fair sharing",
                    "fathom project show materials"},
                   {"NAME", "The project"}, show_project);

    add_set(noun, invocation);
    add_member_commands(noun, invocation);
}

} // namespace fathom::cli
