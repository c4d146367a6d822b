#include "cli/probes/probe_task.hpp"

#include "cli/client/input_file.hpp"
#include "cli/client/json_view.hpp"
#include "cli/probes/probe_task_compose.hpp"
#include "cli/probes/probe_task_steps.hpp"
#include "core/model/probe_task.hpp"

namespace fathom::cli {
namespace {

struct TaskListOptions : ListOptions {
    std::string state;
    std::string job_type;
};

struct TestOptions {
    std::string id;
    TestWaiting waiting{TestWaiting::kUntilEnd};
};

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

Cell state_of(const Json& task)
{
    const std::string state = text_of(task, "state");
    if (state == "released") return {state, Tone::kGood};
    if (state == "refused") return {state, Tone::kBad};
    return {state, Tone::kFaint};
}

std::string tested_text(const Json& task)
{
    if (text_of(task, "pretest_run_id") == "-") return "-";
    const std::string took = duration_of(task, "pretest_s");
    return text_of(task, "pretest_run_id") + (took == "-" ? std::string() : ", took " + took);
}

Table tasks_table(const Json& tasks, Timestamp now)
{
    Table table({{"ID"},
                 {"NAME", Align::kLeft, 0, true},
                 {"STATE"},
                 {"ORIGIN", Align::kLeft, 2},
                 {"OPERATORS", Align::kLeft, 1, true},
                 {"JOB TYPE", Align::kLeft, 4, true},
                 {"CREATED", Align::kRight, 3},
                 {"REASON", Align::kLeft, 5, true}});
    for (const Json& task : tasks) {
        table.add_row({text_of(task, "id"), text_of(task, "name"), state_of(task), text_of(task, "origin"),
                       operators_of(member(task, "document")), text_of(task, "job_type"),
                       age_of(task, "created_at", now), text_of(task, "state_reason", "")});
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
                        {"State", state_of(task)},
                        {"Reason", text_of(task, "state_reason")},
                        {"Test", tested_text(task)},
                        {"Origin", text_of(task, "origin")},
                        {"From job", text_of(task, "from_job")},
                        {"Job type", text_of(task, "job_type")},
                        {"Repeats", text_of(document, "repeats")},
                        {"Least sample", duration_of(document, "min_sample_s")},
                        {"Longest run", duration_of(document, "limit_s")},
                        {"Created", age_of(task, "created_at", session.now()) + " by " + text_of(task, "created_by")}},
                       style);
    Table table({{"LABEL", Align::kLeft, 1},
                 {"OPERATOR"},
                 {"SIZE"},
                 {"COUNT", Align::kRight},
                 {"COMPUTES ON", Align::kLeft, 1},
                 {"STANDS FOR", Align::kLeft, 2}});
    for (const Json& one : items_of(document, "operators")) {
        const std::string remainder = text_of(one, "remainder", "");
        table.add_row({text_of(one, "label"), text_of(one, "id"), parameters_of(one, "parameters"),
                       count_of(one, "count"), joined_texts(one, "inputs"),
                       remainder.empty() ? std::string("-") : "other " + remainder + "-bound work"});
    }
    return text + "\n" + table.render(style);
}

Outcome list_tasks(Session& session, const TaskListOptions& options)
{
    return print_list(session,
                      {.path = "/probe-tasks",
                       .query = {{"state", options.state}, {"job_type", options.job_type}},
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
        return "Created " + text_of(task, "id") + " as a draft; `fathom probe task test " + text_of(task, "id") +
               "` tries it.\n";
    });
}

Outcome test_task(Session& session, const TestOptions& options)
{
    const Result<Json> task = test_probe_task(session, options.id, options.waiting);
    const Outcome printed = print_answer(session, task, describe_probe_task);
    if (!printed) return printed;
    return options.waiting == TestWaiting::kUntilEnd && text_of(*task, "state") != "tested" ? ExitCode::kFailed
                                                                                            : ExitCode::kOk;
}

Outcome release_task(Session& session, const NameOptions& options)
{
    return print_answer(session, session.post("/probe-tasks/" + path_segment(options.name) + ":release", Json()),
                        describe_probe_task);
}

Outcome retire_task(Session& session, const NameOptions& options)
{
    return print_answer(session, session.post("/probe-tasks/" + path_segment(options.name) + ":retire", Json()),
                        describe_probe_task);
}

void add_step(CLI::App& noun, Invocation& invocation, const std::string& verb, const std::string& description,
              Outcome (*action)(Session&, const NameOptions&))
{
    auto options = std::make_shared<NameOptions>();
    CLI::App& command =
        add_verb(noun, verb, description, "fathom probe task " + verb + " ptk_01JD0000000000000000000000");
    add_required(command, "ID", options->name, "The task's id");
    on_chosen(command, invocation, std::move(options), action);
}

void add_test(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<TestOptions>();
    CLI::App& test = add_verb(noun, "test", "Try a task on one small unit: it must end within its limit, and be right",
                              "fathom probe task test ptk_01JD0000000000000000000000");
    add_required(test, "ID", options->id, "The task's id");
    test.add_flag_callback(
        "--no-wait", [options] { options->waiting = TestWaiting::kNone; }, "Do not wait for the test's end");
    on_chosen(test, invocation, std::move(options), test_task);
}

} // namespace

void add_probe_task_commands(CLI::App& probe, Invocation& invocation)
{
    CLI::App& noun = add_noun(probe, "task", "Probe tasks: which operators a probe runs");
    auto list_options = std::make_shared<TaskListOptions>();
    CLI::App& list = add_verb(noun, "list", "Every probe task, newest first", "fathom probe task list --state refused");
    list.add_option("--state", list_options->state, "Only in this state")
        ->check(CLI::IsMember({"draft", "testing", "tested", "released", "refused", "retired"}));
    list.add_option("--job-type", list_options->job_type, "Only of this type of jobs");
    add_list_options(list, *list_options);
    on_chosen(list, invocation, std::move(list_options), list_tasks);

    add_named_verb(
        noun, invocation,
        {"show", "One probe task with its operators", "fathom probe task show ptk_01JD0000000000000000000000"},
        {"ID", "The task's id"}, show_task);

    auto create_options = std::make_shared<CreateOptions>();
    CLI::App& create =
        add_verb(noun, "create", "A probe task from a file", "fathom probe task create task.yaml --job-type my/type");
    add_required(create, "FILE", create_options->file, "YAML or JSON file, - for standard input");
    create.add_option("--job-type", create_options->job_type, "The type of jobs that it stands for");
    on_chosen(create, invocation, std::move(create_options), create_task);

    add_probe_task_compose(noun, invocation);
    add_test(noun, invocation);
    add_step(noun, invocation, "release", "Put a task that passed its test into use", release_task);
    add_step(noun, invocation, "retire", "No longer use a task; its results stay", retire_task);
}

} // namespace fathom::cli
