#pragma once

#include "agent/executor/batch/script_notes.hpp"
#include "agent/executor/local/attempt_folder.hpp"

namespace fathom::agent {

/// The folders of one attempt, at the same path here and where the batch system runs it.
///
///     job.sh           what runs; written last: without it nothing was submitted
///     job_id           the batch system's number or id of the job, once it has told it
///     limits           its wall limit in seconds, `memory` and its units' bytes where known, `inputs` and
///                      `outputs` when it has some, `image` when it names one, and `profile` when
///                      it wants one
///     user             who the job runs as: ids of user and group, and the name; not where it runs as the agent does
///     inputs           those of its inputs that may be kept for later jobs; not where it has none
///     signed_urls      what of its order is to be signed anew (GrantRenewals); not where it names no s3:// URL
///     signed           what was signed anew since; the job's user's
///     stop             why its end was asked for: `cancelled` or `wall_limit`
///     stdout, stderr   of the program; written as the job's user
///     report/          the job's user's: `first` (the job that may run), `started`,
///                      `started_again`, `usage`, `ended`
///     work/            the program's working folder and home; the job's user's
struct BatchFolder {
    std::filesystem::path path;

    std::filesystem::path script() const { return path / "job.sh"; }
    std::filesystem::path job_id() const { return path / "job_id"; }
    std::filesystem::path limits() const { return path / "limits"; }
    std::filesystem::path user() const { return path / "user"; }
    std::filesystem::path inputs() const { return path / "inputs"; }
    std::filesystem::path signed_urls() const { return path / "signed_urls"; }
    std::filesystem::path stop() const { return path / "stop"; }
    std::filesystem::path report() const { return path / "report"; }
    std::filesystem::path work() const { return path / "work"; }
};

/// What of an attempt's order counts until its end; BatchFolder::limits().
struct BatchLimits {
    std::int64_t wall_limit_s{};
    std::int64_t memory_bytes{}; ///< of all its units; 0: not known
    bool has_inputs{};
    bool has_outputs{};
    bool profile{};
    bool has_own_image{}; ///< its container's is the one that the job names
};
BatchLimits limits_of(const RunOrder& run);
std::string encode(const BatchLimits& limits);
BatchLimits decode_batch_limits(const std::string& text);

/// What was asked for and noted in BatchFolder::stop(); `never_reason` of kNeverStarts.
struct StopNote {
    EndAsked asked = EndAsked::kNo;
    std::string never_reason{};
};
std::string encode(const StopNote& note);
StopNote decode_stop_note(const std::string& text);

/// What the folder of an attempt is made for.
struct BatchFolderOptions {
    StagingRule staging{};         ///< where jobs' inputs may come from
    InputCachePlace input_cache{}; ///< of jobs' inputs and outputs; the same path everywhere
    bool job_reads_script = false; ///< the job itself, and not the batch system, opens job.sh
};

/// Makes a folder, or gives the one that is there this mode.
/// @error kUnavailable  it cannot be made.
Result<void> make_folder_with(const std::filesystem::path& path, mode_t mode);

/// Root writes here for the jobs' users, whose jobs must not be able to put something else in the place of a folder.
/// @error kUnavailable  others than root can change it; the detail names `setting`.
Result<void> check_is_roots(const std::filesystem::path& path, const char* setting);

/// Writes a file that is the job's user's, in a folder that is not: readers see the old or the new content as that
/// user's, never half of it. Blocks.
/// @param user  empty: the agent's own
/// @error kUnavailable  it cannot be written, or given to that user.
Result<void> write_for_job(const std::filesystem::path& path, std::string_view content, unsigned mode,
                           const std::optional<JobUser>& user);

/// Writes all that the job finds, in a folder that is there. Nothing of it can run before the script is written, last
/// of all.
/// @error kUnavailable  something cannot be written; the detail says what.
Result<void> write_batch_folder(const RunOrder& run, const BatchFolder& folder, const std::string& script,
                                const std::optional<JobUser>& user, const BatchFolderOptions& options);

/// At most `max_bytes` of one of the job's streams from `offset`, up to `limit_bytes` of it; empty: no more yet.
/// @error kUnavailable  something else than a plain file stands there.
Result<std::string> read_batch_output(const std::filesystem::path& path, std::int64_t offset, std::size_t max_bytes,
                                      std::int64_t limit_bytes);

/// A file of the folder `report`, which is the job's user's; empty where there is none.
std::string read_report(const BatchFolder& folder, const char* name, uid_t owner);

/// Up to 4096 bytes of a file of the agent's own; empty where there is none.
std::string read_own_note(const std::filesystem::path& path);

/// Attempts that have a folder there.
std::vector<AttemptId> attempts_in(const std::filesystem::path& folder);

} // namespace fathom::agent
