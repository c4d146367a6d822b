#include "core/model/probe_task.hpp"

#include "cli/command_line.hpp"
#include "cli/input_file.hpp"
#include "cli/json_view.hpp"

namespace fathom::cli {
namespace {

struct CreateOptions {
    std::string file;
    std::string job_type;
};

std::string operators_of(const Json& document)
{
    std::string text;
    for (const Json& one : items_of(document, "operators"))
        text += (text.empty() ? "" : ", ") + text_of(one, "id");
    return text.empty() ? "-" : text;
}

Table tasks_table(const Json& tasks, Timestamp now)
{
    Table table({{"ID"},
                 {"NAME", Align::kLeft, 0, true},
                 {"ORIGIN", Align::kLeft, 2},
                 {"OPERATORS", Align::kLeft, 1, true},
                 {"JOB TYPE", Align::kLeft, 4, true},
                 {"CREATED", Align::kRight, 3}});
    for (const Json& task : tasks) {
        table.add_row({text_of(task, "id"), text_of(task, "name"), text_of(task, "origin"),
                       operators_of(member(task, "document")), text_of(task, "job_type"),
                       age_of(task, "created_at", now)});
    }
    return table;
}

std::string task_text(Session& session, const Json& task)
{
    const TableStyle style = table_style(session);
    const Json& document = member(task, "document");
    const std::string text =
        render_details({{"Probe task", text_of(task, "id")},
                        {"Name", text_of(task, "name")},
                        {"Origin", text_of(task, "origin")},
                        {"Job type", text_of(task, "job_type")},
                        {"Repeats", text_of(document, "repeats")},
                        {"Least sample", duration_of(document, "min_sample_s")},
                        {"Longest run", duration_of(document, "limit_s")},
                        {"Created", age_of(task, "created_at", session.now()) + " by " + text_of(task, "created_by")}},
                       style);
    Table table({{"OPERATOR"}, {"SIZE"}, {"COUNT", Align::kRight}});
    for (const Json& one : items_of(document, "operators"))
        table.add_row({text_of(one, "id"), parameters_of(one, "parameters"), count_of(one, "count")});
    return text + "\n" + table.render(style);
}

Outcome list_tasks(Session& session, const ListOptions& options)
{
    return print_list(session,
                      {.path = "/probe-tasks",
                       .query = {},
                       .table = tasks_table,
                       .when_empty = "No probe tasks; `fathom probe run` makes the default one."},
                      options);
}

Outcome show_task(Session& session, const NameOptions& options)
{
    return print_answer(session, session.get("/probe-tasks/" + path_segment(options.name)),
                        [&](const Json& task) { return task_text(session, task); });
}

Outcome create_task(Session& session, const CreateOptions& options)
{
    const Result<Json> document = read_input_file(options.file, session.console());
    if (!document) return document.error();
    if (const Result<ProbeTask> task = parse_probe_task(*document); !task) return in_file(options.file, task.error());
    Json body{{"document", *document}};
    if (!options.job_type.empty()) body["job_type"] = options.job_type;
    return print_answer(session, session.post("/probe-tasks", body), [](const Json& task) {
        return "Created " + text_of(task, "id") + "; `fathom probe run --task " + text_of(task, "id") +
               " --wait` measures it.\n";
    });
}

} // namespace

void add_probe_task_commands(CLI::App& probe, Invocation& invocation)
{
    CLI::App& noun = add_noun(probe, "task", "Probe tasks: which operators a probe runs");
    auto list_options = std::make_shared<ListOptions>();
    CLI::App& list = add_verb(noun, "list", "Every probe task", "fathom probe task list");
    add_list_options(list, *list_options);
    on_chosen(list, invocation, std::move(list_options), list_tasks);

    auto show_options = std::make_shared<NameOptions>();
    CLI::App& show = add_verb(noun, "show", "One probe task with its operators",
                              "fathom probe task show ptk_01JD0000000000000000000000");
    add_required(show, "ID", show_options->name, "The task's id");
    on_chosen(show, invocation, std::move(show_options), show_task);

    auto create_options = std::make_shared<CreateOptions>();
    CLI::App& create =
        add_verb(noun, "create", "A probe task from a file", "fathom probe task create task.yaml --job-type my/type");
    add_required(create, "FILE", create_options->file, "YAML or JSON file, - for standard input");
    create.add_option("--job-type", create_options->job_type, "The type of jobs that it stands for");
    on_chosen(create, invocation, std::move(create_options), create_task);
}

} // namespace fathom::cli
