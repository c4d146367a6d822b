#include "server/app/backup/backup_archive.hpp"

#include "core/base/error_text.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/split_text.hpp"
#include "schema/embedded.hpp"
#include "server/store/migrations.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::server {
namespace {

constexpr std::chrono::hours kReadLimit{24}; // it may have to look at all of the file
constexpr std::string_view kMagic = "PGDMP"; // of pg_dump's custom format
constexpr std::string_view kRowsBegin = ".schema_migration (version, name, sha256, applied_at) FROM stdin;\n";
constexpr std::string_view kRowsEnd = "\\.\n";

/// Of the rows as COPY writes them.
Result<std::vector<AppliedMigration>> parse_migrations(std::string_view script)
{
    const Error foreign{Errc::kInvalid, "this is an archive of a PostgreSQL database, but not of Fathom's"};
    const std::size_t begin = script.find(kRowsBegin);
    if (begin == std::string_view::npos) return foreign;
    script.remove_prefix(begin + kRowsBegin.size());
    std::vector<AppliedMigration> migrations;
    for (const std::string_view line : split_text(script.substr(0, script.find(kRowsEnd)), '\n')) {
        if (line.empty()) continue;
        const std::vector<std::string_view> fields = split_text(line, '\t');
        const auto version = parse_number<std::int64_t>(fields[0]);
        if (fields.size() != 4 || !version) return foreign;
        migrations.push_back({*version, std::string(fields[1]), std::string(fields[2]), std::string(fields[3])});
    }
    if (migrations.empty()) return foreign;
    return migrations;
}

/// What pg_restore says of it.
Result<std::string> ask_archive(const OpenFile& file, const DatabaseTools& tools,
                                const std::vector<std::string>& arguments)
{
    if (Result<void> done = rewind(file); !done) return done.error();
    ChildOptions reader = tools.read_archive(arguments);
    reader.input = file.number();
    Result<std::string> output = run_child(std::move(reader), kReadLimit);
    if (output) return output;
    return Error{Errc::kInvalid, "the backup cannot be read: " + output.error().detail};
}

} // namespace

Result<OpenFile> open_backup(const std::filesystem::path& path)
{
    OpenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0)
        return Error{errno == ENOENT ? Errc::kNotFound : Errc::kUnavailable,
                     "cannot open " + path.string() + ": " + error_text(errno)};
    struct stat facts{};
    char start[kMagic.size()];
    const bool is_plain = fstat(file.number(), &facts) == 0 && S_ISREG(facts.st_mode);
    if (!is_plain || pread(file.number(), start, sizeof start, 0) != sizeof start ||
        std::string_view(start, sizeof start) != kMagic)
        return Error{Errc::kInvalid, path.string() + " is not a backup that `fathomd backup` wrote"};
    return file;
}

Result<BackupArchive> check_backup(OpenFile file, const DatabaseTools& tools)
{
    const Result<std::string> rows = ask_archive(file, tools, {"--data-only", "--table=schema_migration", "--file=-"});
    if (!rows) return rows.error();
    const Result<std::vector<AppliedMigration>> migrations = parse_migrations(*rows);
    if (!migrations) return migrations.error();
    if (Result<void> known = check_migrations(*migrations, schema::sql::embedded_files(), "the backup"); !known)
        return known.error();
    const Result<std::string> contents = ask_archive(file, tools, {"--list"});
    if (!contents) return contents.error();
    std::int64_t tables = 0;
    for (const std::string_view line : split_text(*contents, '\n'))
        if (!line.starts_with(';') && line.find(" TABLE DATA ") != std::string_view::npos) ++tables;
    if (Result<void> done = rewind(file); !done) return done.error();
    return BackupArchive{std::move(file), tables};
}

Result<void> rewind(const OpenFile& file)
{
    if (lseek(file.number(), 0, SEEK_SET) == 0) return {};
    return Error{Errc::kUnavailable, "cannot read the backup: " + error_text(errno)};
}

} // namespace fathom::server
