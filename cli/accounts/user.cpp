#include "cli/accounts/user.hpp"

#include "cli/client/json_view.hpp"
#include "cli/client/role_option.hpp"
#include "core/base/file.hpp"
#include "core/base/secret.hpp"

#include <ostream>

namespace fathom::cli {
namespace {

constexpr std::size_t kMaxPasswordLength = 256;

/// Where the password comes from, and where one that is made here goes.
struct PasswordOptions {
    std::string password_file;
    std::string output_file;
};

struct CreateUserOptions {
    std::string name;
    std::string role;
    PasswordOptions password;
};

struct ChangeUserOptions {
    std::string name;
    std::string role;
    bool new_password = false;
    PasswordOptions password;
};

/// The first line of the file; or a new one, if there is no file.
Result<std::string> password_from(const PasswordOptions& options)
{
    if (options.password_file.empty()) return new_secret("");
    Result<std::string> text = read_file(options.password_file, kMaxPasswordLength + 2);
    if (!text) return Error{Errc::kInvalid, options.password_file + ": " + text.error().detail};
    text->resize(std::min(text->find_first_of("\r\n"), text->size()));
    return text;
}

/// Gives the password, when it was made here, to whoever called.
Outcome deliver(Session& session, Json answer, const PasswordOptions& options, const std::string& password)
{
    if (!options.password_file.empty()) {
        if (session.wants_json()) print_json(session, answer);
        return ExitCode::kOk;
    }
    answer["password"] = password;
    return deliver_secret(session, std::move(answer), options.output_file, "password");
}

std::string where_password_is(const PasswordOptions& options)
{
    if (!options.password_file.empty()) return "; the password is that of " + options.password_file + ".";
    if (!options.output_file.empty()) return "; the password is in " + options.output_file + ".";
    return "; the password is shown this once.";
}

Outcome create_user(Session& session, const CreateUserOptions& options)
{
    const Result<std::string> password = password_from(options.password);
    if (!password) return password.error();
    const Json body{{"name", options.name}, {"role", options.role}, {"password", *password}};
    const Result<Json> answer = session.post("/users", body);
    if (!answer) return answer.error();
    Outcome delivered = deliver(session, *answer, options.password, *password);
    if (!delivered || session.wants_json()) return delivered;
    say(session,
        options.name + " may sign in to the console (" + options.role + ")" + where_password_is(options.password));
    return delivered;
}

Outcome change_user(Session& session, const ChangeUserOptions& options)
{
    const bool wants_password = options.new_password || !options.password.password_file.empty();
    Json body = Json::object();
    if (!options.role.empty()) body["role"] = options.role;
    std::string password;
    if (wants_password) {
        Result<std::string> found = password_from(options.password);
        if (!found) return found.error();
        password = std::move(*found);
        body["password"] = password;
    }
    if (body.empty()) return Error{Errc::kInvalid, "nothing to change: give --role, --new-password or --password-file"};
    const Result<Json> answer = session.patch("/users/" + path_segment(options.name), body);
    if (!answer) return answer.error();
    if (wants_password) {
        Outcome delivered = deliver(session, *answer, options.password, password);
        if (!delivered || session.wants_json()) return delivered;
        say(session, options.name + " must sign in again" + where_password_is(options.password));
        return delivered;
    }
    return print_answer(session, answer, [](const Json& user) {
        return text_of(user, "name") + " has the role " + text_of(user, "role") + " now.\n";
    });
}

Outcome set_disabled(Session& session, const NameOptions& options, bool is_disabled)
{
    const Result<Json> answer = session.patch("/users/" + path_segment(options.name), Json{{"disabled", is_disabled}});
    return print_answer(session, answer, [is_disabled](const Json& user) {
        return text_of(user, "name") +
               (is_disabled ? " is signed out and may not sign in.\n" : " may sign in again.\n");
    });
}

Outcome disable_user(Session& session, const NameOptions& options)
{
    return set_disabled(session, options, true);
}

Outcome enable_user(Session& session, const NameOptions& options)
{
    return set_disabled(session, options, false);
}

Outcome remove_user(Session& session, const NameOptions& options)
{
    const Result<Json> answer = session.remove("/users/" + path_segment(options.name));
    if (!answer) return answer.error();
    if (!session.wants_json()) *session.console().out << options.name << " has no account any more.\n";
    return ExitCode::kOk;
}

/// "password", or the provider without what all have.
std::string way_in(const Json& user)
{
    if (member(user, "issuer").is_null()) return "password";
    constexpr std::string_view kScheme = "https://";
    const std::string issuer = text_of(user, "issuer");
    return issuer.starts_with(kScheme) ? issuer.substr(kScheme.size()) : issuer;
}

Table users_table(const Json& users, Timestamp now)
{
    Table table({{"NAME"},
                 {"ROLE"},
                 {"STATE"},
                 {"SIGNS IN BY"},
                 {"SIGNED IN", Align::kRight, 1},
                 {"CREATED", Align::kRight, 2},
                 {"IDENTITY", Align::kLeft, 3}});
    for (const Json& user : users) {
        const bool is_disabled = !member(user, "disabled_at").is_null();
        table.add_row({text_of(user, "name"), text_of(user, "role"),
                       is_disabled ? Cell("disabled", Tone::kFaint) : Cell("active", Tone::kGood), way_in(user),
                       age_of(user, "last_sign_in_at", now), age_of(user, "created_at", now),
                       text_of(user, "token_id")});
    }
    return table;
}

Outcome list_users(Session& session, const ListOptions& options)
{
    return print_list(session,
                      {.path = "/users",
                       .query = {},
                       .table = users_table,
                       .when_empty = "Nobody has an account; `fathom user create` makes one with a password."},
                      options);
}

void add_password_options(CLI::App& verb, PasswordOptions& options)
{
    verb.add_option("--password-file", options.password_file,
                    "The password is this file's first line, 12 bytes at least (default: one is made and shown once)");
    verb.add_option("--output-file", options.output_file,
                    "Write a password that is made there, readable by you only, and not to the terminal");
}

using NameCommand = Outcome (*)(Session&, const NameOptions&);

void add_name_verb(CLI::App& noun, Invocation& invocation, const std::string& verb, const std::string& description,
                   NameCommand run)
{
    auto options = std::make_shared<NameOptions>();
    CLI::App& command = add_verb(noun, verb, description, "fathom user " + verb + " ada");
    add_required(command, "NAME", options->name, "The account's name");
    on_chosen(command, invocation, std::move(options), run);
}

} // namespace

void add_user_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun =
        add_noun(app, "user", "Accounts: who signs in to the web console, with a password or by a provider");

