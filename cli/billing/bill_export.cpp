#include "cli/billing/bill_export.hpp"

#include "cli/text/format_units.hpp"
#include "core/base/file.hpp"
#include "core/base/sha256.hpp"
#include "core/model/export_file.hpp"

#include <filesystem>
#include <fstream>
#include <ostream>

namespace fathom::cli {
namespace {

struct ExportOptions {
    std::string format = "focus";
    std::string version = "1.2";
    std::string period;
    std::string from;
    std::string until;
    std::string project;
    std::string center;
    std::string service_level;
    std::string folder;
};

Query query_of(const ExportOptions& options)
{
    return {{"period", options.period},
            {"from", options.from},
            {"until", options.until},
            {"project", options.project},
            {"center", options.center},
            {"version", options.format == "focus" ? options.version : ""},
            {"service_level_type", options.service_level}};
}

/// Streams the export to a file that appears when it is complete, with what says that it is: name, bytes, SHA-256.
Outcome export_to_folder(Session& session, const ExportOptions& options)
{
    ExportFile exported{
        .name = export_file_name(options.format,
                                 {options.period, options.from, options.until, options.project, options.center}),
        .format = options.format,
    };
    const std::filesystem::path path = std::filesystem::path(options.folder) / exported.name;
    const std::filesystem::path partial = path.string() + ".partial";
    std::error_code failed;
    std::filesystem::create_directories(options.folder, failed);
    if (failed) return Error{Errc::kInvalid, "cannot make the folder " + options.folder + ": " + failed.message()};
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    if (!file) return Error{Errc::kInvalid, "cannot write to " + partial.string()};
    Sha256 hash;
    std::int64_t bytes = 0;
    const auto write = [&](std::string_view text) {
        file.write(text.data(), static_cast<std::streamsize>(text.size()));
        hash.add(text);
        bytes += static_cast<std::int64_t>(text.size());
        return file.good();
    };
    const Result<void> read = session.stream("/exports/" + path_segment(options.format), query_of(options), {}, write);
    file.close();
    if (!read || !file) {
        std::filesystem::remove(partial, failed);
        return read ? Error{Errc::kInvalid, "cannot write to " + partial.string()} : read.error();
    }
    std::filesystem::rename(partial, path, failed);
    if (failed) return Error{Errc::kInvalid, "cannot write " + path.string() + ": " + failed.message()};
    for (const auto& [name, value] : query_of(options))
        if (!value.empty()) exported.parameters[name] = value;
    exported.size_bytes = bytes;
    exported.sha256 = hash.hex();
    exported.written_at = session.now();
    const Json manifest = export_manifest(exported);
    const std::filesystem::path manifest_path = path.parent_path() / manifest_name(exported.name);
    if (const Result<void> written = write_file(manifest_path, manifest.dump(2) + "\n"); !written)
        return written.error();
    return print_answer(session, manifest, [&](const Json&) {
        return path.string() + ": " + format_bytes(static_cast<double>(bytes)) + ", SHA-256 " + exported.sha256 + "\n";
    });
}

Outcome export_bill(Session& session, const ExportOptions& options)
{
    if (!options.folder.empty()) return export_to_folder(session, options);
    std::ostream& out = *session.console().out;
    const auto write = [&out](std::string_view text) {
        out << text;
        return out.good();
    };
    const Result<void> read = session.stream("/exports/" + path_segment(options.format), query_of(options), {}, write);
    if (!read) return read.error();
    return ExitCode::kOk;
}

} // namespace

void add_bill_export(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<ExportOptions>();
    CLI::App& verb = add_verb(noun, "export", "Charges or usage in a format for other programs",
                              "fathom bill export --format focus --period 2026-11 --folder /srv/bills");
    verb.add_option("--format", options->format,
                    "focus: FOCUS as CSV. jsonl: charges. ledger: entries and their hashes. apel, apel-summary: EGI "
                    "accounting. sacct: as Slurm's sacct -P prints, for Open XDMoD")
        ->check(CLI::IsMember({"focus", "jsonl", "ledger", "apel", "apel-summary", "sacct"}));
    verb.add_option("--focus-version", options->version, "1.2 (default) or 1.3")->check(CLI::IsMember({"1.2", "1.3"}));
    verb.add_option("--period", options->period, "A month: 2026-11");
    verb.add_option("--from", options->from, "Only what ended then or later: 2026-11-01");
    verb.add_option("--to,--until", options->until, "Only what ended before: 2026-12-01");
    verb.add_option("--project", options->project, "Only of this project");
    verb.add_option("--center", options->center, "Only at this center");
    verb.add_option("--service-level-type", options->service_level,
                    "What apel records call the score; left out: they say none")
        ->check(CLI::IsMember({"si2k", "hepspec", "hepscore23"}));
    verb.add_option("--folder", options->folder,
                    "Write a file there, and a manifest with its size and SHA-256 (default: standard output)");
    on_chosen(verb, invocation, std::move(options), export_bill);
}

} // namespace fathom::cli
