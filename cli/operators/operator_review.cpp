#include "cli/operators/operator_review.hpp"

#include "cli/client/json_view.hpp"
#include "core/base/file.hpp"

namespace fathom::cli {
namespace {

struct ReviewListOptions {
    std::string state;
    ListOptions list;
};

struct RejectOptions {
    std::string id;
    std::string reason;
};

struct PackageOptions {
    std::string id;
    std::string output_file;
};

std::string review_path(const std::string& id, const std::string& rest)
{
    return "/operator-reviews/" + path_segment(id) + rest;
}

std::string name_of(const Json& review)
{
    return text_of(review, "operator") + " version " + text_of(review, "version");
}

Cell state_of(const Json& review)
{
    const std::string state = text_of(review, "state");
    if (state == "awaiting_review") return {"awaiting review", Tone::kPending};
    return state == "approved" ? Cell(state, Tone::kGood) : Cell(state, Tone::kFaint);
}

/// What the sandbox would allow it.
std::string allowed(const Json& review)
{
    const Json& sandbox = member(member(review, "manifest"), "sandbox");
    return member(sandbox, "network") == Json(true) ? "network" : "-";
}

Table reviews_table(const Json& reviews, Timestamp now)
{
    Table table({{"ID"},
                 {"OPERATOR"},
                 {"VERSION", Align::kRight},
                 {"CENTER"},
                 {"STATE"},
                 {"SUBMITTED", Align::kRight, 1},
                 {"BY", Align::kLeft, 2},
                 {"SIGNED BY", Align::kLeft, 4},
                 {"MAY USE", Align::kLeft, 3},
                 {"REASON", Align::kLeft, 0, true}});
    for (const Json& one : reviews) {
        table.add_row({text_of(one, "id"), text_of(one, "operator"), count_of(one, "version"), text_of(one, "center"),
                       state_of(one), age_of(one, "submitted_at", now), text_of(one, "submitted_by"),
                       text_of(one, "key_id"), allowed(one), text_of(one, "reason")});
    }
    return table;
}

Outcome list_reviews(Session& session, const ReviewListOptions& options)
{
    return print_list(session,
                      {.path = "/operator-reviews",
                       .query = {{"state", options.state}},
                       .table = reviews_table,
                       .when_empty = "No operators of centers; `fathom operator submit` submits one."},
                      options.list);
}

Outcome approve_review(Session& session, const NameOptions& options)
{
    return print_answer(session, session.post(review_path(options.name, ":approve"), Json()), [](const Json& review) {
        return name_of(review) + " of " + text_of(review, "center") +
               " is in the library now, and runs where a center trusts key " + text_of(review, "key_id") + ".\n";
    });
}

Outcome reject_review(Session& session, const RejectOptions& options)
{
    const Json body{{"reason", options.reason}};
    return print_answer(session, session.post(review_path(options.id, ":reject"), body), [](const Json& review) {
        return name_of(review) + " of " + text_of(review, "center") + " is rejected.\n";
    });
}

Outcome save_package(Session& session, const PackageOptions& options)
{
    const Result<Json> package = session.get(review_path(options.id, "/package"));
    if (!package) return package.error();
    if (const Result<void> written = write_file(options.output_file, package->dump() + "\n"); !written)
        return Error{Errc::kInvalid, "cannot write " + options.output_file + ": " + written.error().detail};
    say(session, "The package is in " + options.output_file + "; do not load its object outside a sandbox.");
    return ExitCode::kOk;
}

} // namespace

void add_operator_review_commands(CLI::App& noun, Invocation& invocation)
{
    CLI::App& review = add_noun(noun, "review", "Operators that centers have submitted");
    auto list_options = std::make_shared<ReviewListOptions>();
    CLI::App& list = add_verb(review, "list", "What waits, and what was decided",
                              "fathom operator review list --state awaiting_review");
    list.add_option("--state", list_options->state, "Only these: awaiting_review, approved or rejected")
        ->check(CLI::IsMember({"awaiting_review", "approved", "rejected"}));
    add_list_options(list, list_options->list);
    on_chosen(list, invocation, std::move(list_options), list_reviews);

    auto package_options = std::make_shared<PackageOptions>();
    CLI::App& package = add_verb(review, "package", "Save the package of one that waits, to look into it",
                                 "fathom operator review package orv_01J9Z3M5T7Q8R1S2V4W6X8Y0ZA -o package.json");
    add_required(package, "ID", package_options->id, "The review's id");
    package.add_option("-o,--output-file", package_options->output_file, "Where the package goes")->required();
    on_chosen(package, invocation, std::move(package_options), save_package);

    add_named_verb(review, invocation,
                   {"approve", "Make it a version of the library",
                    "fathom operator review approve orv_01J9Z3M5T7Q8R1S2V4W6X8Y0ZA"},
                   {"ID", "The review's id"}, approve_review);

    auto reject_options = std::make_shared<RejectOptions>();
    CLI::App& reject = add_verb(
        review, "reject", "Refuse it, and say why",
        "fathom operator review reject orv_01J9Z3M5T7Q8R1S2V4W6X8Y0ZA --reason 'needs no network, but asks for it'");
    add_required(reject, "ID", reject_options->id, "The review's id");
    reject.add_option("--reason", reject_options->reason, "For whoever submitted it")->required();
    on_chosen(reject, invocation, std::move(reject_options), reject_review);
}

} // namespace fathom::cli
