#include "cli/centers/maintenance.hpp"

#include "cli/client/calendar_text.hpp"
#include "cli/client/json_view.hpp"

namespace fathom::cli {
namespace {

struct PlanOptions {
    std::string center;
    std::string unit_type;
    std::string starts_at;
    std::string ends_at;
    std::string reason;
    bool cancel_reservations = false;
};

struct MaintenanceListOptions : ListOptions {
    std::string center;
    bool all = false;
};

std::string closed_place(const Json& maintenance)
{
    return text_of(maintenance, "center") + "/" + text_of(maintenance, "unit_type", "*");
}

Table maintenance_table(const Json& windows, Timestamp now)
{
    Table table({{"ID"},
                 {"PLACE"},
                 {"STATE"},
                 {"FROM"},
                 {"UNTIL"},
                 {"LENGTH", Align::kRight, 2},
                 {"STARTS", Align::kRight, 3},
                 {"REASON", Align::kLeft, 1, true}});
    for (const Json& one : windows)
        table.add_row({text_of(one, "id"), closed_place(one), calendar_state_of(one), moment_of(one, "starts_at"),
                       moment_of(one, "ends_at"), length_of(one), age_of(one, "starts_at", now),
                       text_of(one, "reason", "")});
    return table;
}

Outcome plan_maintenance(Session& session, const PlanOptions& options)
{
    Json body{{"center", options.center}, {"ends_at", options.ends_at}};
    if (!options.unit_type.empty()) body["unit_type"] = options.unit_type;
    if (!options.starts_at.empty()) body["starts_at"] = options.starts_at;
    if (!options.reason.empty()) body["reason"] = options.reason;
    if (options.cancel_reservations) body["cancel_reservations"] = true;
    return print_answer(session, session.post("/maintenance-windows", body), [&](const Json& maintenance) {
        std::string text = "Maintenance " + text_of(maintenance, "id") + " of " + closed_place(maintenance) + " from " +
                           moment_of(maintenance, "starts_at") + " until " + moment_of(maintenance, "ends_at") +
                           ": jobs that could not end before it start after it; jobs that run then go on.\n";
        const Json& cancelled = items_of(maintenance, "cancelled_reservations");
        if (!cancelled.empty())
            text += "Cancelled reservations: " + joined_texts(maintenance, "cancelled_reservations") + "\n";
        return text;
    });
}

Outcome list_maintenance(Session& session, const MaintenanceListOptions& options)
{
    return print_list(session,
                      {.path = "/maintenance-windows",
                       .query = {{"center", options.center}, {"open", options.all ? "" : "true"}},
                       .table = maintenance_table,
                       .when_empty = "No maintenance is planned; `fathom maintenance plan --help` shows how to."},
                      options);
}

Outcome cancel_maintenance(Session& session, const NameOptions& options)
{
    return print_answer(session, session.remove("/maintenance-windows/" + path_segment(options.name)),
                        [&](const Json& maintenance) {
                            return "Maintenance " + text_of(maintenance, "id") +
                                   " is cancelled: " + closed_place(maintenance) + " takes work again.\n";
                        });
}

void add_plan(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<PlanOptions>();
    CLI::App& plan = add_verb(noun, "plan", "Say when a center, or one of its unit types, takes no work",
                              "fathom maintenance plan --center alpha --starts-at 2030-12-01T16:00:00Z "
                              "--ends-at 2030-12-01T18:00:00Z --reason \"new cooling\"");
    plan.add_option("--center", options->center, "The center's name or id")->required();
    plan.add_option("--unit-type", options->unit_type, "Only this unit type (name or id)");
    plan.add_option("--starts-at", options->starts_at, std::string(kMomentHelp) + " (default: now)");
    plan.add_option("--ends-at", options->ends_at, kMomentHelp)->required();
    plan.add_option("--reason", options->reason, "Why, for people");
    plan.add_flag("--cancel-reservations", options->cancel_reservations,
                  "Cancel the reservations that lie in that time; without it they are a reason to refuse");
    on_chosen(plan, invocation, std::move(options), plan_maintenance);
}

} // namespace

void add_maintenance_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "maintenance", "When centers take no work");
    add_plan(noun, invocation);

    auto list_options = std::make_shared<MaintenanceListOptions>();
    CLI::App& list = add_verb(noun, "list", "Maintenance that has not ended, newest first",
                              "fathom maintenance list --center alpha");
    list.add_option("--center", list_options->center, "Only of this center (name or id)");
    list.add_flag("--all", list_options->all, "Also what has ended or was cancelled");
    add_list_options(list, *list_options);
    on_chosen(list, invocation, std::move(list_options), list_maintenance);

    add_named_verb(noun, invocation,
                   {"cancel", "Call a maintenance off, or end it early",
                    "fathom maintenance cancel mnt_01K8Z6W1E7J8Q2V3X4Y5Z6A7B8"},
                   {"ID", "The maintenance's id"}, cancel_maintenance);
}

} // namespace fathom::cli
