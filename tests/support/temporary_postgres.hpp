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

/// Runs SQL on a connection of its own; returns the first field of the first row, or "".
/// Throws std::runtime_error with PostgreSQL's message.
std::string run_sql(const std::string& url, const std::string& sql);

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
