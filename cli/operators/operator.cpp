#include "cli/operators/operator.hpp"

#include "cli/client/json_view.hpp"
#include "cli/operators/operator_change.hpp"
#include "cli/operators/operator_diversity.hpp"
#include "cli/operators/operator_key.hpp"
#include "cli/operators/operator_package.hpp"
#include "cli/operators/operator_review.hpp"
#include "cli/text/format_units.hpp"

namespace fathom::cli {
namespace {

struct VersionsOptions {
    std::string id;
    ListOptions list;
};

struct ShowOptions {
    std::string id;
    std::optional<std::int64_t> version;
};

/// `m=512,n=512`: the size that is used unless another is asked for.
std::string default_size(const Json& manifest)
{
    std::string text;
    for (const Json& parameter : items_of(manifest, "parameters"))
        text += (text.empty() ? "" : ",") + text_of(parameter, "name") + "=" + text_of(parameter, "default");
    return text.empty() ? "-" : text;
}

std::string resources_of(const Json& manifest)
{
    std::string text;
    for (const Json& one : items_of(manifest, "implementations")) {
        text += (text.empty() ? "" : ", ") + text_of(one, "resource_type") + " (" + text_of(one, "library") + ")";
    }
    return text.empty() ? "-" : text;
}

/// Where a version came from, or that it is withdrawn.
Cell origin_of(const Json& version)
{
    if (!member(version, "withdrawn_at").is_null()) return {"withdrawn", Tone::kFaint};
    const std::string origin = text_of(version, "origin");
    return origin == "built_in" ? "release" : Cell(origin);
}

Table operators_table(const Json& operators, Timestamp)
{
    Table table({{"OPERATOR"},
                 {"VERSION", Align::kRight, 2},
                 {"CATEGORY"},
                 {"PRECISION", Align::kLeft, 1},
                 {"DEFAULT SIZE", Align::kLeft, 3},
                 {"RUNS ON", Align::kLeft, 4},
                 {"FROM", Align::kLeft, 5},
                 {"DESCRIPTION", Align::kLeft, 0, true}});
    for (const Json& one : operators) {
        table.add_row({text_of(one, "id"), count_of(one, "version"), text_of(one, "category"),
                       text_of(one, "precision"), default_size(one), resources_of(one), origin_of(one),
                       first_sentence_of(one, "description")});
    }
    return table;
}

Table versions_table(const Json& versions, Timestamp now)
{
    Table table({{"VERSION", Align::kRight},
                 {"FROM"},
                 {"CREATED", Align::kRight, 1},
                 {"CREATED BY", Align::kLeft, 2},
                 {"SIGNED BY", Align::kLeft, 3},
                 {"DESCRIPTION", Align::kLeft, 4, true}});
    for (const Json& one : versions) {
        table.add_row({count_of(one, "version"), origin_of(one), age_of(one, "created_at", now),
                       text_of(one, "created_by"), text_of(one, "key_id"), first_sentence_of(one, "description")});
    }
    return table;
}

std::string operator_text(Session& session, const Json& manifest)
{
    const TableStyle style = table_style(session);
    std::vector<std::pair<std::string, Cell>> details{
        {"Operator", text_of(manifest, "id")},
        {"Version", count_of(manifest, "version")},
        {"Description", text_of(manifest, "description")},
        {"Category", text_of(manifest, "category")},
        {"Precision", text_of(manifest, "precision")},
        {"Tolerance", text_of(manifest, "tolerance")},
        {"Operations", text_of(manifest, "operation_count")},
        {"Bytes", text_of(manifest, "byte_count")},
        {"Truth", text_of(manifest, "truth")},
        {"Inputs", joined_texts(manifest, "inputs")},
        {"Outputs", joined_texts(manifest, "outputs")},
        {"Runs on", resources_of(manifest)},
        {"Recognised by", joined_texts(member(manifest, "signature"), "symbols")},
        {"From", origin_of(manifest)},
        {"Since", age_of(manifest, "created_at", session.now()) + " by " + text_of(manifest, "created_by")}};
    if (!member(manifest, "withdrawn_at").is_null()) {
        details.emplace_back("Withdrawn", age_of(manifest, "withdrawn_at", session.now()) + " by " +
                                              text_of(manifest, "withdrawn_by"));
    }
    if (!member(manifest, "key_id").is_null()) {
        details.emplace_back("Signed by", "key " + text_of(manifest, "key_id"));
        details.emplace_back("Object", count_of(manifest, "object_bytes") + " bytes, SHA-256 " +
                                           text_of(manifest, "object_sha256"));
    }
    std::string text = render_details(details, style);
    Table table({{"PARAMETER"},
                 {"DEFAULT", Align::kRight},
                 {"MIN", Align::kRight},
                 {"MAX", Align::kRight},
                 {"DESCRIPTION", Align::kLeft, 1, true}});
    for (const Json& one : items_of(manifest, "parameters")) {
        table.add_row({text_of(one, "name"), count_of(one, "default"), count_of(one, "min"), count_of(one, "max"),
                       text_of(one, "description")});
    }
    if (!table.empty()) text += "\n" + table.render(style);
    Table classes({{"SIZE CLASS"}, {"SIZE"}});
    for (const Json& one : items_of(manifest, "size_classes"))
        classes.add_row({text_of(one, "name"), parameters_of(one, "parameters")});
    if (!classes.empty()) text += "\n" + classes.render(style);
    return text;
}

Outcome list_operators(Session& session, const ListOptions& options)
{
    return print_list(
        session,
        {.path = "/operators", .query = {}, .table = operators_table, .when_empty = "The library has no operators."},
        options);
}

Outcome show_operator(Session& session, const ShowOptions& options)
{
    const Query query{{"version", options.version ? std::to_string(*options.version) : ""}};
    return print_answer(session, session.get("/operators/" + path_segment(options.id), query),
                        [&](const Json& manifest) { return operator_text(session, manifest); });
}

Outcome list_versions(Session& session, const VersionsOptions& options)
{
    return print_list(session,
                      {.path = "/operators/" + path_segment(options.id) + "/versions",
                       .query = {},
                       .table = versions_table,
                       .when_empty = "No versions."},
                      options.list);
}

} // namespace

void add_operator_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "operator", "Probe operators: the computations that are measured");
    add_list_verb(noun, invocation, "The library of operators", "fathom operator list", list_operators);

    auto show_options = std::make_shared<ShowOptions>();
    CLI::App& show = add_verb(noun, "show", "One operator with its parameters", "fathom operator show dgemm");
    add_required(show, "ID", show_options->id, "The operator's id");
    show.add_option("--version", show_options->version, "Which version (default: the one in use)");
    on_chosen(show, invocation, std::move(show_options), show_operator);

    auto versions_options = std::make_shared<VersionsOptions>();
    CLI::App& versions =
        add_verb(noun, "versions", "Every version of an operator, newest first", "fathom operator versions dgemm");
    add_required(versions, "ID", versions_options->id, "The operator's id");
    add_list_options(versions, versions_options->list);
    on_chosen(versions, invocation, std::move(versions_options), list_versions);

    add_operator_diversity(noun, invocation);
    add_operator_change_commands(noun, invocation);
    add_operator_package_commands(noun, invocation);
    add_operator_review_commands(noun, invocation);
    add_operator_key_commands(noun, invocation);
}

} // namespace fathom::cli
