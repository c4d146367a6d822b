#pragma once

#include "core/base/open_file.hpp"
#include "core/net/tls.hpp"
#include "server/app/supervisor_messages.hpp"
#include "server/identity/admin_token.hpp"
#include "server/identity/authority.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace fathom::server {

struct DatabaseAccess {
    std::string url;          ///< for Database
    std::string psql_command; ///< for the machine's administrator
};

/// The server's end of what connects it with its supervisor (Supervisor), which does for it what takes more rights than
/// the server has. Thread-safe, but for run_probe(); each call waits for its answer.
class SupervisorLink {
  public:
    SupervisorLink(OpenFile requests, OpenFile probes) : requests_(std::move(requests)), probes_(std::move(probes)) {}

    /// Starts the embedded PostgreSQL; waits until it answers, which after a crash may take minutes.
    /// @error kUnavailable  as EmbeddedPostgres::start.
    Result<DatabaseAccess> start_database();
    /// "ok", or what is wrong with the embedded PostgreSQL.
    std::string database_state();
    /// Of the embedded PostgreSQL's disk; none when nobody can tell.
    std::optional<std::uint64_t> free_bytes();

    /// STATE/admin.token. The link must outlive it.
    AdminTokenFile admin_token_file(const std::filesystem::path& state_dir);
    /// The file of authority_key_file. The link must outlive it.
    AuthorityKeyFile authority_key_file(const std::filesystem::path& path);
    /// Writes STATE/ca.pem.
    Result<void> write_authorities(const std::string& certificates_pem);

    /// Certificate and key of the REST listener, as they stand in the files of the settings now.
    /// @error kNotFound, kTooLarge, kUnavailable  as read_file().
    Result<net::Credential> read_certificate();

    /// Whether there is a program that can verify what centers measured.
    bool can_verify();
    /// Runs that program for one probe task (JSON) and returns what it printed, of which more than a few MiB is an
    /// error. By one thread at a time.
    /// @error kUnavailable  it could not be started, did not end well, or was ended by end_probes().
    Result<std::string> run_probe(const std::string& task);
    /// Ends the probe that runs; no other starts from now on.
    void end_probes();

  private:
    Result<std::string> ask(SupervisorRequest request, const std::string& text = "");

    std::mutex asking_; ///< from a request to its answer
    OpenFile requests_;
    OpenFile probes_;
    std::atomic<bool> no_more_probes_{false};
};

} // namespace fathom::server
