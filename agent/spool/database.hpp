#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace fathom::agent {

/// A prepared statement. Binds by position from 1, reads columns from 0. Not thread-safe.
class Statement {
  public:
    Statement(sqlite3* database, std::string_view sql);

    Statement& bind(int position, std::int64_t value);
    Statement& bind(int position, std::string_view value);
    Statement& bind(int position, const std::optional<std::string>& value);

    /// Moves to the next row; false at the end.
    /// @error kUnavailable  the database cannot be read or written (disk full, say).
    Result<bool> step();

    std::int64_t integer(int column) const;
    std::string text(int column) const;
    bool is_null(int column) const;

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    sqlite3* database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// One SQLite file with a write-ahead log that is flushed to disk at every commit. Not thread-safe.
class Database {
  public:
    /// Opens or makes the file (mode 0600) and brings its schema to the newest version: `migrations[N]` leads from
    /// version N, which the file remembers, to the next one.
    /// @error kUnavailable  the detail names the file and the cause, also when a newer program has written it.
    static Result<Database> open(const std::filesystem::path& path, std::span<const char* const> migrations);

    Statement prepare(std::string_view sql) { return Statement(database_.get(), sql); }

    /// Runs statements without values.
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
