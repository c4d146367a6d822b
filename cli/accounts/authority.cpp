#include "cli/accounts/authority.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"
#include "core/base/file.hpp"

#include <istream>
#include <ostream>

namespace fathom::cli {
namespace {

struct ShowAuthorityOptions {
    std::string ca_file;
};

/// Of the steps exactly one.
struct RotateOptions {
    bool begin = false;
    bool switches = false;
    bool finish = false;
    bool cancel = false;
    bool force = false;
    bool yes = false;
};

std::string step_of(const RotateOptions& options)
{
    if (options.begin) return "begin";
    if (options.switches) return "switch";
    return options.finish ? "finish" : "cancel";
}

std::string authority_text(const Json& authority, Timestamp now)
{
    return text_of(authority, "common_name") + ", ends " + age_of(authority, "not_after", now) + ", SHA-256 " +
           text_of(authority, "sha256");
}

/// Where the rotation stands, and what is next.
std::string phase_text(const Json& state)
{
    const std::string phase = text_of(state, "phase");
    const std::int64_t waits = static_cast<std::int64_t>(number_of(state, "waits_for_count").value_or(0));
    const std::string left =
        waits == 0 ? "" : "; waits for " + format_count(waits) + " of " + count_of(state, "center_count") + " centers";
    if (phase == "begun") return "begun: all are told of the next one. Next: fathom authority rotate --switch" + left;
    if (phase == "switched") return "switched: certificates are renewed. Next: fathom authority rotate --finish" + left;
    return "none. To replace the authority: fathom authority rotate --begin";
}

/// Which replicas of the server follow. An older server names none.
std::string replicas_text(Session& session, const Json& state)
{
    if (items_of(state, "replicas").empty()) return "";
    const Timestamp now = session.now();
    Table table({{"REPLICA"},
                 {"HOST"},
                 {"VERSION", Align::kLeft, 2},
                 {"STATE"},
                 {"SINCE", Align::kRight, 1},
                 {"LAST HEARD", Align::kRight}});
    for (const Json& replica : items_of(state, "replicas"))
        table.add_row({text_of(replica, "id"), text_of(replica, "host"), text_of(replica, "version"),
                       text_of(replica, "state"), age_of(replica, "trusted_since", now),
                       age_of(replica, "seen_at", now)});
    return "\n" + table.render(table_style(session));
}

std::string rotation_text(Session& session, const Json& state)
{
    const Timestamp now = session.now();
    std::vector<std::pair<std::string, Cell>> details{{"Signs", authority_text(member(state, "current"), now)}};
    if (member(state, "next").is_object()) details.emplace_back("Next", authority_text(member(state, "next"), now));
    if (member(state, "past").is_object()) details.emplace_back("Past", authority_text(member(state, "past"), now));
    details.emplace_back("Rotation", phase_text(state));
    const std::string text = render_details(details, table_style(session)) + replicas_text(session, state);
    if (items_of(state, "waits_for").empty()) return text;
    Table table({{"CENTER"}, {"LAST SEEN", Align::kRight, 1}, {"AGENT", Align::kLeft, 2}, {"WHY IT IS NOT READY"}});
    for (const Json& center : items_of(state, "waits_for"))
        table.add_row({text_of(center, "center_name"), age_of(center, "last_seen_at", now),
                       text_of(center, "agent_version"), text_of(center, "reason")});
    return text + "\n" + table.render(table_style(session));
}

Outcome show_authority(Session& session, const ShowAuthorityOptions& options)
{
    const Result<Json> state = session.get("/authority");
    if (!state) return state.error();
    if (!options.ca_file.empty()) {
        if (const Result<void> written = write_file(options.ca_file, text_of(*state, "ca_pem", "")); !written)
            return Error{Errc::kInvalid, options.ca_file + ": " + written.error().detail};
    }
    return print_answer(session, state, [&](const Json& answer) { return rotation_text(session, answer); });
}

std::string warning_of(const RotateOptions& options)
{
    const std::string forced =
        options.force ? " Centers that are not ready are cut off until they enrol again (fathom authority show)." : "";
    if (options.switches)
        return "From now on the next authority signs. Programs that trust an old ca.pem alone do not reach the server "
               "any "
               "more: give them the new one first (fathom authority show --ca-file FILE)." +
               forced;
    return "The past authority is trusted no more, and its certificates are refused. This cannot be undone." + forced;
}

/// What cannot be undone is done when its name is typed, or with --yes.
Result<void> confirm(Session& session, const RotateOptions& options)
{
    if (options.yes || options.begin || options.cancel) return {};
    const std::string step = step_of(options);
    say(session, warning_of(options));
    say(session, "Type " + step + " to go on:");
    std::string typed;
    std::getline(*session.console().in, typed);
    if (typed == step) return {};
    return Error{Errc::kInvalid, "nothing was done: " + step + " was not typed; --yes does without"};
}

Outcome rotate_authority(Session& session, const RotateOptions& options)
{
    if (options.force && (options.begin || options.cancel))
        return Error{Errc::kInvalid, "--force is for --switch and --finish"};
    if (const Result<void> confirmed = confirm(session, options); !confirmed) return confirmed.error();
    const Json order{{"step", step_of(options)}, {"force", options.force}};
    return print_answer(session, session.post("/authority:rotate", order),
                        [&](const Json& answer) { return rotation_text(session, answer); });
}

} // namespace

void add_authority_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "authority", "Which certificate authority the network trusts, and its replacement");

    auto show_options = std::make_shared<ShowAuthorityOptions>();
    CLI::App& show =
        add_verb(noun, "show", "The authority, where its rotation stands, and the centers that it waits for",
                 "fathom authority show --ca-file ca.pem");
    show.add_option("--ca-file", show_options->ca_file,
                    "Write the certificates of all that are trusted there, for FATHOM_CA and fathom-agent enrol --ca");
    on_chosen(show, invocation, std::move(show_options), show_authority);

    auto options = std::make_shared<RotateOptions>();
    CLI::App& rotate = add_verb(noun, "rotate", "One step of its replacement: --begin, then --switch, then --finish",
                                "fathom authority rotate --begin");
    CLI::Option_group& steps = *rotate.add_option_group("step", "Exactly one of them");
    steps.add_flag("--begin", options->begin, "Make a next authority; agents are told to trust it, too");
    steps.add_flag("--switch", options->switches, "Sign by the next one; all agents renew their certificates");
    steps.add_flag("--finish", options->finish, "Trust the past one no more");
    steps.add_flag("--cancel", options->cancel, "Forget the next one, before the switch");
    steps.require_option(1);
    rotate.add_flag("--force", options->force, "Though centers are not ready: they are cut off until they enrol again");
    rotate.add_flag("--yes", options->yes, "Do not ask");
    on_chosen(rotate, invocation, std::move(options), rotate_authority);
}

} // namespace fathom::cli
