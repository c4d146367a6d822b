#include "cli/centers/sub_unit.hpp"
#include "cli/centers/unit_balance.hpp"
#include "cli/client/json_view.hpp"

namespace fathom::cli {
namespace {

struct SubUnitOptions {
    std::string center;
    std::string kind;
    std::int64_t count = 0;
    double transfer_load = 0;
    double compute_load = 0;
    std::string reason;
};

std::string request_text(const Json& request)
{
    const std::string id = text_of(request, "id");
    return "Request " + id + ": " + text_of(request, "center") +
           (text_of(request, "action") == "gain" ? " is to gain " : " is to give up ") + count_of(request, "count") +
           " of kind " + text_of(request, "kind") + "; it is " + text_of(request, "state") +
           ". `fathom unit requests --all` shows what becomes of it.\n";
}

Outcome ask(Session& session, const SubUnitOptions& options, const std::string& action)
{
    Json body{{"center", options.center}, {"kind", options.kind}, {"action", action}};
    if (action == "balance") {
        body["transfer_load"] = options.transfer_load;
        body["compute_load"] = options.compute_load;
    } else {
        body["count"] = options.count;
    }
    if (!options.reason.empty()) body["reason"] = options.reason;
    return print_answer(session, session.post("/sub-unit-requests", body), request_text);
}

Outcome gain_sub_units(Session& session, const SubUnitOptions& options)
{
    return ask(session, options, "gain");
}

Outcome release_sub_units(Session& session, const SubUnitOptions& options)
{
    return ask(session, options, "release");
}

/// The one command shows what a unit's loop does, or asks for what one would.
struct BalanceOptions : SubUnitOptions {
    BalanceView view;
};

Outcome balance(Session& session, const BalanceOptions& options)
{
    if (!options.view.unit.empty()) return show_balance(session, options.view);
    if (!options.center.empty()) return ask(session, options, "balance");
    return Error{Errc::kInvalid, "name the unit that is balanced, CENTER/UNIT, or ask for sub-units with --center, "
                                 "--kind, --transfer and --compute"};
}

Outcome cancel_request(Session& session, const NameOptions& options)
{
    return print_answer(session, session.remove("/sub-unit-requests/" + path_segment(options.name)),
                        [](const Json& request) {
                            return "Request " + text_of(request, "id") + " is " + text_of(request, "state") + ".\n";
                        });
}

Outcome undo_grant(Session& session, const NameOptions& options)
{
    return print_answer(session,
                        session.post("/sub-unit-grants/" + path_segment(options.name) + ":undo", Json::object()),
                        request_text);
}

std::shared_ptr<SubUnitOptions> add_place(CLI::App& verb)
{
    auto options = std::make_shared<SubUnitOptions>();
    verb.add_option("--center", options->center, "The center's name or id")->required();
    verb.add_option("--kind", options->kind, "Kind of sub-unit")->required();
    verb.add_option("--reason", options->reason, "Why, for people");
    return options;
}

/// The options with which a center asks for sub-units: all or none.
void add_balance_request(CLI::App& verb, SubUnitOptions& options)
{
    CLI::Option* const center = verb.add_option("--center", options.center, "The center's name or id");
    CLI::Option* const kind = verb.add_option("--kind", options.kind, "Kind of sub-unit");
    CLI::Option* const transfer =
        verb.add_option("--transfer", options.transfer_load, "How busy the link to its units is, 0 to 1");
    CLI::Option* const compute =
        verb.add_option("--compute", options.compute_load, "How busy its units compute, 0 to 1");
    verb.add_option("--reason", options.reason, "Why, for people")->needs(center);
    for (CLI::Option* const one : {center, kind, transfer, compute})
        one->needs(center)->needs(kind)->needs(transfer)->needs(compute);
    for (CLI::Option* const one : {center, kind, transfer, compute})
        one->group("To ask for sub-units: count × compute / transfer");
}

void add_balance(CLI::App& noun, Invocation& invocation)
{
    CLI::App& verb =
        add_verb(noun, "balance",
                 "What the loop that balances a unit's transfer and compute does; or have a center ask for the "
                 "sub-units that its loads ask for",
                 "fathom unit balance alpha/gpu0 --follow\n"
                 "  fathom unit balance --center alpha --kind vgpu --transfer 0.5 --compute 1.0");
    auto options = std::make_shared<BalanceOptions>();
    CLI::Option* const unit =
        verb.add_option("unit", options->view.unit, "CENTER/UNIT, as the center's settings name the unit");
    verb.add_flag("--follow", options->view.follows, "Go on with each new step until Ctrl-C")->needs(unit);
    verb.add_option("--last", options->view.last, "How many steps of the past")
        ->needs(unit)
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    verb.add_option("--since", options->view.since, "Only steps from then on: 2026-11-20T11:00:00Z")->needs(unit);
    add_balance_request(verb, *options);
    on_chosen(verb, invocation, std::move(options), balance);
}

} // namespace

void add_sub_unit_changes(CLI::App& noun, Invocation& invocation)
{
    CLI::App& request = add_verb(noun, "request", "Have a center gain sub-units that others give up",
                                 "fathom unit request --center beta --kind vgpu --count 100");
    auto gained = add_place(request);
    request.add_option("--count", gained->count, "How many")->required();
    on_chosen(request, invocation, std::move(gained), gain_sub_units);

    CLI::App& release = add_verb(noun, "release", "Have a center give up sub-units, once no job runs on them",
                                 "fathom unit release --center alpha --kind vgpu --count 50");
    auto released = add_place(release);
    release.add_option("--count", released->count, "How many")->required();
    on_chosen(release, invocation, std::move(released), release_sub_units);
    add_balance(noun, invocation);

    add_named_verb(noun, invocation,
                   {"cancel", "Call a request for sub-units off", "fathom unit cancel sur_01K8Z6W1E7J8Q2V3X4Y5Z6A7B8"},
                   {"ID", "The request's id"}, cancel_request);

    add_named_verb(noun, invocation,
                   {"undo", "Have granted sub-units go back to where they came from",
                    "fathom unit undo sug_01K8Z6W1E7J8Q2V3X4Y5Z6A7B8"},
                   {"ID", "The grant's id"}, undo_grant);
}

} // namespace fathom::cli
