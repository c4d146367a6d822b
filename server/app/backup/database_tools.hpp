#pragma once

#include "core/base/result.hpp"
#include "server/app/child_process.hpp"
#include "server/app/postgres_binaries.hpp"
#include "server/store/connection_string.hpp"

#include <optional>
#include <string>

namespace fathom::server {

/// PostgreSQL's programs for one database: psql, pg_dump and pg_restore, run as a user who may get into it.
/// Root's never are root, and read no file of root's home. No secret stands on their command lines.
class DatabaseTools {
  public:
    DatabaseTools(PostgresBinaries programs, ToolConnection connection, std::optional<UnixUser> user);

    /// The one value that a query gives. Blocks.
    /// @error kUnavailable  with what psql said.
    Result<std::string> ask(const std::string& query) const;
    /// Runs a statement. Blocks. @error as ask().
    Result<void> execute(const std::string& statement) const;

    /// Writes the whole database as an archive to its standard output.
    ChildOptions dump() const;
    /// Reads an archive from its standard input into the database: all of it, or nothing.
    ChildOptions restore() const;
    /// pg_restore without a database, for what an archive in its standard input holds.
    ChildOptions read_archive(const std::vector<std::string>& arguments) const;

    int major_version() const { return programs_.major_version; }

  private:
    ChildOptions program(const char* name, const std::vector<std::string>& arguments) const;

    PostgresBinaries programs_;
    ToolConnection connection_;
    std::optional<UnixUser> user_; ///< empty: ours
};

/// How many tables, views, sequences and functions the database has, without PostgreSQL's own and those of extensions.
Result<std::int64_t> count_objects(const DatabaseTools& tools);
/// How many tables Fathom's database has. @error kNotFound  it is none of Fathom's.
Result<std::int64_t> count_tables(const DatabaseTools& tools);

/// "processing data for table" and the like, of the programs above when they begin a table.
bool is_table_line(std::string_view line);
/// Other lines of theirs that only say how far they are.
bool is_progress_line(std::string_view line);

} // namespace fathom::server
