#include "cli/accounts/token.hpp"

#include "cli/client/json_view.hpp"
#include "cli/client/role_option.hpp"

#include <ostream>

namespace fathom::cli {
namespace {

struct CreateOptions {
    std::string name;
    std::string role;
    std::optional<std::int64_t> valid_s;
    std::string output_file;
};

Outcome create_token(Session& session, const CreateOptions& options)
{
    Json body{{"name", options.name}, {"role", options.role}};
    if (options.valid_s) body["valid_s"] = *options.valid_s;
    const Result<Json> answer = session.post("/tokens", body);
    if (!answer) return answer.error();
    const Outcome delivered = deliver_secret(session, *answer, options.output_file);
    if (!delivered || session.wants_json()) return delivered;
    const std::string expires = age_of(*answer, "expires_at", session.now());
    say(session, "Token " + text_of(*answer, "id") + " of " + options.name + " (" + options.role + ")" +
                     (expires == "-" ? "" : " expires " + expires) +
                     (options.output_file.empty()
                          ? "; it is shown this once."
                          : " is in " + options.output_file + "; use it with FATHOM_TOKEN_FILE or --token-file."));
    return delivered;
}

Table tokens_table(const Json& tokens, Timestamp now)
{
    Table table({{"ID"},
                 {"NAME"},
                 {"ROLE"},
                 {"STATE"},
                 {"CREATED", Align::kRight, 2},
                 {"EXPIRES", Align::kRight, 1},
                 {"CREATED BY", Align::kLeft, 3}});
    for (const Json& token : tokens) {
        const std::optional<Timestamp> expires = time_of(token, "expires_at");
        Cell state("valid", Tone::kGood);
        if (expires && *expires <= now) state = Cell("expired", Tone::kFaint);
        if (!member(token, "revoked_at").is_null()) state = Cell("revoked", Tone::kFaint);
        table.add_row({text_of(token, "id"), text_of(token, "name"), text_of(token, "role"), state,
                       age_of(token, "created_at", now), age_of(token, "expires_at", now),
                       text_of(token, "created_by")});
    }
    return table;
}

Outcome list_tokens(Session& session, const ListOptions& options)
{
    return print_list(session, {.path = "/tokens", .query = {}, .table = tokens_table, .when_empty = "No tokens."},
                      options);
}

Outcome revoke_token(Session& session, const NameOptions& options)
{
    const Result<Json> answer = session.remove("/tokens/" + path_segment(options.name));
    if (!answer) return answer.error();
    if (!session.wants_json()) *session.console().out << "Token " << options.name << " is refused from now on.\n";
    return ExitCode::kOk;
}

} // namespace

void add_token_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "token", "API tokens: who may use this server");
    auto create_options = std::make_shared<CreateOptions>();
    CLI::App& create = add_verb(noun, "create", "A token for a person or a program",
                                "fathom token create --name ada --role user --output-file ada.token");
    create.add_option("--name", create_options->name, "Whose token it is")->required();
    add_role_option(create, create_options->role)->required();
    create.add_option("--valid-s", create_options->valid_s, "Seconds until it expires (default: never)")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{3'153'600'000}));
    create.add_option("--output-file", create_options->output_file,
                      "Write the token there, readable by you only, and not to the terminal");
    on_chosen(create, invocation, std::move(create_options), create_token);

    add_list_verb(noun, invocation, "Every token, without its secret", "fathom token list", list_tokens);

    add_named_verb(noun, invocation,
                   {"revoke", "Refuse a token from now on", "fathom token revoke tok_01JD0000000000000000000000"},
                   {"ID", "The token's id, as `fathom token list` shows it"}, revoke_token);
}

} // namespace fathom::cli
