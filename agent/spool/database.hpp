#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

struct sqlite3;
struct sqlite3_stmt;

namespace fathom::agent {

/// Statements that are not in use, by their text, so that each is parsed once.
class IdleStatements {
  public:
    IdleStatements() = default;
    ~IdleStatements();
    IdleStatements(const IdleStatements&) = delete;
    IdleStatements& operator=(const IdleStatements&) = delete;

    /// An idle one of the text, or a new one; nullptr when it cannot be prepared: the database knows why.
    sqlite3_stmt* take(sqlite3* database, std::string_view sql);
    void give_back(std::string_view sql, sqlite3_stmt* statement);

  private:
    std::unordered_multimap<std::string_view, sqlite3_stmt*> statements_;
};

/// A prepared statement. Binds by position from 1, reads columns from 0. Not thread-safe; the database must outlive it.
class Statement {
  public:
    Statement(sqlite3* database, IdleStatements& idle, std::string_view sql);

    Statement& bind(int position, std::int64_t value);
    Statement& bind(int position, std::string_view value);
    Statement& bind(int position, const std::optional<std::string>& value);

    /// Moves to the next row; false at the end.
    /// @error kUnavailable  the database cannot be read or written now (disk full, say).
    /// @error kInternal     it is damaged, or not what this program takes it for.
    Result<bool> step();

    std::int64_t integer(int column) const;
    std::string text(int column) const;
    bool is_null(int column) const;

  private:
    struct GiveBack {
        IdleStatements* idle;
        std::string_view sql;
        void operator()(sqlite3_stmt* statement) const { idle->give_back(sql, statement); }
    };
    sqlite3* database_;
    std::unique_ptr<sqlite3_stmt, GiveBack> statement_;
};

/// One SQLite file with a write-ahead log that is flushed to disk at every commit. Not thread-safe.
class Database {
  public:
    /// Opens or makes the file (mode 0600) and brings its schema to the newest version: `migrations[N]` leads from
    /// version N, which the file remembers, to the next one.
    /// @error kUnavailable, kInternal  the detail names the file and the cause; kUnavailable also when a newer program
    ///                                 has written it.
    static Result<Database> open(const std::filesystem::path& path, std::span<const char* const> migrations);

    /// @param sql  a constant: it must outlive the database.
    Statement prepare(std::string_view sql) { return Statement(database_.get(), *idle_, sql); }

    /// Runs statements without values. @error as Statement::step()
    Result<void> execute(const char* sql);

    /// Rows that the last statement changed.
    std::int64_t changes() const;

  private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    explicit Database(sqlite3* database) : database_(database) {}

    Result<void> migrate(std::span<const char* const> migrations);

    std::unique_ptr<sqlite3, Close> database_;
    std::unique_ptr<IdleStatements> idle_ = std::make_unique<IdleStatements>();
};

/// Undoes what was done since its start, unless commit() was reached.
class Transaction {
  public:
    explicit Transaction(Database& database);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    /// Durable when it returns.
    Result<void> commit();

  private:
    Database* database_;
    Result<void> begun_;
    bool open_;
};

} // namespace fathom::agent
