#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fathom::server {

/// A private PostgreSQL, run as our child from the system's programs (design: embedded default). Its data is in
/// `state_dir`/postgres, it listens on a Unix socket only, and runs as an unprivileged user when we are root. The
/// cluster's superuser works at the start only: what url() names owns the database, and no more. It goes when we go,
/// also by kill -9; when it crashes it is started again with back-off. Single node: for more give fathomd a database
/// URL. Thread-safe.
class EmbeddedPostgres {
  public:
    struct Options {
        std::filesystem::path state_dir;
        std::vector<std::filesystem::path> search_folders = {}; ///< for the programs; empty: postgres_search_folders()
        std::chrono::seconds start_limit{300};                  ///< crash recovery may take long
        /// Who may connect, as the database's owner, besides root and PostgreSQL's own user; none: only these two.
        std::optional<gid_t> client_group = {};
        /// Tests only: NAME=VALUE settings that win over ours, and a new cluster that is not flushed to disk.
        std::vector<std::string> extra_settings = {};
        bool flush_new_cluster = true;
    };

    /// Starts it, on fresh data at the first time, and returns when it answers. Blocks.
    /// Only one at a time for a state folder: hold its StateLock.
    /// @error kUnavailable  missing programs (the detail has the command that installs them), a folder that
    ///                      cannot be used, or a server that did not start (the detail has the end of its log).
    static Result<std::unique_ptr<EmbeddedPostgres>> start(Options options);

    ~EmbeddedPostgres();
    EmbeddedPostgres(const EmbeddedPostgres&) = delete;
    EmbeddedPostgres& operator=(const EmbeddedPostgres&) = delete;

    /// For Database; the same after a restart. Of a role that owns the database and is no superuser.
    const std::string& url() const;
    /// The same database as the cluster's superuser, which only root and PostgreSQL's own user get in as.
    std::string superuser_url() const;
    /// The command with which an administrator of this machine gets into it, as the database's owner.
    std::string psql_command() const;
    /// "ok", or what is wrong.
    std::string state() const;
    /// The server's process now; 0 while there is none.
    pid_t process_id() const;

    /// Clean, fast shutdown; harder when that takes too long. Blocks. Idempotent.
    void stop();

  private:
    struct State;
    explicit EmbeddedPostgres(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace fathom::server
