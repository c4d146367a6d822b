#include "server/store/migrations.hpp"

#include "core/base/parse_number.hpp"
#include "core/base/secret.hpp"
#include "server/store/log_after_commit.hpp"

#include <pqxx/result>
#include <pqxx/transaction>

namespace fathom::server {
namespace {

// Any fixed number that nothing else locks.
constexpr const char* kLock = "SELECT pg_advisory_xact_lock(7233001)";

// Creating a big index may take long, and so may the wait for the other replica that does it.
constexpr const char* kNoTimeLimit = "SET LOCAL statement_timeout = 0";

constexpr const char* kCreateTable = R"sql(
    CREATE TABLE IF NOT EXISTS schema_migration (
        version bigint PRIMARY KEY,
        name text NOT NULL,
        sha256 text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
    ))sql";

constexpr const char* kTableExists = "SELECT to_regclass('schema_migration') IS NOT NULL";
constexpr const char* kSelectApplied =
    "SELECT version, name, sha256, applied_at FROM schema_migration ORDER BY version";
constexpr const char* kRecord = "INSERT INTO schema_migration (version, name, sha256) VALUES ($1, $2, $3)";

struct Migration {
    std::int64_t version{};
    std::string name;
    std::string sha256;
    std::string_view content;
};

Result<Migration> read_migration(const EmbeddedFile& file)
{
    const std::string_view path = file.name;
    const std::string_view base = path.substr(path.rfind('/') + 1); // npos + 1 is 0
    Migration migration;
    std::string_view rest = base;
    const auto version = take_number<decltype(migration.version)>(rest);
    if (!version || !rest.starts_with('_') || !rest.ends_with(".sql"))
        return Error{Errc::kInvalid, "\"" + std::string(path) + "\" is not named NNNN_name.sql"};
    migration.version = *version;
    migration.name = rest.substr(1, rest.size() - 5);
    migration.sha256 = sha256_hex(file.content);
    migration.content = file.content;
    return migration;
}

Result<std::vector<Migration>> read_migrations(std::span<const EmbeddedFile> files)
{
    std::vector<Migration> migrations;
    for (const EmbeddedFile& file : files) {
        Result<Migration> migration = read_migration(file);
        if (!migration) return migration.error();
        migrations.push_back(std::move(*migration));
    }
    std::sort(migrations.begin(), migrations.end(),
              [](const Migration& a, const Migration& b) { return a.version < b.version; });
    for (std::size_t i = 0; i < migrations.size(); ++i) {
        if (migrations[i].version != static_cast<std::int64_t>(i + 1))
            return Error{Errc::kInvalid, "migration " + std::to_string(i + 1) + " is missing or is duplicated"};
    }
    return migrations;
}

std::string title(std::int64_t version, const std::string& name)
{
    return std::to_string(version) + " (" + name + ")";
}

std::vector<AppliedMigration> to_applied(const pqxx::result& rows)
{
    std::vector<AppliedMigration> applied;
    for (const pqxx::row& row : rows)
        applied.push_back({.version = row[0].as<std::int64_t>(),
                           .name = row[1].as<std::string>(),
                           .sha256 = row[2].as<std::string>(),
                           .applied_at = row[3].as<std::string>()});
    return applied;
}

/// Compares what was applied with what we have; returns how many are applied.
Result<std::size_t> check_applied(const std::vector<AppliedMigration>& applied,
                                  const std::vector<Migration>& migrations, const std::string& whose)
{
    for (std::size_t i = 0; i < applied.size(); ++i) {
        const AppliedMigration& one = applied[i];
        if (i >= migrations.size())
            return Error{Errc::kConflict, whose + " has migration " + title(one.version, one.name) +
                                              ", which this fathomd " FATHOM_VERSION
                                              " does not know: a newer one made it; run that version or a newer one"};
        if (one.version != migrations[i].version || one.sha256 != migrations[i].sha256)
            return Error{Errc::kConflict, "migration " + title(one.version, one.name) + ", applied " + one.applied_at +
                                              ", differs from the one in this program; migrations must never change"};
    }
    return applied.size();
}

enum class Step { kApplied, kComplete };

/// One migration in one transaction.
Result<Step> apply_next(pqxx::work& transaction, const std::vector<Migration>& migrations)
{
    transaction.exec(kNoTimeLimit);
    transaction.exec(kLock);
    // Not CREATE IF NOT EXISTS alone: it would ask for rights that a complete schema does not need.
    if (!transaction.exec1(kTableExists)[0].as<bool>()) transaction.exec(kCreateTable);
    const Result<std::size_t> applied =
        check_applied(to_applied(transaction.exec(kSelectApplied)), migrations, "the database");
    if (!applied) return applied.error();
    if (*applied == migrations.size()) return Step::kComplete;
    const Migration& next = migrations[*applied];
    transaction.exec(std::string(next.content));
    transaction.exec_params(kRecord, next.version, next.name, next.sha256);
    log_after_commit(LogLevel::kInfo, "schema_migrated", {{"version", next.version}, {"name", next.name}});
    return Step::kApplied;
}

} // namespace

Result<void> check_migrations(const std::vector<AppliedMigration>& applied, std::span<const EmbeddedFile> files,
                              const std::string& whose)
{
    const Result<std::vector<Migration>> migrations = read_migrations(files);
    if (!migrations) return migrations.error();
    const Result<std::size_t> checked = check_applied(applied, *migrations, whose);
    if (!checked) return checked.error();
    return {};
}

Result<void> migrate(Database& database, std::span<const EmbeddedFile> files)
{
    const Result<std::vector<Migration>> migrations = read_migrations(files);
    if (!migrations) return migrations.error();
    const auto step = [&](pqxx::work& transaction) { return apply_next(transaction, *migrations); };
    for (;;) {
        const Result<Step> done = database.blocking_run(step);
        if (!done) {
            Error error = done.error();
            error.detail = "cannot bring the database schema up to date: " + error.detail;
            return error;
        }
        if (*done == Step::kComplete) return {};
    }
}

} // namespace fathom::server
