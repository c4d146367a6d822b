#include "cli/command_line.hpp"
#include "cli/format_units.hpp"
#include "cli/json_view.hpp"

namespace fathom::cli {
namespace {

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

Table operators_table(const Json& operators, Timestamp)
{
    Table table({{"OPERATOR"},
                 {"VERSION", Align::kRight, 2},
                 {"CATEGORY"},
                 {"PRECISION", Align::kLeft, 1},
                 {"DEFAULT SIZE", Align::kLeft, 3},
                 {"RUNS ON", Align::kLeft, 4},
                 {"DESCRIPTION", Align::kLeft, 0, true}});
    for (const Json& one : operators) {
        table.add_row({text_of(one, "id"), count_of(one, "version"), text_of(one, "category"),
                       text_of(one, "precision"), default_size(one), resources_of(one),
                       first_sentence_of(one, "description")});
    }
    return table;
}

std::string operator_text(Session& session, const Json& manifest)
{
    const TableStyle style = table_style(session);
    std::string text = render_details({{"Operator", text_of(manifest, "id")},
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
                                       {"Since", age_of(manifest, "created_at", session.now())}},
                                      style);
    Table table({{"PARAMETER"},
                 {"DEFAULT", Align::kRight},
                 {"MIN", Align::kRight},
                 {"MAX", Align::kRight},
                 {"DESCRIPTION", Align::kLeft, 1, true}});
    for (const Json& one : items_of(manifest, "parameters")) {
        table.add_row({text_of(one, "name"), count_of(one, "default"), count_of(one, "min"), count_of(one, "max"),
                       text_of(one, "description")});
    }
    return table.empty() ? text : text + "\n" + table.render(style);
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

} // namespace

void add_operator_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "operator", "Probe operators: the computations that are measured");
    auto list_options = std::make_shared<ListOptions>();
    CLI::App& list = add_verb(noun, "list", "The library of operators", "fathom operator list");
    add_list_options(list, *list_options);
    on_chosen(list, invocation, std::move(list_options), list_operators);

    auto show_options = std::make_shared<ShowOptions>();
    CLI::App& show = add_verb(noun, "show", "One operator with its parameters", "fathom operator show dgemm");
    add_required(show, "ID", show_options->id, "The operator's id");
    show.add_option("--version", show_options->version, "Which version (default: the newest)");
    on_chosen(show, invocation, std::move(show_options), show_operator);
}

} // namespace fathom::cli
