#include "cli/command_line.hpp"
#include "cli/format_units.hpp"
#include "cli/input_file.hpp"
#include "cli/json_view.hpp"
#include "core/decide/score.hpp"

namespace fathom::cli {
namespace {

/// `ID` or `ID@VERSION`.
struct PolicyName {
    std::string id;
    std::optional<std::int64_t> version;
};

Result<PolicyName> parse_policy_name(const std::string& text)
{
    const std::size_t at = text.find('@');
    PolicyName name{text.substr(0, at), std::nullopt};
    if (at == std::string::npos) return name;
    const std::string digits = text.substr(at + 1);
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
        return Error{Errc::kInvalid, "\"" + text + "\": after @ stands the version, a number"};
    name.version = std::stoll(digits);
    return name;
}

std::string name_of(const Json& policy)
{
    return text_of(policy, "id") + "@" + text_of(policy, "version");
}

Table policies_table(const Json& policies, Timestamp now)
{
    Table table({{"POLICY"},
                 {"ACTIVE"},
                 {"KIND", Align::kLeft, 1},
                 {"DESCRIPTION", Align::kLeft, 2, true},
                 {"CREATED", Align::kRight, 3}});
    for (const Json& policy : policies) {
        const Json& document = member(policy, "document");
        table.add_row({name_of(policy), is_true(policy, "active") ? Cell("active", Tone::kGood) : Cell(""),
                       text_of(document, "kind"), first_sentence_of(document, "description"),
                       age_of(policy, "created_at", now)});
    }
    return table;
}

std::string policy_text(Session& session, const Json& policy)
{
    return render_details(
               {{"Policy", name_of(policy)},
                {"Active", is_true(policy, "active") ? "yes" : "no"},
                {"Created", age_of(policy, "created_at", session.now()) + " by " + text_of(policy, "created_by")}},
               table_style(session)) +
           "\n" + member(policy, "document").dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Outcome list_policies(Session& session, const ListOptions& options)
{
    return print_list(
        session,
        {.path = "/metric-policies", .query = {}, .table = policies_table, .when_empty = "No metric policies."},
        options);
}

Outcome show_policy(Session& session, const NameOptions& options)
{
    const Result<PolicyName> name = parse_policy_name(options.name);
    if (!name) return name.error();
    const Query query{{"version", name->version ? std::to_string(*name->version) : ""}};
    return print_answer(session, session.get("/metric-policies/" + path_segment(name->id), query),
                        [&](const Json& policy) { return policy_text(session, policy); });
}

Outcome create_policy(Session& session, const NameOptions& options)
{
    const Result<Json> document = read_input_file(options.name, session.console());
    if (!document) return document.error();
    if (const Result<MetricPolicy> policy = parse_metric_policy(*document); !policy)
        return in_file(options.name, policy.error());
    return print_answer(session, session.post("/metric-policies", {{"document", *document}}), [](const Json& policy) {
        return "Created " + name_of(policy) + "; `fathom policy activate " + name_of(policy) +
               "` makes scores use it.\n";
    });
}

Outcome activate_policy(Session& session, const NameOptions& options)
{
    const Result<PolicyName> name = parse_policy_name(options.name);
    if (!name) return name.error();
    Json body = Json::object();
    if (name->version) body["version"] = *name->version;
    return print_answer(session, session.post("/metric-policies/" + path_segment(name->id) + ":activate", body),
                        [](const Json& policy) { return "Scores use " + name_of(policy) + " now.\n"; });
}

} // namespace

void add_policy_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "policy", "Metric policies: how measurements become scores");
    auto list_options = std::make_shared<ListOptions>();
    CLI::App& list = add_verb(noun, "list", "Every policy and which one is active", "fathom policy list");
    add_list_options(list, *list_options);
    on_chosen(list, invocation, std::move(list_options), list_policies);

    const auto add_named = [&](const std::string& verb, const std::string& description, const std::string& argument,
                               const std::string& meaning, const std::string& example, auto action) {
        auto options = std::make_shared<NameOptions>();
        CLI::App& command = add_verb(noun, verb, description, "fathom policy " + verb + " " + example);
        add_required(command, argument, options->name, meaning);
        on_chosen(command, invocation, std::move(options), action);
    };
    add_named("show", "One policy with its document", "POLICY", "ID, or ID@VERSION", "relative-v1", show_policy);
    add_named("create", "A new policy, or the next version of one", "FILE", "YAML or JSON file, - for standard input",
              "policy.yaml", create_policy);
    add_named("activate", "Make scores use this policy", "POLICY", "ID (its newest version), or ID@VERSION",
              "relative-v1@2", activate_policy);
}

} // namespace fathom::cli
