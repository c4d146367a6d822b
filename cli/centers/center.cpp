#include "cli/centers/center.hpp"

#include "cli/centers/enrolment_token.hpp"
#include "cli/centers/resources.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

#include <cmath>
#include <ostream>

namespace fathom::cli {
namespace {

struct SetOptions {
    std::string name;
    double probe_share = 0;
};

/// "35 s used, 90 s reserved of 2 592 unit-seconds in 30 days (share 0.001)".
std::string budget_of(const Json& center)
{
    const Json& budget = member(center, "probe_budget");
    const std::optional<double> limit_s = number_of(budget, "limit_s");
    if (!limit_s) return "-";
    const auto whole = [&](const char* name) {
        return format_count(std::llround(number_of(budget, name).value_or(0)));
    };
    return whole("used_s") + " s used, " + whole("reserved_s") + " s reserved of " + whole("limit_s") +
           " unit-seconds in 30 days (share " + text_of(budget, "share") + ")";
}

std::string state_of(const Json& center)
{
    if (!member(center, "revoked_at").is_null()) return "revoked";
    return text_of(center, "state");
}

Cell takes_jobs(const Json& center)
{
    const std::string state = state_of(center);
    if (state == "revoked") return Cell("no, revoked", Tone::kBad);
    if (is_true(center, "drained")) {
        const std::string reason = text_of(center, "drain_reason", "");
        return Cell(reason.empty() ? "no, drained" : "no, drained: " + reason, Tone::kPending);
    }
    if (!member(center, "quarantined_at").is_null()) return Cell("no, quarantined", Tone::kBad);
    if (state == "enrolled") return Cell("no, never connected", Tone::kPending);
    if (state != "online") return Cell("no, its agent is silent", Tone::kPending);
    return "yes";
}

Table centers_table(const Json& centers, Timestamp now)
{
    Table table({{"CENTER"},
                 {"STATE"},
                 {"TAKES JOBS"},
                 {"UNIT TYPES", Align::kRight, 2},
                 {"LAST SEEN", Align::kRight, 1},
                 {"AGENT", Align::kLeft, 3},
                 {"CERTIFICATE ENDS", Align::kRight, 4},
                 {"ID", Align::kLeft, 5}});
    for (const Json& center : centers) {
        const std::string state = state_of(center);
        table.add_row({text_of(center, "name"), Cell(state, tone_of_state(state)), takes_jobs(center),
                       count_of(center, "unit_type_count"), age_of(center, "last_seen_at", now),
                       text_of(center, "agent_version"), age_of(center, "certificate_not_after", now),
                       text_of(center, "id")});
    }
    return table;
}

/// @param resources  of the center; null where the server is older
std::string center_text(Session& session, const Json& center, const Json& resources)
{
    const Timestamp now = session.now();
    const std::string state = state_of(center);
    std::vector<std::pair<std::string, Cell>> details{
        {"Center", text_of(center, "name")},
        {"Id", text_of(center, "id")},
        {"State", Cell(state, tone_of_state(state))},
        {"Takes jobs", takes_jobs(center)},
        {"Unit types", count_of(center, "unit_type_count")},
        {"Probe budget", budget_of(center)},
        {"Agent", text_of(center, "agent_version")},
        {"Connected", age_of(center, "connected_at", now)},
        {"Last seen", age_of(center, "last_seen_at", now)},
        {"Enrolled", age_of(center, "created_at", now)},
        {"Certificate", "ends " + age_of(center, "certificate_not_after", now)},
    };
    if (!member(center, "quarantined_at").is_null())
        details.emplace_back("Quarantined", age_of(center, "quarantined_at", now) + ": " +
                                                text_of(center, "quarantine_reason") +
                                                "; it gets probes, and jobs again when those are good");
    if (!member(center, "probe_requested_at").is_null())
        details.emplace_back("Asks for probes", age_of(center, "probe_requested_at", now) + ": " +
                                                    text_of(center, "probe_request_reason"));
    if (!member(resources, "state").is_null())
        details.emplace_back("Resources", text_of(resources, "state") + ", version " + text_of(resources, "version") +
                                              "; fathom center resources show " + text_of(center, "name"));
    for (const Json& difference : items_of(member(resources, "reported"), "differences"))
        details.emplace_back("Differs", Cell(text_of(difference, "detail"), Tone::kBad));
    for (const Json& change : items_of(resources, "changes")) {
        details.emplace_back("Last change", age_of(change, "changed_at", now) + ": " + text_of(change, "change"));
        break;
    }
    if (member(center, "facts").is_object()) {
        for (const auto& [name, value] : member(center, "facts").items())
            details.emplace_back("  " + name, text_of(member(center, "facts"), name));
    }
    return render_details(details, table_style(session));
}

std::string path_of(const NameOptions& options)
{
    return "/centers/" + path_segment(options.name);
}

Outcome list_centers(Session& session, const ListOptions& options)
{
    return print_list(session,
                      {.path = "/centers",
                       .query = {},
                       .table = centers_table,
                       .when_empty = "No centers yet; `fathom enrolment-token create --center NAME` lets one join."},
                      options);
}

Outcome show_center(Session& session, const NameOptions& options)
{
    const Result<Json> center = session.get(path_of(options));
    const Result<Json> resources =
        center && !session.wants_json() ? session.get(path_of(options) + "/resources") : Result<Json>(Json());
    return print_answer(session, center, [&](const Json& answer) {
        return center_text(session, answer, resources ? *resources : Json());
    });
}

struct DrainOptions : NameOptions {
    std::string reason;
};

Outcome set_drained(Session& session, const NameOptions& options, const Json& change, const std::string& effect)
{
    return print_answer(session, session.patch(path_of(options), change), [&](const Json& center) {
        return "Center " + text_of(center, "name", options.name) + " " + effect + "\n";
    });
}

Outcome set_center(Session& session, const SetOptions& options)
{
    return print_answer(session, session.patch(path_of({options.name}), {{"probe_share", options.probe_share}}),
                        [&](const Json& center) {
                            return "Center " + text_of(center, "name", options.name) + ": " + budget_of(center) + "\n";
                        });
}

Outcome drain_center(Session& session, const DrainOptions& options)
{
    Json change = {{"drained", true}};
    if (!options.reason.empty()) change["drain_reason"] = options.reason;
    return set_drained(session, options, change, "takes no new jobs; running ones go on.");
}

Outcome resume_center(Session& session, const NameOptions& options)
{
    return set_drained(session, options, {{"drained", false}}, "takes jobs again.");
}

Outcome revoke_center(Session& session, const NameOptions& options)
{
    return print_answer(session, session.post(path_of(options) + ":revoke", Json()), [&](const Json& center) {
        return "Center " + text_of(center, "name", options.name) +
               " is revoked: its certificate is refused from now on. "
               "To let it join again: fathom enrolment-token create --center " +
               options.name + "\n";
    });
}

Outcome release_center(Session& session, const NameOptions& options)
{
    return print_answer(session, session.post(path_of(options) + ":release", Json()), [&](const Json& center) {
        const std::string name = text_of(center, "name", options.name);
        return "Center " + name + " is not quarantined" +
               (is_true(center, "drained") ? ", but drained: fathom center resume " + name : ": it takes jobs") + ".\n";
    });
}

void add_named(CLI::App& center, Invocation& invocation, const std::string& verb, const std::string& description,
               Outcome (*action)(Session&, const NameOptions&))
{
    add_named_verb(center, invocation, {verb, description, "fathom center " + verb + " alpha"},
                   {"CENTER", "Name or id of the center"}, action);
}

} // namespace

void add_center_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& center = add_noun(app, "center", "Computing centers that take jobs");
    add_list_verb(center, invocation, "Every center and its state", "fathom center list", list_centers);
    add_named(center, invocation, "show", "All that is known of one center", show_center);
    auto drain_options = std::make_shared<DrainOptions>();
    CLI::App& drain = add_verb(center, "drain", "Give it no new jobs; running ones go on",
                               "fathom center drain alpha --reason \"new kernel, back at 18:00\"");
    add_required(drain, "CENTER", drain_options->name, "Name or id of the center");
    drain.add_option("--reason", drain_options->reason, "Why: told to those whose jobs wait for it");
    on_chosen(drain, invocation, std::move(drain_options), drain_center);
    add_named(center, invocation, "resume", "Give it jobs again after a drain", resume_center);
    add_named(center, invocation, "release",
              "Give it jobs again though it failed too many: it is no longer quarantined", release_center);
    add_named(center, invocation, "revoke", "Refuse its certificate for ever; to join again it must enrol anew",
              revoke_center);
    auto set_options = std::make_shared<SetOptions>();
    CLI::App& set = add_verb(center, "set", "Change its settings", "fathom center set alpha --probe-share 0.002");
    add_required(set, "CENTER", set_options->name, "Name or id of the center");
    set.add_option("--probe-share", set_options->probe_share,
                   "Of its unit-seconds of 30 days, what probes may use at most: 0 to 1 (0.001 unless set)")
        ->required()
        ->check(CLI::Range(0.0, 1.0));
    on_chosen(set, invocation, std::move(set_options), set_center);
    add_center_resource_commands(center, invocation);
    add_enrolment_token_create(center, "enrol-token", invocation);
}

} // namespace fathom::cli
