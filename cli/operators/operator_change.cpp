#include "cli/operators/operator_change.hpp"

#include "cli/client/input_file.hpp"
#include "cli/client/json_view.hpp"
#include "core/model/operator_manifest.hpp"

#include <array>
#include <string_view>

namespace fathom::cli {
namespace {

struct ChangeOptions {
    std::string file;
    bool dry_run = false;
};

struct WithdrawOptions {
    std::string id;
    std::int64_t version = 0;
};

/// What the server adds to a manifest when it shows one, so that `operator show --output json` can be edited and sent
/// back.
constexpr std::array<std::string_view, 8> kServerFields{"origin",       "created_at", "created_by",    "withdrawn_at",
                                                        "withdrawn_by", "key_id",     "object_sha256", "object_bytes"};

/// A manifest file without what the server adds; checked.
Result<Json> read_manifest(const std::string& path, Session& session)
{
    Result<Json> document = read_input_file(path, session.console());
    if (!document) return document;
    if (document->is_object() && document->contains("object_base64"))
        return Error{Errc::kInvalid, path + ": is a signed package; `fathom operator upload` sends it"};
    if (document->is_object()) {
        for (const std::string_view field : kServerFields)
            document->erase(std::string(field));
    }
    const Result<OperatorManifest> manifest = parse_operator_manifest(*document);
    if (!manifest) return in_file(path, manifest.error());
    return document;
}

/// The names of a manifest's fields whose value is another now.
std::string changed_fields(const Json& before, const Json& after)
{
    std::string names;
    for (const auto& [name, value] : after.items()) {
        if (name != "version" && member(before, name) != value) names += (names.empty() ? "" : ", ") + name;
    }
    return names;
}

std::string operator_version_of(const Json& version)
{
    return text_of(version, "id") + " version " + text_of(version, "version");
}

Outcome add_operator(Session& session, const NameOptions& options)
{
    const Result<Json> document = read_manifest(options.name, session);
    if (!document) return document.error();
    return print_answer(session, session.post("/operators", {{"manifest", *document}}),
                        [](const Json& version) { return "Added " + operator_version_of(version) + ".\n"; });
}

Outcome change_operator(Session& session, const ChangeOptions& options)
{
    const Result<Json> document = read_manifest(options.file, session);
    if (!document) return document.error();
    const OperatorManifest manifest = parse_operator_manifest(*document).value(); // checked above
    const std::string path = "/operators/" + path_segment(manifest.id);
    const Result<Json> newest = session.get(path);
    if (!newest) return newest.error();
    const std::string changes = changed_fields(*newest, to_json(manifest));
    say(session, changes.empty() ? operator_version_of(*newest) + " says the same already; nothing changes."
                                 : operator_version_of(*newest) + " gets a next version with another " + changes + ".");
    if (options.dry_run) return ExitCode::kOk;
    // A file that was made of an older version must not undo what came after it.
    const std::string based_on = document->contains("version") ? "\"" + std::to_string(manifest.version) + "\"" : "";
    return print_answer(session, session.put(path, {{"manifest", *document}}, based_on), [](const Json& version) {
        return "The newest is " + operator_version_of(version) + " now; results of older ones keep naming theirs.\n";
    });
}

Outcome withdraw_operator(Session& session, const WithdrawOptions& options)
{
    const std::string version = std::to_string(options.version);
    const Result<Json> answer =
        session.remove("/operators/" + path_segment(options.id) + "/versions/" + path_segment(version));
    if (!answer) return answer.error();
    if (!session.wants_json())
        *session.console().out << options.id << " version " << version
                               << " is withdrawn: no new task can use it; it stays readable.\n";
    return ExitCode::kOk;
}

} // namespace

void add_operator_change_commands(CLI::App& noun, Invocation& invocation)
{
    add_named_verb(noun, invocation,
                   {"add", "A new operator whose code the centers have", "fathom operator add dgemv.yaml"},
                   {"FILE", "Manifest, YAML or JSON, - for standard input"}, add_operator);

    auto change_options = std::make_shared<ChangeOptions>();
    CLI::App& change = add_verb(noun, "change", "The next version of a built-in operator, from a changed manifest",
                                "fathom operator show dgemm --output json > dgemm.json   # edit it, then\n"
                                "  fathom operator change dgemm.json");
    add_required(change, "FILE", change_options->file, "Manifest, YAML or JSON, - for standard input");
    change.add_flag("--dry-run", change_options->dry_run, "Only say what would happen");
    on_chosen(change, invocation, std::move(change_options), change_operator);

    auto withdraw_options = std::make_shared<WithdrawOptions>();
    CLI::App& withdraw = add_verb(noun, "withdraw", "Let no new task use a version; it stays readable",
                                  "fathom operator withdraw dgemm --version 3");
    add_required(withdraw, "ID", withdraw_options->id, "The operator's id");
    withdraw.add_option("--version", withdraw_options->version, "Which version")
        ->required()
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
    on_chosen(withdraw, invocation, std::move(withdraw_options), withdraw_operator);
}

} // namespace fathom::cli
