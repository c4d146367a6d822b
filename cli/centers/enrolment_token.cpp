#include "cli/centers/enrolment_token.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

namespace fathom::cli {
namespace {

struct CreateOptions {
    std::string center;
    std::optional<std::int64_t> valid_s;
    std::string output_file;
};

Outcome create_enrolment_token(Session& session, const CreateOptions& options)
{
    Json body{{"center_name", options.center}};
    if (options.valid_s) body["valid_s"] = *options.valid_s;
    const Result<Json> answer = session.post("/enrolment-tokens", body);
    if (!answer) return answer.error();
    const Outcome delivered = deliver_secret(session, *answer, options.output_file);
    if (!delivered || session.wants_json()) return delivered;
    const std::string file = options.output_file.empty() ? "FILE" : options.output_file;
    say(session, "The token lets center " + options.center + " join once; it expires " +
                     age_of(*answer, "expires_at", session.now()) + ". At the center:");
    say(session, "  fathom-agent enrol --server ADDR:PORT --ca CA.PEM --token-file " + file + " --state-dir DIR");
    return delivered;
}

Table tokens_table(const Json& tokens, Timestamp now)
{
    Table table({{"ID"}, {"CENTER"}, {"CREATED", Align::kRight}, {"EXPIRES", Align::kRight}, {"USED", Align::kRight}});
    for (const Json& token : tokens) {
        table.add_row({text_of(token, "id"), text_of(token, "center_name"), age_of(token, "created_at", now),
                       age_of(token, "expires_at", now), age_of(token, "used_at", now)});
    }
    return table;
}

Outcome list_enrolment_tokens(Session& session, const ListOptions& options)
{
    return print_list(
        session,
        {.path = "/enrolment-tokens", .query = {}, .table = tokens_table, .when_empty = "No enrolment tokens."},
        options);
}

Outcome withdraw_enrolment_token(Session& session, const NameOptions& options)
{
    const Result<Json> answer = session.remove("/enrolment-tokens/" + path_segment(options.name));
    if (!answer) return answer.error();
    if (!session.wants_json()) say(session, "No center joins with " + options.name + " any more.");
    return ExitCode::kOk;
}

} // namespace

void add_enrolment_token_create(CLI::App& noun, const std::string& verb, Invocation& invocation)
{
    auto options = std::make_shared<CreateOptions>();
    CLI::App& create = add_verb(noun, verb, "A token that lets one center join, once",
                                "fathom " + noun.get_name() + " " + verb + " --center alpha --output-file alpha.token");
    create.add_option("--center", options->center, "Name of the center that may join with it")->required();
    create.add_option("--valid-s", options->valid_s, "Seconds until it expires (default 3600)")
        ->check(CLI::Range(1, 31'536'000));
    create.add_option("--output-file", options->output_file,
                      "Write the token there, readable by you only, and not to the terminal");
    on_chosen(create, invocation, std::move(options), create_enrolment_token);
}

void add_enrolment_token_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "enrolment-token", "Tokens that let centers join");
    add_enrolment_token_create(noun, "create", invocation);
    add_list_verb(noun, invocation, "Enrolment tokens, without their secrets", "fathom enrolment-token list",
                  list_enrolment_tokens);
    add_named_verb(noun, invocation,
                   {"withdraw", "Let nobody join with an unused token any more",
                    "fathom enrolment-token withdraw enr_01JD0000000000000000000000"},
                   {"ID", "The token's id, as `fathom enrolment-token list` shows it"}, withdraw_enrolment_token);
}

} // namespace fathom::cli