    auto create_options = std::make_shared<CreateUserOptions>();
    CLI::App& create = add_verb(noun, "create", "An account for a person",
                                "fathom user create ada --role expert --output-file ada.password");
    add_required(create, "NAME", create_options->name, "What they sign in as");
    add_role_option(create, create_options->role)->required();
    add_password_options(create, create_options->password);
    on_chosen(create, invocation, std::move(create_options), create_user);

    add_list_verb(noun, invocation, "Every account", "fathom user list", list_users);

    auto change_options = std::make_shared<ChangeUserOptions>();
    CLI::App& change = add_verb(noun, "change", "Another role or password", "fathom user change ada --new-password");
    add_required(change, "NAME", change_options->name, "The account's name");
    add_role_option(change, change_options->role);
    change.add_flag("--new-password", change_options->new_password, "Make a new password, and end all their sessions");
    add_password_options(change, change_options->password);
    on_chosen(change, invocation, std::move(change_options), change_user);

    add_name_verb(noun, invocation, "disable", "End their sessions and let them sign in no more", disable_user);
    add_name_verb(noun, invocation, "enable", "Let them sign in again", enable_user);
    add_name_verb(noun, invocation, "remove", "Remove the account; what it did still names its identity", remove_user);
}

} // namespace fathom::cli
