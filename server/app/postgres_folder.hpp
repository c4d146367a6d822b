#pragma once

#include "core/base/result.hpp"
#include "server/app/child_process.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace fathom::server {

/// The embedded PostgreSQL's own folder, `state_dir`/postgres: `data` (the cluster), `log`, `socket`.
/// It belongs to the user that PostgreSQL runs as, and nobody else may enter it.
struct PostgresFolder {
    std::filesystem::path root;   ///< as we name it
    std::optional<UnixUser> user; ///< to run PostgreSQL as; empty: as ourselves
    /// Where the user finds `root`. The same, or /proc/self/fd/N when a folder above is closed to the user
    /// (a state folder under /root): descriptor N of `root` then goes to the child, and no folder's mode needs
    /// to change.
    std::filesystem::path child_root;
    int descriptor = -1;          ///< N; -1 when not needed. Lives as long as the process.
    std::filesystem::path socket; ///< folder of the Unix socket

    std::filesystem::path data() const { return root / "data"; }
    std::filesystem::path log() const { return root / "log"; }
};

/// Makes the folder, or takes the one that is there, with its user: when we are root, the owner of an existing
/// folder, else `postgres`, else `nobody`.
/// @error kUnavailable  no such user, or the folder cannot be made or belongs to someone else.
Result<PostgresFolder> prepare_postgres_folder(const std::filesystem::path& state_dir);

/// Removes a socket folder that had to be made outside `root`.
void remove_socket_folder(const PostgresFolder& folder);

/// The major version of the cluster in the folder; empty when there is none yet.
Result<std::optional<int>> data_version(const PostgresFolder& folder);

/// Waits until no PostgreSQL process uses the cluster any more, and asks a postmaster that an earlier fathomd
/// left to end. Then removes its stale postmaster.pid: its process id may belong to another program by now,
/// which PostgreSQL would take for a second server. Blocks, half a minute at most.
/// @error kUnavailable  some process does not end.
Result<void> stop_leftovers(const PostgresFolder& folder);

/// The end of PostgreSQL's log, for error messages.
std::string log_tail(const PostgresFolder& folder);

} // namespace fathom::server
