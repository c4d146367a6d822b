#include "cli/centers/sub_unit.hpp"
#include "cli/client/json_view.hpp"

namespace fathom::cli {
namespace {

struct SubUnitListOptions : ListOptions {
    std::string kind;
    std::string center;
    bool all = false;
};

/// A row for each center, and one for what nobody has.
Table parts_table(const Json& kinds, Timestamp)
{
    Table table({{"KIND"},
                 {"CENTER"},
                 {"UNIT TYPE"},
                 {"HAS", Align::kRight},
                 {"OFFERED", Align::kRight, 2},
                 {"BROUGHT", Align::kRight},
                 {"MOST", Align::kRight, 3},
                 {"PER UNIT", Align::kRight, 4},
                 {"STATE"}});
    for (const Json& kind : kinds) {
        for (const Json& center : items_of(kind, "centers")) {
            const Cell state = is_true(center, "settled") ? Cell("settled") : Cell("changing", Tone::kPending);
            table.add_row({text_of(kind, "kind"), text_of(center, "center"), text_of(center, "unit_type"),
                           count_of(center, "held_count"), count_of(center, "offered_count"),
                           count_of(center, "registered_count"), count_of(center, "most_count"),
                           count_of(center, "sub_units_per_unit"), state});
        }
        table.add_row({text_of(kind, "kind"), "(free)", "", count_of(kind, "free_count")});
    }
    return table;
}

/// How far a request is: what a gain has got, what of a release is still free.
std::string progress_of(const Json& request)
{
    const std::string granted = count_of(request, "granted_count");
    if (text_of(request, "action") == "gain") return granted + " got";
    return granted + " granted, " + count_of(request, "free_count") + " free";
}

Table requests_table(const Json& requests, Timestamp now)
{
    Table table({{"ID"},
                 {"KIND"},
                 {"CENTER"},
                 {"ACTION"},
                 {"COUNT", Align::kRight},
                 {"STATE"},
                 {"PROGRESS", Align::kLeft, 1},
                 {"AGE", Align::kRight, 2},
                 {"REASON", Align::kLeft, 3, true},
                 {"ENDED BECAUSE", Align::kLeft, 4, true}});
    for (const Json& one : requests) {
        const std::string state = text_of(one, "state");
        table.add_row({text_of(one, "id"), text_of(one, "kind"), text_of(one, "center"), text_of(one, "action"),
                       count_of(one, "count"), Cell(state, tone_of_state(state)), progress_of(one),
                       age_of(one, "created_at", now), text_of(one, "reason", ""), text_of(one, "end_reason", "")});
    }
    return table;
}

Table grants_table(const Json& grants, Timestamp now)
{
    Table table({{"ID"},
                 {"KIND"},
                 {"FROM"},
                 {"TO"},
                 {"COUNT", Align::kRight},
                 {"STATE"},
                 {"AGE", Align::kRight, 1},
                 {"UNDO OF", Align::kLeft, 2},
                 {"ENDED BECAUSE", Align::kLeft, 3, true}});
    for (const Json& one : grants)
        table.add_row({text_of(one, "id"), text_of(one, "kind"), text_of(one, "from_center"), text_of(one, "to_center"),
                       count_of(one, "count"), text_of(one, "state"), age_of(one, "created_at", now),
                       text_of(one, "undo_of", ""), text_of(one, "end_reason", "")});
    return table;
}

Table changes_table(const Json& events, Timestamp)
{
    Table table({{"AT"},
                 {"KIND"},
                 {"CENTER"},
                 {"CHANGE"},
                 {"COUNT", Align::kRight},
                 {"HAS", Align::kRight},
                 {"BY", Align::kLeft, 2},
                 {"REQUEST", Align::kLeft, 3},
                 {"GRANT", Align::kLeft, 4},
                 {"DETAIL", Align::kLeft, 1, true}});
    for (const Json& one : events)
        table.add_row({text_of(one, "at"), text_of(one, "kind"), text_of(one, "center"), text_of(one, "event"),
                       count_of(one, "count"), count_of(one, "held_count"), text_of(one, "actor"),
                       text_of(one, "request_id", ""), text_of(one, "grant_id", ""), text_of(one, "detail", "")});
    return table;
}

Outcome list_parts(Session& session, const SubUnitListOptions& options)
{
    return print_list(session,
                      {.path = "/sub-units",
                       .query = {},
                       .table = parts_table,
                       .when_empty = "No center has sub-units to share; docs/sub-units.md says how one does."},
                      options);
}

Outcome list_requests(Session& session, const SubUnitListOptions& options)
{
    return print_list(
        session,
        {.path = "/sub-unit-requests",
         .query = {{"kind", options.kind}, {"center", options.center}, {"open", options.all ? "" : "true"}},
         .table = requests_table,
         .when_empty = "No request for sub-units is open; --all shows those that have ended."},
        options);
}

Outcome list_grants(Session& session, const SubUnitListOptions& options)
{
    return print_list(session,
                      {.path = "/sub-unit-grants",
                       .query = {{"kind", options.kind}, {"center", options.center}},
                       .table = grants_table,
                       .when_empty = "No sub-units have gone from one center to another."},
                      options);
}

Outcome list_changes(Session& session, const SubUnitListOptions& options)
{
    return print_list(session,
                      {.path = "/sub-unit-events",
                       .query = {{"kind", options.kind}, {"center", options.center}},
                       .table = changes_table,
                       .when_empty = "Nothing of sub-units has changed."},
                      options);
}

std::shared_ptr<SubUnitListOptions> add_filters(CLI::App& verb)
{
    auto options = std::make_shared<SubUnitListOptions>();
    verb.add_option("--kind", options->kind, "Only of this kind");
    verb.add_option("--center", options->center, "Only of this center (name or id)");
    add_list_options(verb, *options);
    return options;
}

} // namespace

void add_sub_unit_lists(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<SubUnitListOptions>();
    CLI::App& parts = add_verb(noun, "parts", "Sub-units, the parts of units that centers share: who has how many",
                               "fathom unit parts");
    add_list_options(parts, *options);
    on_chosen(parts, invocation, std::move(options), list_parts);

    CLI::App& requests = add_verb(noun, "requests", "Who asks to give up or to gain sub-units, newest first",
                                  "fathom unit requests --kind vgpu");
    auto filters = add_filters(requests);
    requests.add_flag("--all", filters->all, "Also those that have ended");
    on_chosen(requests, invocation, std::move(filters), list_requests);

    CLI::App& grants =
        add_verb(noun, "grants", "Sub-units that went from center to center, newest first", "fathom unit grants");
    on_chosen(grants, invocation, add_filters(grants), list_grants);

    CLI::App& changes = add_verb(noun, "changes", "Every change of sub-units, by whom and why, newest first",
                                 "fathom unit changes --center alpha");
    on_chosen(changes, invocation, add_filters(changes), list_changes);
}

} // namespace fathom::cli
