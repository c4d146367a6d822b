#include "cli/command_line.hpp"
#include "cli/json_view.hpp"

namespace fathom::cli {
namespace {

struct SetOptions {
    std::string name;
    std::string profile_jobs;
};

Table projects_table(const Json& projects, Timestamp now)
{
    Table table({{"PROJECT"}, {"PROFILES JOBS"}, {"CHANGED", Align::kRight}, {"BY", Align::kLeft, 1}});
    for (const Json& project : projects)
        table.add_row({text_of(project, "name"), std::string(is_true(project, "profile_jobs") ? "yes" : "no"),
                       age_of(project, "changed_at", now), text_of(project, "changed_by")});
    return table;
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
    return print_answer(session, session.get("/projects/" + path_segment(options.name)), [&](const Json& project) {
        return projects_table(Json::array({project}), session.now()).render(table_style(session));
    });
}

Outcome set_project(Session& session, const SetOptions& options)
{
    const Json body{{"profile_jobs", options.profile_jobs == "on"}};
    return print_answer(
        session, session.put("/projects/" + path_segment(options.name), body, ""), [](const Json& project) {
            return "Jobs of " + text_of(project, "name") + " that are submitted from now on are " +
                   (is_true(project, "profile_jobs") ? "" : "not ") + "profiled unless they say so themselves.\n";
        });
}

} // namespace

void add_project_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "project", "Settings of projects");
    auto list_options = std::make_shared<ListOptions>();
    CLI::App& list = add_verb(noun, "list", "Projects with settings of their own", "fathom project list");
    add_list_options(list, *list_options);
    on_chosen(list, invocation, std::move(list_options), list_projects);

    auto show_options = std::make_shared<NameOptions>();
    CLI::App& show = add_verb(noun, "show", "The settings of a project", "fathom project show materials");
    add_required(show, "NAME", show_options->name, "The project");
    on_chosen(show, invocation, std::move(show_options), show_project);

    auto set_options = std::make_shared<SetOptions>();
    CLI::App& set =
        add_verb(noun, "set", "Change the settings of a project", "fathom project set materials --profile-jobs on");
    add_required(set, "NAME", set_options->name, "The project");
    set.add_option("--profile-jobs", set_options->profile_jobs,
                   "on: the centers count the operators of every job of it, and its type learns from them; off")
        ->required()
        ->check(CLI::IsMember({"on", "off"}));
    on_chosen(set, invocation, std::move(set_options), set_project);
}

} // namespace fathom::cli
