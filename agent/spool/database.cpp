#include "agent/spool/database.hpp"

#include <sqlite3.h>

#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// Whether what fails now may work later: there may be room again, a disk be writable, another program done.
bool may_pass(int code)
{
    switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_CANTOPEN:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
    case SQLITE_PERM:
    case SQLITE_READONLY:
        return true;
    default:
        return false;
    }
}

Error failure(sqlite3* database, const std::string& what)
{
    const Errc code = may_pass(sqlite3_errcode(database)) ? Errc::kUnavailable : Errc::kInternal;
    return Error{code, what + ": " + sqlite3_errmsg(database)};
}

int keep_path(sqlite3_vfs* /*files*/, const char* path, int size, char* full)
{
    if (std::strlen(path) >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
    std::strcpy(full, path); // NOLINT(clang-analyzer-security.insecureAPI.strcpy): it fits
    return SQLITE_OK;
}

/// SQLite's way to files, but for one thing: a path stays as it is. SQLite would look at each folder above, where the
/// agent's user may have nothing to look at.
const char* plain_paths()
{
    static sqlite3_vfs files = [] {
        sqlite3_vfs copy = *sqlite3_vfs_find(nullptr);
        copy.zName = "plain-paths";
        copy.xFullPathname = &keep_path;
        return copy;
    }();
    static const int registered = sqlite3_vfs_register(&files, 0);
    return registered == SQLITE_OK ? files.zName : nullptr;
}

} // namespace

IdleStatements::~IdleStatements()
{
    for (const auto& [sql, statement] : statements_)
        sqlite3_finalize(statement);
}

sqlite3_stmt* IdleStatements::take(sqlite3* database, std::string_view sql)
{
    const auto known = statements_.find(sql);
    if (known != statements_.end()) {
        sqlite3_stmt* const statement = known->second;
        statements_.erase(known);
        return statement;
    }
    sqlite3_stmt* made = nullptr;
    sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    return made;
}

void IdleStatements::give_back(std::string_view sql, sqlite3_stmt* statement)
{
    sqlite3_reset(statement); // what it had to say was said by step()
    sqlite3_clear_bindings(statement);
    statements_.emplace(sql, statement);
}

// A failure shows at step(): the statement is then null and the database remembers why.
Statement::Statement(sqlite3* database, IdleStatements& idle, std::string_view sql)
    : database_(database), statement_(idle.take(database, sql), GiveBack{&idle, sql})
{
}

Statement& Statement::bind(int position, std::int64_t value)
{
    sqlite3_bind_int64(statement_.get(), position, value);
    return *this;
}

Statement& Statement::bind(int position, std::string_view value)
{
    sqlite3_bind_text64(statement_.get(), position, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind(int position, const std::optional<std::string>& value)
{
    if (value) return bind(position, std::string_view(*value));
    sqlite3_bind_null(statement_.get(), position);
    return *this;
}

Result<bool> Statement::step()
{
    if (!statement_) return failure(database_, "cannot prepare a statement");
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return failure(database_, "the spool cannot be used");
}

std::int64_t Statement::integer(int column) const
{
    return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const
{
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
}

bool Statement::is_null(int column) const
{
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* database) const
{
    sqlite3_close_v2(database);
}

Result<Database> Database::open(const std::filesystem::path& path, std::span<const char* const> migrations)
{
    // Made here, because SQLite would make it readable for everybody; -wal and -shm take its mode.
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) ::close(file);
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, plain_paths());
    Database database(raw);
    if (code != SQLITE_OK) return failure(raw, "cannot open " + path.string());
    sqlite3_busy_timeout(raw, 5000);
    const auto cannot_use = [&](const Error& error) {
        return Error{error.code, "cannot use " + path.string() + ": " + error.detail};
    };
    for (const char* sql : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"}) {
        if (const Result<void> done = database.execute(sql); !done) return cannot_use(done.error());
    }
    if (const Result<void> done = database.migrate(migrations); !done) return cannot_use(done.error());
    return database;
}

Result<void> Database::migrate(std::span<const char* const> migrations)
{
    std::size_t version = 0;
    {
        Statement select = prepare("PRAGMA user_version");
        const Result<bool> row = select.step();
        if (!row) return row.error();
        version = static_cast<std::size_t>(select.integer(0));
    }
    if (version > migrations.size())
        return Error{Errc::kUnavailable, "it was written by a newer fathom-agent (schema " + std::to_string(version) +
                                             ", this one knows " + std::to_string(migrations.size()) +
                                             "): use that one again"};
    for (; version < migrations.size(); ++version) {
        Transaction transaction(*this);
        const std::string remember = "PRAGMA user_version = " + std::to_string(version + 1);
        for (const char* sql : {migrations[version], remember.c_str()}) {
            if (Result<void> done = execute(sql); !done) return done;
        }
        if (Result<void> done = transaction.commit(); !done) return done;
    }
    return {};
}

Result<void> Database::execute(const char* sql)
{
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        return failure(database_.get(), "the spool cannot be used");
    return {};
}

std::int64_t Database::changes() const
{
    return sqlite3_changes64(database_.get());
}

Transaction::Transaction(Database& database)
    : database_(&database), begun_(database.execute("BEGIN IMMEDIATE")), open_(begun_.has_value())
{
}

Transaction::~Transaction()
{
    if (open_) static_cast<void>(database_->execute("ROLLBACK"));
}

Result<void> Transaction::commit()
{
    if (!begun_) return begun_;
    const Result<void> done = database_->execute("COMMIT");
    if (done) open_ = false;
    return done;
}

} // namespace fathom::agent
