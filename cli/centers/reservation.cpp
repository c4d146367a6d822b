#include "cli/centers/reservation.hpp"

#include "cli/client/calendar_text.hpp"
#include "cli/client/json_view.hpp"

namespace fathom::cli {
namespace {

struct ReservationOptions {
    std::string project;
    std::string center;
    std::string unit_type;
    std::int64_t count = 1;
    std::string starts_at;
    std::string ends_at;
};

struct ReservationListOptions : ListOptions {
    std::string project;
    std::string center;
    bool all = false;
};

std::string reserved_place(const Json& reservation)
{
    return text_of(reservation, "center") + "/" + text_of(reservation, "unit_type");
}

Table reservations_table(const Json& reservations, Timestamp now)
{
    Table table({{"ID"},
                 {"PROJECT"},
                 {"PLACE"},
                 {"UNITS", Align::kRight},
                 {"STATE"},
                 {"FROM", Align::kLeft},
                 {"UNTIL", Align::kLeft},
                 {"LENGTH", Align::kRight, 2},
                 {"STARTS", Align::kRight, 3}});
    for (const Json& one : reservations)
        table.add_row({text_of(one, "id"), text_of(one, "project"), reserved_place(one), count_of(one, "unit_count"),
                       calendar_state_of(one), moment_of(one, "starts_at"), moment_of(one, "ends_at"), length_of(one),
                       age_of(one, "starts_at", now)});
    return table;
}

std::string reservation_text(Session& session, const Json& reservation)
{
    return render_details({{"Reservation", text_of(reservation, "id")},
                           {"Project", text_of(reservation, "project")},
                           {"Place", reserved_place(reservation)},
                           {"Units", count_of(reservation, "unit_count")},
                           {"State", calendar_state_of(reservation)},
                           {"From", moment_of(reservation, "starts_at")},
                           {"Until", moment_of(reservation, "ends_at") + " (" + length_of(reservation) + ")"},
                           {"Made by", text_of(reservation, "created_by")}},
                          table_style(session));
}

Outcome create_reservation(Session& session, const ReservationOptions& options)
{
    Json body{{"center", options.center},
              {"unit_type", options.unit_type},
              {"unit_count", options.count},
              {"ends_at", options.ends_at}};
    if (!options.project.empty()) body["project"] = options.project;
    if (!options.starts_at.empty()) body["starts_at"] = options.starts_at;
    return print_answer(session, session.post("/reservations", body), [&](const Json& reservation) {
        return reservation_text(session, reservation) + "Jobs of project " + text_of(reservation, "project") +
               " that can run there use these units; other projects' jobs leave them free.\n";
    });
}

Outcome list_reservations(Session& session, const ReservationListOptions& options)
{
    return print_list(
        session,
        {.path = "/reservations",
         .query = {{"project", options.project}, {"center", options.center}, {"open", options.all ? "" : "true"}},
         .table = reservations_table,
         .when_empty = "Nothing is reserved; `fathom reservation create --help` shows how to."},
        options);
}

Outcome show_reservation(Session& session, const NameOptions& options)
{
    return print_answer(session, session.get("/reservations/" + path_segment(options.name)),
                        [&](const Json& reservation) { return reservation_text(session, reservation); });
}

Outcome cancel_reservation(Session& session, const NameOptions& options)
{
    return print_answer(session, session.remove("/reservations/" + path_segment(options.name)),
                        [&](const Json& reservation) {
                            return "Reservation " + text_of(reservation, "id") +
                                   " is cancelled: " + count_of(reservation, "unit_count") + " of " +
                                   reserved_place(reservation) + " are everybody's again. Jobs that use them go on.\n";
                        });
}

void add_create(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<ReservationOptions>();
    CLI::App& create =
        add_verb(noun, "create", "Keep units for the jobs of a project during some time",
                 "fathom reservation create --project materials --center alpha --unit-type core --count 4 "
                 "--starts-at 2026-12-01T08:00:00Z --ends-at 2026-12-01T12:00:00Z");
    create.add_option("--project", options->project, "Whose jobs may use them (default: default)");
    create.add_option("--center", options->center, "The center's name or id")->required();
    create.add_option("--unit-type", options->unit_type, "Name or id of its unit type")->required();
    create.add_option("--count", options->count, "How many units (default 1)");
    create.add_option("--starts-at", options->starts_at, std::string(kMomentHelp) + " (default: now)");
    create.add_option("--ends-at", options->ends_at, kMomentHelp)->required();
    on_chosen(create, invocation, std::move(options), create_reservation);
}

} // namespace

void add_reservation_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "reservation", "Units that are kept for a project in advance");
    add_create(noun, invocation);

    auto list_options = std::make_shared<ReservationListOptions>();
    CLI::App& list = add_verb(noun, "list", "Reservations that have not ended, newest first",
                              "fathom reservation list --project materials");
    list.add_option("--project", list_options->project, "Only of this project");
    list.add_option("--center", list_options->center, "Only of this center (name or id)");
    list.add_flag("--all", list_options->all, "Also those that have ended or were cancelled");
    add_list_options(list, *list_options);
    on_chosen(list, invocation, std::move(list_options), list_reservations);

    add_named_verb(noun, invocation,
                   {"show", "One reservation", "fathom reservation show rsv_01K8Z6W1E7J8Q2V3X4Y5Z6A7B8"},
                   {"ID", "The reservation's id"}, show_reservation);

    add_named_verb(noun, invocation,
                   {"cancel", "Give reserved units back; jobs that use them go on",
                    "fathom reservation cancel rsv_01K8Z6W1E7J8Q2V3X4Y5Z6A7B8"},
                   {"ID", "The reservation's id"}, cancel_reservation);
}

} // namespace fathom::cli
