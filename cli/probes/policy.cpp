#include "cli/probes/policy.hpp"

#include "cli/client/input_file.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"
#include "core/decide/scoring/metric_policy.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>

namespace fathom::cli {
namespace {

Result<PolicyReference> parse_policy_name(const std::string& text)
{
    if (const auto reference = parse_policy_reference(text)) return *reference;
    return Error{Errc::kInvalid, "\"" + text + "\" is no policy: it is named by its ID, or by ID@VERSION"};
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
    const Result<PolicyReference> name = parse_policy_name(options.name);
    if (!name) return name.error();
    const Query query{{"version", name->version > 0 ? std::to_string(name->version) : ""}};
    return print_answer(session, session.get("/metric-policies/" + path_segment(name->id), query),
                        [&](const Json& policy) { return policy_text(session, policy); });
}

/// `1 016 → 820`, or the one that there is.
std::string change_of(const Json& json, std::string_view before, std::string_view after, std::string (*format)(double))
{
    const auto text = [&](std::string_view name) {
        const std::optional<double> value = number_of(json, name);
        return value ? format(*value) : std::string("-");
    };
    return text(before) == text(after) ? text(after) : text(before) + " → " + text(after);
}

std::string format_rank(double rank)
{
    return std::to_string(static_cast<long>(rank));
}

/// `-19.3 %`; empty where one of the two is missing.
std::string difference_of(const Json& json)
{
    const double before = number_of(json, "score_before").value_or(0);
    const std::optional<double> after = number_of(json, "score_after");
    if (!(before > 0) || !after) return "";
    return (*after > before ? "+" : "") + format_percent(*after / before - 1);
}

/// What is missing afterwards, and was not before or is for another reason.
Cell missing_cell(const Json& json)
{
    const std::string missing = text_of(json, "missing_after", "");
    const bool is_lost = !missing.empty() && number_of(json, "score_before");
    return is_lost ? Cell(missing, Tone::kBad) : Cell(missing);
}

Table unit_types_table(const Json& items)
{
    Table table({{"CENTER"},
                 {"UNIT TYPE"},
                 {"SCORE", Align::kRight},
                 {"CHANGE", Align::kRight, 2},
                 {"RANK", Align::kRight},
                 {"WHY THERE IS NONE", Align::kLeft, 1, true}});
    for (const Json& item : items) {
        table.add_row({text_of(item, "center"), text_of(item, "unit_type"),
                       change_of(item, "score_before", "score_after", format_number), difference_of(item),
                       change_of(item, "rank_before", "rank_after", format_rank), missing_cell(item)});
    }
    return table;
}

Table operators_table(const Json& items)
{
    Table table({{"OPERATOR"},
                 {"SIZE", Align::kLeft, 3, true},
                 {"CENTER"},
                 {"UNIT TYPE"},
                 {"SCORE", Align::kRight},
                 {"CHANGE", Align::kRight, 2},
                 {"RANK", Align::kRight},
                 {"WHY THERE IS NONE", Align::kLeft, 1, true}});
    std::vector<const Json*> order;
    for (const Json& item : items)
        order.push_back(&item);
    const auto key_of = [](const Json& item) {
        return std::tuple(text_of(item, "operator"), parameters_of(item, "parameters"),
                          number_of(item, "rank_after").value_or(1e9));
    };
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return std::tuple(key_of(*a), a) < std::tuple(key_of(*b), b); });
    for (const Json* const item : order) {
        table.add_row({text_of(*item, "operator"), parameters_of(*item, "parameters"), text_of(*item, "center"),
                       text_of(*item, "unit_type"), change_of(*item, "score_before", "score_after", format_number),
                       difference_of(*item), change_of(*item, "rank_before", "rank_after", format_rank),
                       missing_cell(*item)});
    }
    return table;
}

std::string changes_text(Session& session, const Json& items, const std::string& before, const std::string& after)
{
    if (items.empty()) return "No unit types.\n";
    return "Unit types under " + before + " → " + after + "\n" + unit_types_table(items).render(table_style(session));
}

