#include "cli/probe_order.hpp"

#include "cli/operator_argument.hpp"

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
    verb.add_option("--units", options.units, "Measure these unit types: CENTER/TYPE or an id, one or more");
    verb.add_option("--centers", options.centers, "Only at these centers: names or ids, one or more");
    verb.add_option("--selection", options.selection,
                    "Who picks the units: catalog (all that can run it), user (--units), center (each center picks)")
        ->check(CLI::IsMember({"catalog", "user", "center"}));
    verb.add_option("--count", options.count, "Measure on so many units at once (default 1)")
        ->check(CLI::Range(1, 1'000'000));
}

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
    // Named unit types can mean nothing else.
    std::string selection = options.selection;
    if (selection.empty() && !options.units.empty()) selection = "user";
    if (selection == "user" && options.units.empty())
        return Error{Errc::kInvalid, "--selection user needs --units CENTER/TYPE"};
    if (!selection.empty()) body["selection"] = selection;
    if (!options.units.empty()) body["unit_types"] = options.units;
    if (!options.centers.empty()) body["centers"] = options.centers;
    if (options.count) body["unit_count"] = *options.count;
    return body;
}

} // namespace fathom::cli
