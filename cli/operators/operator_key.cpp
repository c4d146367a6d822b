#include "cli/operators/operator_key.hpp"

#include "cli/client/json_view.hpp"
#include "core/base/ed25519.hpp"
#include "core/base/file.hpp"

#include <filesystem>

namespace fathom::cli {
namespace {

struct CreateOptions {
    std::string output_file;
};

struct AddOptions {
    std::string name;
    std::string center;
    std::string file;
};

Error cannot_write(const std::string& path, const Error& error)
{
    return Error{Errc::kInvalid, "cannot write " + path + ": " + error.detail};
}

Outcome create_key(Session& session, const CreateOptions& options)
{
    const std::string public_file = options.output_file + ".pub";
    for (const std::string& path : {options.output_file, public_file}) {
        std::error_code ignored;
        // A lost private key cannot be made again.
        if (std::filesystem::exists(path, ignored))
            return Error{Errc::kInvalid, path + " is there already; choose another name"};
    }
    const Result<KeyPair> pair = new_key_pair();
    if (!pair) return pair.error();
    const Result<std::vector<PublicKey>> key = parse_public_keys(pair->public_pem);
    if (!key) return key.error();
    if (const Result<void> written = write_file(options.output_file, pair->private_pem, 0600); !written)
        return cannot_write(options.output_file, written.error());
    if (const Result<void> written = write_file(public_file, pair->public_pem); !written)
        return cannot_write(public_file, written.error());
    const Json answer{
        {"id", key_id(key->front())}, {"private_key_file", options.output_file}, {"public_key_file", public_file}};
    return print_answer(session, answer, [&](const Json& made) {
        return "Key " + text_of(made, "id") + ": the private half is in " + options.output_file +
               ", readable by you only; keep it.\nThe public half is in " + public_file +
               ": an admin makes the server trust it with `fathom operator key add --name NAME " + public_file +
               "`, and each center's admin puts it among the agent's operator keys.\n";
    });
}

Outcome add_key(Session& session, const AddOptions& options)
{
    const Result<std::string> pem = read_file(options.file, 1UL << 20U);
    if (!pem) return Error{Errc::kInvalid, options.file + ": " + pem.error().detail};
    if (pem->find("PRIVATE KEY") != std::string::npos)
        return Error{Errc::kInvalid, options.file +
                                         ": is a private key, which stays with its owner; the public one is in " +
                                         options.file + ".pub"};
    Json body{{"name", options.name}, {"public_key_pem", *pem}};
    if (!options.center.empty()) body["center"] = options.center;
    return print_answer(session, session.post("/operator-keys", body), [](const Json& key) {
        const std::string signer = text_of(key, "name") + " (key " + text_of(key, "id") + ")";
        if (member(key, "center").is_null()) return "Packages signed by " + signer + " can be uploaded now.\n";
        return "Packages signed by " + signer + " can be submitted for review now (`fathom operator submit`).\n";
    });
}

std::string signed_operators(const Json& key)
{
    std::string text;
    for (const Json& one : items_of(key, "operators"))
        text += (text.empty() ? "" : ", ") + text_of(one, "id") + "@" + text_of(one, "version");
    return text.empty() ? "-" : text;
}

Table keys_table(const Json& keys, Timestamp now)
{
    Table table({{"ID"},
                 {"NAME"},
                 {"CENTER", Align::kLeft, 3},
                 {"STATE"},
                 {"CREATED", Align::kRight, 1},
                 {"CREATED BY", Align::kLeft, 2},
                 {"SIGNED", Align::kLeft, 0, true}});
    for (const Json& key : keys) {
        const bool is_revoked = !member(key, "revoked_at").is_null();
        table.add_row({text_of(key, "id"), text_of(key, "name"), text_of(key, "center"),
                       is_revoked ? Cell("revoked", Tone::kFaint) : Cell("trusted", Tone::kGood),
                       age_of(key, "created_at", now), text_of(key, "created_by"), signed_operators(key)});
    }
    return table;
}

Outcome list_keys(Session& session, const ListOptions& options)
{
    return print_list(session,
                      {.path = "/operator-keys",
                       .query = {},
                       .table = keys_table,
                       .when_empty = "No operator keys, so nobody can upload operators; `fathom operator key create` "
                                     "makes one, `fathom operator key add` makes it trusted."},
                      options);
}

Outcome revoke_key(Session& session, const NameOptions& options)
{
    return print_answer(session, session.remove("/operator-keys/" + path_segment(options.name)), [](const Json& key) {
        const std::string operators = signed_operators(key);
        return "Packages signed by key " + text_of(key, "id") + " are refused from now on." +
               (operators == "-"
                    ? "\n"
                    : " What it signed stays until it is withdrawn (`fathom operator withdraw`): " + operators + "\n");
    });
}

} // namespace

void add_operator_key_commands(CLI::App& noun, Invocation& invocation)
{
    CLI::App& key = add_noun(noun, "key", "Keys that sign uploaded operators");
    auto create_options = std::make_shared<CreateOptions>();
    CLI::App& create =
        add_verb(key, "create", "A key pair, made on this machine", "fathom operator key create --output-file ada.key");
    create
        .add_option("-o,--output-file", create_options->output_file,
                    "Where the private key goes; the public one goes beside it, with .pub")
        ->required();
    on_chosen(create, invocation, std::move(create_options), create_key);

    auto add_options = std::make_shared<AddOptions>();
    CLI::App& add = add_verb(key, "add", "Trust a key: its holder may upload operators",
                             "fathom operator key add --name ada ada.key.pub");
    add.add_option("--name", add_options->name, "Whose key it is")->required();
    add.add_option("--center", add_options->center,
                   "The center whose expert has it: what it signs is reviewed before it is used");
    add_required(add, "FILE", add_options->file, "The public key, PEM");
    on_chosen(add, invocation, std::move(add_options), add_key);

    add_list_verb(key, invocation, "Every key and what it signed", "fathom operator key list", list_keys);

    add_named_verb(
        key, invocation,
        {"revoke", "Refuse packages that a key signed, from now on", "fathom operator key revoke 3f2a9c0d11223344"},
        {"ID", "The key's id, as `fathom operator key list` shows it"}, revoke_key);
}

} // namespace fathom::cli
