#include "cli/operators/operator_package.hpp"

#include "cli/client/input_file.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"
#include "core/base/file.hpp"
#include "core/model/operator_package.hpp"

namespace fathom::cli {
namespace {

struct SignOptions {
    std::string manifest_file;
    std::string object_file;
    std::string key_file;
    std::string output_file;
};

struct UploadOptions {
    std::string file;
    bool dry_run = false;
};

/// A file that the user named; whatever is wrong with it is wrong input.
Result<std::string> read_named_file(const std::string& path)
{
    Result<std::string> content = read_file(path);
    if (content) return content;
    return Error{Errc::kInvalid, path + ": " + content.error().detail};
}

std::string manifest_name_of(const OperatorManifest& manifest)
{
    return manifest.id + " version " + std::to_string(manifest.version);
}

/// The highest version that the server has of an operator, withdrawn or not; 0 for none.
Result<std::int64_t> newest_version(Session& session, const std::string& id)
{
    const Result<Json> versions = session.get("/operators/" + path_segment(id) + "/versions", {{"page_size", "1"}});
    if (!versions && versions.error().code == Errc::kNotFound) return std::int64_t{0};
    if (!versions) return versions.error();
    const Json& items = items_of(*versions);
    return static_cast<std::int64_t>(items.empty() ? 0 : number_of(items.front(), "version").value_or(0));
}

/// The manifest to sign. The version is signed too, so it must be known: from the file, else from the server.
Result<OperatorManifest> read_manifest(Session& session, const std::string& path)
{
    const Result<Json> document = read_input_file(path, session.console());
    if (!document) return document.error();
    Result<OperatorManifest> manifest = parse_operator_manifest(*document);
    if (!manifest) return in_file(path, manifest.error());
    if (document->contains("version")) return manifest;
    if (!session.has_named_server())
        return Error{Errc::kInvalid, path + ": names no version, and no server is given that knows the next one: write "
                                            "\"version\": 1 for a new operator, or set --url or FATHOM_URL"};
    const Result<std::int64_t> newest = newest_version(session, manifest->id);
    if (!newest) return newest.error();
    manifest->version = *newest + 1;
    return manifest;
}

Outcome sign_package(Session& session, const SignOptions& options)
{
    const Result<std::string> key = read_named_file(options.key_file);
    if (!key) return key.error();
    const Result<std::string> object = read_named_file(options.object_file);
    if (!object) return object.error();
    const Result<OperatorManifest> manifest = read_manifest(session, options.manifest_file);
    if (!manifest) return manifest.error();
    const Result<OperatorPackage> package = sign_operator(*manifest, *object, *key);
    if (!package) return Error{Errc::kInvalid, package.error().detail, package.error().fields};
    const std::string text = to_json(*package).dump() + "\n";
    if (const Result<void> written = write_file(options.output_file, text); !written)
        return Error{Errc::kInvalid, "cannot write " + options.output_file + ": " + written.error().detail};
    const Json answer{{"id", manifest->id},
                      {"version", manifest->version},
                      {"key_id", package->key_id},
                      {"file", options.output_file},
                      {"bytes", text.size()}};
    return print_answer(session, answer, [&](const Json&) {
        return "Signed " + manifest_name_of(*manifest) + " with key " + package->key_id + ": " + options.output_file +
               " (" + format_bytes(static_cast<double>(text.size())) + ").\n`fathom operator upload " +
               options.output_file + "` sends it.\n";
    });
}

/// What the upload would do, for people.
std::string plan_of(const OperatorPackage& package, std::int64_t newest, const TableStyle& style)
{
    const OperatorManifest& manifest = package.manifest;
    const std::string machine = machine_of_object(package.object).value(); // checked when it was read
    return render_details(
        {{"Operator",
          manifest_name_of(manifest) + (newest == 0 ? ", new" : ", after version " + std::to_string(newest))},
         {"Description", manifest.description},
         {"Signed by", "key " + package.key_id},
         {"Object", format_bytes(static_cast<double>(package.object.size())) + " for " + machine},
         {"Sandbox", std::string(manifest.sandbox.network ? "network" : "no network") + ", at most " +
                         format_bytes(static_cast<double>(manifest.sandbox.memory_bytes)) + " of memory"}},
        style);
}

/// Shows what is in the file before it is sent; with --dry-run that is all.
Outcome send_package(Session& session, const UploadOptions& options, const char* path, const char* nothing_done,
                     const std::function<std::string(const OperatorPackage&, const Json& answer)>& render)
{
    const Result<Json> document = read_input_file(options.file, session.console());
    if (!document) return document.error();
    const Result<OperatorPackage> package = parse_operator_package(*document);
    if (!package) return in_file(options.file, package.error());
    const Result<std::int64_t> newest = newest_version(session, package->manifest.id);
    if (!newest) return newest.error();
    *session.console().err << plan_of(*package, *newest, {});
    if (options.dry_run) {
        say(session, nothing_done);
        return ExitCode::kOk;
    }
    return print_answer(session, session.post(path, {{"package", *document}}),
                        [&](const Json& answer) { return render(*package, answer); });
}

Outcome upload_package(Session& session, const UploadOptions& options)
{
    return send_package(session, options, "/operators", "Nothing was uploaded.",
                        [](const OperatorPackage& package, const Json&) {
                            return "Uploaded " + manifest_name_of(package.manifest) +
                                   "; `fathom probe run --operators " + package.manifest.id + "` measures it.\n";
                        });
}

Outcome submit_package(Session& session, const UploadOptions& options)
{
    return send_package(session, options, "/operator-reviews", "Nothing was submitted.",
                        [](const OperatorPackage& package, const Json& review) {
                            return manifest_name_of(package.manifest) + " awaits review as " + text_of(review, "id") +
                                   ": an admin of the network approves it by `fathom operator review approve " +
                                   text_of(review, "id") + "`.\n";
                        });
}

} // namespace

void add_operator_package_commands(CLI::App& noun, Invocation& invocation)
{
    auto sign_options = std::make_shared<SignOptions>();
    CLI::App& sign =
        add_verb(noun, "sign", "Make a signed package of an operator's manifest and code",
                 "fathom operator sign --manifest lu.json --object lu.so --key ada.key -o lu-package.json");
    sign.add_option("--manifest", sign_options->manifest_file,
                    "Manifest, YAML or JSON; without a version it gets the server's next one")
        ->required();
    sign.add_option("--object", sign_options->object_file, "Shared object (docs/operators.md)")->required();
    sign.add_option("--key", sign_options->key_file, "Private key, from `fathom operator key create`")->required();
    sign.add_option("-o,--output-file", sign_options->output_file, "Where the package goes")->required();
    on_chosen(sign, invocation, std::move(sign_options), sign_package);

    auto upload_options = std::make_shared<UploadOptions>();
    CLI::App& upload =
        add_verb(noun, "upload", "Put a signed package into the library", "fathom operator upload lu-package.json");
    add_required(upload, "FILE", upload_options->file, "The package, - for standard input");
    upload.add_flag("--dry-run", upload_options->dry_run, "Only say what would happen");
    on_chosen(upload, invocation, std::move(upload_options), upload_package);

    auto submit_options = std::make_shared<UploadOptions>();
    CLI::App& submit = add_verb(noun, "submit", "Submit a center's signed package for review",
                                "fathom operator submit lu-package.json");
    add_required(submit, "FILE", submit_options->file, "The package, - for standard input");
    submit.add_flag("--dry-run", submit_options->dry_run, "Only say what would happen");
    on_chosen(submit, invocation, std::move(submit_options), submit_package);
}

} // namespace fathom::cli