std::string trial_text(Session& session, const Json& trial)
{
    const Json& unit_types = items_of(trial, "unit_types");
    std::string text = changes_text(session, unit_types, text_of(trial, "active_policy"), text_of(trial, "policy"));
    const Json& operators = items_of(trial, "operators");
    if (!operators.empty())
        text += "\nMeasurements on one unit\n" + operators_table(operators).render(table_style(session));
    const double count = number_of(trial, "unit_type_count").value_or(0);
    if (count > static_cast<double>(unit_types.size()))
        text += "\nOf " + count_of(trial, "unit_type_count") + " unit types the first " +
                std::to_string(unit_types.size()) + " were compared.\n";
    return text;
}

/// The document of a file, checked here for faults that need no server.
Result<Json> read_policy_file(const std::string& path, const Console& console)
{
    Result<Json> document = read_input_file(path, console);
    if (!document) return document.error();
    if (const Result<MetricPolicy> policy = parse_metric_policy(*document); !policy)
        return in_file(path, policy.error());
    return document;
}

Outcome add_policy(Session& session, const NameOptions& options)
{
    const Result<Json> document = read_policy_file(options.name, session.console());
    if (!document) return document.error();
    return print_answer(session, session.post("/metric-policies", {{"document", *document}}), [](const Json& policy) {
        const std::string name = name_of(policy);
        return "Added " + name + "; `fathom policy try " + name + "` shows what it would change, `fathom policy " +
               "activate " + name + "` makes scores use it.\n";
    });
}

Outcome try_policy(Session& session, const NameOptions& options)
{
    std::error_code ignored;
    const bool is_file = options.name == "-" || std::filesystem::exists(options.name, ignored);
    Json body = Json::object();
    if (is_file) {
        const Result<Json> document = read_policy_file(options.name, session.console());
        if (!document) return document.error();
        body["document"] = *document;
    } else {
        if (const Result<PolicyReference> name = parse_policy_name(options.name); !name)
            return Error{Errc::kInvalid, options.name + " is neither a file nor a policy's ID or ID@VERSION"};
        body["policy"] = options.name;
    }
    return print_answer(session, session.post("/metric-policies:try", body),
                        [&](const Json& trial) { return trial_text(session, trial); });
}

Outcome activate_policy(Session& session, const NameOptions& options)
{
    const Result<PolicyReference> name = parse_policy_name(options.name);
    if (!name) return name.error();
    Json body = Json::object();
    if (name->version > 0) body["version"] = name->version;
    return print_answer(session, session.post("/metric-policies/" + path_segment(name->id) + ":activate", body),
                        [&](const Json& policy) {
                            return "Scores use " + name_of(policy) + " now.\n" +
                                   changes_text(session, items_of(policy, "unit_types"),
                                                text_of(policy, "replaced_policy"), name_of(policy));
                        });
}

} // namespace

void add_policy_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "policy", "Metric policies: how measurements become scores");
    add_list_verb(noun, invocation, "Every policy and which one is active", "fathom policy list", list_policies);

    const auto add_named = [&](const std::string& verb, const std::string& description, const std::string& argument,
                               const std::string& meaning, const std::string& example, auto action) {
        auto options = std::make_shared<NameOptions>();
        CLI::App& command = add_verb(noun, verb, description, "fathom policy " + verb + " " + example);
        add_required(command, argument, options->name, meaning);
        on_chosen(command, invocation, std::move(options), action);
    };
    add_named("show", "One policy with its document", "POLICY", "ID, or ID@VERSION", "relative-v1", show_policy);
    add_named("add", "A new policy, or the next version of one", "FILE", "YAML or JSON file, - for standard input",
              "policy.yaml", add_policy);
    add_named("try", "What a policy would change: scores and ranks on stored results beside the active policy's",
              "FILE|POLICY", "YAML or JSON file, - for standard input; or ID or ID@VERSION of a stored policy",
              "policy.yaml", try_policy);
    add_named("activate", "Make scores use this policy", "POLICY", "ID (its newest version), or ID@VERSION",
              "relative-v1@2", activate_policy);
}

} // namespace fathom::cli
