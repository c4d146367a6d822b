#pragma once

#include "server/jobs/job_record.hpp"
#include "server/store/database.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom::server {

/// The most that one token, and one project, may have at once; 0: no limit.
struct JobQuota {
    std::int64_t queued_of_token{100000};
    std::int64_t queued_of_project{200000};
    std::int64_t stored_bytes_of_token{16LL << 30U}; ///< specifications and output of jobs that are kept
    std::int64_t stored_bytes_of_project{64LL << 30U};
};

/// A request that submits jobs, and who sends it.
struct Submitter {
    std::string token;        ///< id; empty: a submitter without a quota
    std::int64_t bytes{};     ///< of the request, and of what was found of its inputs
    std::string request_id{}; ///< for the audit log
};

/// Holds submissions to the quota. The use of a token or project is read from the database from time to time, and what
/// is submitted since is added to it, so that a submission need not ask the database: every few seconds from a quarter
/// of a limit on, and before that so seldom that reading, which takes longer the more jobs wait, does not add up. Up to
/// four replicas together may take some seconds' worth of jobs too many, never too few. Thread-safe.
class JobQuotaGuard {
  public:
    JobQuotaGuard(Database& database, JobQuota quota) : database_(&database), quota_(quota) {}

    /// @param jobs  of this submission, by project.
    /// @error kTooMany  over a limit; the detail has which, what is used, and what to do.
    asio::awaitable<Result<void>> take(Submitter submitter, std::map<std::string, std::int64_t> jobs);

  private:
    using SteadyTime = std::chrono::steady_clock::time_point;
    /// Kind, "token" or "project", and name.
    using Key = std::pair<std::string, std::string>;
    struct Use {
        std::int64_t queued{};
        std::int64_t bytes{};
    };
    struct Entry {
        Use known;
        Use since; ///< taken since `known` was read
        std::optional<SteadyTime> read_at;
        SteadyTime::duration read_took{};
        std::optional<SteadyTime> reading_since;
    };
    struct Wanted {
        Key key;
        Use more;
    };

    /// The most that `key` may have; 0: no limit.
    Use limit_of(const Key& key) const;
    std::optional<Error> refusal(const Wanted& wanted) const;
    /// For how long the entry's `known` counts.
    SteadyTime::duration fresh_time(const Entry& entry, const Wanted& wanted) const;
    /// The keys whose use must be read first.
    /// @param most  greatest age of a use that need not be read.
    std::vector<Key> stale(const std::vector<Wanted>& wanted, std::chrono::milliseconds most);
    asio::awaitable<Result<void>> read(std::vector<Key> keys);
    Result<void> count(const std::vector<Wanted>& wanted);
    void forget_old();

    Database* database_;
    const JobQuota quota_;
    mutable std::mutex mutex_;
    std::map<Key, Entry> entries_;
};

/// Adds up what came to the bytes that are stored, and what went. For a periodic task.
Result<void> fold_stored_changes(pqxx::work& transaction);

} // namespace fathom::server
