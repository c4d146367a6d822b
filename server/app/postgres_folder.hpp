#pragma once

#include "core/base/open_inside.hpp"
#include "core/base/result.hpp"
#include "server/app/child_process.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace fathom::server {

/// The embedded PostgreSQL's own folder, `state_dir`/postgres: `data` (the cluster), `log`, `socket`, and
/// `hba.conf` with `ident.conf`, which say who may connect.
/// It belongs to the user that PostgreSQL runs as, and nobody else may enter it. As root we follow no link in it, and
/// change only what is that user's (open_inside).
struct PostgresFolder {
    std::filesystem::path root;             ///< as we name it
    std::shared_ptr<const OpenFile> opened; ///< `root`
    std::optional<UnixUser> user;           ///< to run PostgreSQL as; empty: as ourselves
    /// Where the user finds `root`. The same, or /proc/self/fd/N when a folder above is closed to the user
    /// (a state folder under /root): descriptor N of `root` then goes to the child, and no folder's mode needs
    /// to change.
    std::filesystem::path child_root;
    int descriptor = -1;          ///< N; -1 when not needed. Lives as long as the process.
    std::filesystem::path socket; ///< folder of the Unix socket
    std::filesystem::path note;   ///< beside `root`: says where the socket's folder is when it is not inside

    uid_t uid() const;
    gid_t gid() const;
    /// The cluster. @error kNotFound  none was made yet.  kUnavailable  something else stands there.
    Result<OpenFile> open_data() const;

    std::filesystem::path data() const { return root / "data"; }
    std::filesystem::path log() const { return root / "log"; }
};

/// Makes the folder, or takes the one that is there, with its user: when we are root, the owner of an existing
/// folder, else `fathom-db`, else `postgres`. Never `nobody`: that is whoever else has no user of its own.
/// A `client_group` may enter the socket's folder, which then stands outside `state_dir`: that may be closed to it.
/// @error kUnavailable  no such user, or the folder cannot be made or belongs to someone else.
Result<PostgresFolder> prepare_postgres_folder(const std::filesystem::path& state_dir,
                                               std::optional<gid_t> client_group = std::nullopt);

/// The folder as it is, for somebody who uses the database that a fathomd runs in it. Changes nothing.
/// @error kNotFound     there is none.
/// @error kUnavailable  it is closed to us, or no such folder.
Result<PostgresFolder> find_postgres_folder(const std::filesystem::path& state_dir);

/// Who works in the embedded PostgreSQL.
enum class PostgresRole {
    kSuperuser, ///< `fathom`, which made the cluster. Only root and PostgreSQL's own user connect as it.
    kOwner,     ///< `fathomd`: owns the database `fathom` and all in it, and has no other right. No superuser.
};

/// libpq's connection string to a database of its server.
std::string connection_to(const PostgresFolder& folder, PostgresRole role, const std::string& database);

/// Removes a socket folder that had to be made outside `root`.
void remove_socket_folder(const PostgresFolder& folder);

/// The major version of the cluster in the folder; empty when there is none yet.
Result<std::optional<int>> data_version(const PostgresFolder& folder);

/// Removes what a start that did not end left of a new cluster.
Result<void> remove_unfinished_cluster(const PostgresFolder& folder);
/// Gives the new cluster its name.
Result<void> name_new_cluster(const PostgresFolder& folder);
/// PostgreSQL's log, to write to; a long one is put away first.
Result<OpenFile> open_postgres_log(const PostgresFolder& folder);

/// Waits until no PostgreSQL process uses the cluster any more, and asks a postmaster that an earlier fathomd
/// left to end. Then removes its stale postmaster.pid: its process id may belong to another program by now,
/// which PostgreSQL would take for a second server. Blocks, half a minute at most.
/// @error kUnavailable  some process does not end.
Result<void> stop_leftovers(const PostgresFolder& folder);

/// The end of PostgreSQL's log, for error messages.
std::string log_tail(const PostgresFolder& folder);

} // namespace fathom::server
