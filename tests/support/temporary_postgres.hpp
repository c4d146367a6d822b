#pragma once

#include <filesystem>
#include <string>

namespace fathom::test {

// One private PostgreSQL cluster for a test program, started by the first of these calls and removed when the
// program ends. It does not flush to disk.

/// Connection string of a fresh, empty database.
std::string empty_database();

/// Connection string of a fresh database with the newest schema.
std::string migrated_database();

/// Runs SQL on a connection that this thread keeps for its next call with the same url (a new one takes longer than
/// most statements); returns the first field of the first row, or "". Throws std::runtime_error with PostgreSQL's
/// message.
std::string run_sql(const std::string& url, const std::string& sql);

/// Closes the connection that run_sql keeps for this thread: the next one has what was set for new connections since,
/// and PostgreSQL has counted all that the old one read.
void close_connection();

/// An empty folder that is removed when the object goes.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

} // namespace fathom::test
