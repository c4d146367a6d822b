#include "cli/probes/probe_order.hpp"

#include "cli/operators/operator_argument.hpp"

namespace fathom::cli {

void add_probe_order_options(CLI::App& verb, ProbeOrderOptions& options)
{
    auto* const operators =
        verb.add_option("--operators", options.operators, "ID[:PARAM=VALUE[;PARAM=VALUE…]], several joined by commas")
            ->allow_extra_args(false);
    auto* const task = verb.add_option("--task", options.task, "Id of a released probe task, instead of operators")
                           ->excludes(operators);
    verb.add_flag("--force", options.force, "Also a task that is not released")->needs(task);
    verb.add_option("--job-type", options.job_type, "The released probe task of this type of jobs")
        ->excludes(operators)
        ->excludes(task);
    verb.add_option("--units", options.units, "Measure these unit types: CENTER/TYPE or an id, one or more")
        ->delimiter(',');
    verb.add_option("--centers", options.centers, "Only at these centers: names or ids, one or more")->delimiter(',');
    auto* const selection =
        verb.add_option("--selection", options.selection,
                        "Who picks the unit types: catalog (all that can run it), ask (each center names those that "
                        "can), user (--units), center (each center picks one)")
            ->check(CLI::IsMember({"catalog", "ask", "user", "center"}));
    auto* const ask =
        verb.add_flag("--ask", options.ask, "Ask the centers; the same as --selection ask")->excludes(selection);
    verb.add_option("--answer-wait-s", options.answer_wait_s, "With --ask: how long centers may take (default 5)")
        ->check(CLI::Range(1, 30))
        ->needs(ask);
    verb.add_flag("--let-center-choose", options.center_chooses,
                  "Each center picks the unit type and, without a count here, takes the units that are free")
        ->excludes(selection)
        ->excludes(ask);
    auto* const count = verb.add_option("--count", options.count, "Measure on so many units at once (default 1)")
                            ->check(CLI::Range(1, 1'000'000));
    auto* const counts = verb.add_option("--counts", options.counts, "Measure on each of these counts: 1,2,4")
                             ->delimiter(',')
                             ->allow_extra_args(false)
                             ->check(CLI::Range(1, 1'000'000))
                             ->excludes(count);
    verb.add_flag("--scaling", options.scaling, "Measure on counts that show how each unit type scales: five, or all")
        ->excludes(count)
        ->excludes(counts);
    verb.add_flag("--copies", options.copies,
                  "An independent copy on each unit instead of one run on all: what busy neighbours cost "
                  "(`fathom unit load`). Without a count: on two units, all, and half way between")
        ->excludes("--let-center-choose");
}

namespace {

void add_counts(const ProbeOrderOptions& options, Json& body)
{
    if (options.count) body["unit_count"] = *options.count;
    if (!options.counts.empty()) body["unit_counts"] = options.counts;
    if (options.scaling) body["count_by"] = "scaling";
    if (options.copies) body["mode"] = "throughput";
    const bool is_given = options.count || !options.counts.empty() || options.scaling;
    if (options.center_chooses && !is_given) body["count_by"] = "center";
}

/// Empty for the default.
std::string selection_of(const ProbeOrderOptions& options)
{
    if (options.ask) return "ask";
    if (options.center_chooses) return "center";
    // Named unit types can mean nothing else.
    return options.selection.empty() && !options.units.empty() ? "user" : options.selection;
}

} // namespace

Result<Json> probe_order_of(const ProbeOrderOptions& options)
{
    Json body = Json::object();
    if (!options.task.empty()) body["probe_task_id"] = options.task;
    if (!options.job_type.empty()) body["job_type"] = options.job_type;
    if (options.force) body["force"] = true;
    for (const std::string& text : options.operators) {
        const Result<std::vector<OperatorUse>> uses = parse_operator_arguments(text, OperatorCount::kOptional);
        if (!uses) return uses.error();
        for (const OperatorUse& use : *uses)
            body["operators"].push_back(to_json(use));
    }
    const std::string selection = selection_of(options);
    if (selection == "user" && options.units.empty())
        return Error{Errc::kInvalid, "--selection user needs --units CENTER/TYPE"};
    if (!selection.empty()) body["selection"] = selection;
    if (!options.units.empty()) body["unit_types"] = options.units;
    if (!options.centers.empty()) body["centers"] = options.centers;
    if (options.answer_wait_s) body["answer_wait_s"] = *options.answer_wait_s;
    add_counts(options, body);
    return body;
}

} // namespace fathom::cli
