#include "cli/centers/unit.hpp"

#include "cli/centers/shared_gpu.hpp"
#include "cli/centers/sub_unit.hpp"
#include "cli/centers/unit_balance.hpp"
#include "cli/centers/unit_load.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"
#include "core/model/type_queue.hpp"

namespace fathom::cli {
namespace {

struct UnitOptions : ListOptions {
    std::string center;
};

/// How many pieces of advice there are: `fathom unit show` prints them.
Cell advice_count(const Json& unit)
{
    const std::size_t count = items_of(unit, "advice").size();
    return count == 0 ? Cell("-") : Cell(std::to_string(count), Tone::kPending);
}

Table units_table(const Json& unit_types, Timestamp)
{
    Table table({{"CENTER"},
                 {"UNIT TYPE"},
                 {"RESOURCE"},
                 {"UNITS", Align::kRight},
                 {"IN USE", Align::kRight},
                 {"CORES/UNIT", Align::kRight, 2},
                 {"MEMORY/UNIT", Align::kRight, 3},
                 {"OFFERED", Align::kLeft, 4},
                 {"ADVICE", Align::kRight, 6},
                 {"OPERATORS", Align::kLeft, 1, true},
                 {"ID", Align::kLeft, 5}});
    for (const Json& unit : unit_types) {
        const std::optional<double> memory = number_of(unit, "memory_bytes_per_unit");
        table.add_row({text_of(unit, "center"), text_of(unit, "name"), text_of(unit, "resource_type"),
                       count_of(unit, "unit_count"), count_of(unit, "units_in_use"), count_of(unit, "cores_per_unit"),
                       memory ? format_bytes(*memory) : "-", is_true(unit, "active") ? "yes" : "no", advice_count(unit),
                       joined_texts(unit, "operators"), text_of(unit, "id")});
    }
    return table;
}

/// What the hardware could do better: message, remedy, and the figures that say so.
std::string advice_text(Session& session, const Json& unit)
{
    std::string text;
    for (const Json& advice : items_of(unit, "advice")) {
        std::vector<std::pair<std::string, Cell>> details{{"Advice", Cell(text_of(advice, "message"), Tone::kPending)},
                                                          {"  Remedy", text_of(advice, "remedy")}};
        if (const Json& evidence = member(advice, "evidence"); evidence.is_object()) {
            for (const auto& [name, value] : evidence.items())
                details.emplace_back("  " + name, text_of(evidence, name));
        }
        text += "\n" + render_details(details, table_style(session));
    }
    return text;
}

/// "a new job starts in 3 h, as told 12 s ago": of the center's own batch system; "-" where it says nothing.
std::string queue_text(const Json& unit, Timestamp now)
{
    const Json& queue = member(unit, "queue");
    const std::optional<Timestamp> start = time_of(queue, "expected_start");
    if (!start) return "-";
    const double wait_s = std::chrono::duration<double>(*start - now).count();
    std::string said = "empty";
    if (std::chrono::duration<double>(*start - time_of(queue, "told_at").value_or(now)).count() > kAtOnce_s)
        said = wait_s > 0 ? "a new job starts in " + format_duration(wait_s)
                          : "a new job was to start " + format_duration(-wait_s) + " ago";
    return said + ", as told " + age_of(queue, "told_at", now);
}

/// Of parts of GPUs by turns: the GPUs of the unit type's center whose memory jobs share.
std::string gpus_text(Session& session, const Json& unit)
{
    if (text_of(member(member(unit, "facts"), "device"), "sharing") != "time-slice") return "";
    const Result<Session::List> gpus =
        session.list("/shared-gpus", {{"center", text_of(unit, "center")}}, std::nullopt);
    if (!gpus) return "\n" + render_details({{"GPUs", describe(gpus.error())}}, table_style(session));
    const auto details = unit_gpu_details(items_of(gpus->json));
    return details.empty() ? "" : "\n" + render_details(details, table_style(session));
}

std::string unit_text(Session& session, const Json& unit)
{
    const std::optional<double> memory = number_of(unit, "memory_bytes_per_unit");
    std::vector<std::pair<std::string, Cell>> details{
        {"Unit type", text_of(unit, "center") + "/" + text_of(unit, "name")},
        {"Id", text_of(unit, "id")},
        {"Resource", text_of(unit, "resource_type")},
        {"Units", count_of(unit, "unit_count") + ", " + count_of(unit, "units_in_use") + " in use"},
        {"Its queue", queue_text(unit, session.now())},
        {"Cores a unit", count_of(unit, "cores_per_unit")},
        {"Memory a unit", memory ? format_bytes(*memory) : "-"},
        {"Offered", is_true(unit, "active") ? "yes" : "no"},
        {"Operators", joined_texts(unit, "operators")},
    };
    if (const Json& facts = member(unit, "facts"); facts.is_object()) {
        for (const auto& [name, value] : facts.items())
            details.emplace_back("  " + name, value.is_array() ? joined_texts(facts, name) : text_of(facts, name));
    }
    return render_details(details, table_style(session)) + gpus_text(session, unit) + advice_text(session, unit);
}

/// The unit type of an id, or of `center/name`.
Result<Json> find_unit(Session& session, const std::string& name)
{
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) return session.get("/unit-types/" + path_segment(name));
    const std::string center = name.substr(0, slash);
    const Result<Session::List> units = session.list("/unit-types", {{"center", center}}, std::nullopt);
    if (!units) return units.error();
    for (const Json& unit : items_of(units->json)) {
        if (text_of(unit, "name") == name.substr(slash + 1)) return unit;
    }
    return Error{Errc::kNotFound, "center " + center + " has no such unit type; see `fathom unit list`"};
}

Outcome show_unit(Session& session, const NameOptions& options)
{
    return print_answer(session, find_unit(session, options.name),
                        [&](const Json& unit) { return unit_text(session, unit); });
}

Outcome list_units(Session& session, const UnitOptions& options)
{
    return print_list(session,
                      {.path = "/unit-types",
                       .query = {{"center", options.center}},
                       .table = units_table,
                       .when_empty = "No unit types; `fathom center list` shows whether a center is online."},
                      options);
}

} // namespace

void add_unit_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& unit =
        add_noun(app, "unit", "Unit types: what the centers offer, and the parts of units that they share");
    auto options = std::make_shared<UnitOptions>();
    CLI::App& list =
        add_verb(unit, "list", "Every unit type, its units and what they can run", "fathom unit list --center alpha");
    list.add_option("--center", options->center, "Only of this center (name or id)");
    add_list_options(list, *options);
    on_chosen(list, invocation, std::move(options), list_units);

    add_named_verb(unit, invocation,
                   {"show", "One unit type, and why it does less than its hardware could, if it does",
                    "fathom unit show alpha/core"},
                   {"unit-type", "Id, or center/unit type"}, show_unit);
    add_shared_gpu_list(unit, invocation);
    add_balanced_unit_list(unit, invocation);
    add_unit_load(unit, invocation);
    add_sub_unit_lists(unit, invocation);
    add_sub_unit_changes(unit, invocation);
}

} // namespace fathom::cli
