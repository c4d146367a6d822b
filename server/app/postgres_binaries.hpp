#pragma once

#include "core/base/result.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace fathom::server {

/// One installed PostgreSQL server.
struct PostgresBinaries {
    std::filesystem::path folder; ///< holds initdb and postgres; of find_postgres_tools(): pg_dump, pg_restore and psql
    int major_version{};
};

/// Folders where PostgreSQL's programs may be: those of PATH, /usr/lib/postgresql/*/bin (Debian keeps them off
/// PATH), and what pg_config says.
std::vector<std::filesystem::path> postgres_search_folders();

/// The newest installed server, or that of exactly `wanted_major` when there is data of that version.
/// Runs the programs found to ask for their version. Blocks.
/// @error kUnavailable  none is there; the detail has the command that installs it.
Result<PostgresBinaries> find_postgres(const std::vector<std::filesystem::path>& folders,
                                       std::optional<int> wanted_major);

/// The programs for backups: those of version `wanted_major`, else the newest installed. Runs the programs found to ask
/// for their version. Blocks.
/// @error kUnavailable  none is there; the detail has the command that installs them.
Result<PostgresBinaries> find_postgres_tools(const std::vector<std::filesystem::path>& folders,
                                             std::optional<int> wanted_major);

} // namespace fathom::server
