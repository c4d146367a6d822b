#pragma once

#include "agent/config/staging_order.hpp"
#include "agent/executor/executor.hpp"
#include "agent/executor/local/input_cache.hpp"
#include "agent/executor/local/io_limits.hpp"
#include "agent/executor/local/isolation.hpp"

#include <filesystem>

namespace fathom::agent {

/// Who jobs run as.
struct JobUser {
    std::string name;
    unsigned uid{};
    unsigned gid{};
};

/// All that a supervisor needs to know; the file order.json.
struct SupervisorOrder {
    RunOrder run;
    std::optional<JobUser> user;       ///< empty: as the supervisor itself
    std::filesystem::path programs;    ///< folder appended to the job's PATH
    std::int64_t output_limit_bytes{}; ///< kept of each stream
    std::int64_t disk_limit_bytes{};   ///< of its folders; 0: none
    std::int64_t disk_limit_files{};   ///< in its folders, which count, too; 0: none
    IoLimits io{};                     ///< of the disk of its folders, with `isolation.limits_io`
    bool has_own_user{};               ///< nobody else runs as `user` at this center
    bool removes_work{};               ///< the job's files, once the end is on disk
    Isolation isolation{};
    std::filesystem::path hidden{};              ///< folder of the agent's that the job must not see; may be empty
    std::filesystem::path home{};                ///< of the agent's user, likewise; may be empty
    bool shows_home{};                           ///< but for what JobView shows of it
    std::vector<std::filesystem::path> shared{}; ///< folders that it sees although others like them are hidden
    std::filesystem::path gpu_memory{};          ///< folder of the memory manager's socket (gpu::kSocketName); or empty
    StagingRule staging{};                       ///< where the job's inputs come from and its outputs go to
    InputCachePlace input_cache{};               ///< of inputs that jobs here have fetched
};

/// As supervisors are told on their command line, before they have an order.
std::string encode(const Isolation& isolation);
/// @error kInvalid  not what encode() wrote.
Result<Isolation> decode_isolation(const std::string& text);

std::string encode(const SupervisorOrder& order);
/// @error kInvalid  not what encode() wrote.
Result<SupervisorOrder> decode_supervisor_order(const std::string& text);

/// The files of one attempt, and who writes them.
///
///     order.json       agent, before it starts the supervisor
///     lock             held by the supervisor as long as it lives (an open file description lock)
///     started          made once, by the supervisor that may start the program: a second one never can
///     supervisor.json  supervisor: its process, by which its control groups are named
///     running.json     supervisor: since when the program runs
///     cancel           agent: the attempt shall end
///     stdout, stderr   supervisor: what the program wrote, up to the limit
///     status.json      supervisor, last of all: how it ended
///     work/.fathom-profile.json  fathom-profile, as the job's user: which operators the job executed
///     work/.fathom-precision      balancing: which precision the job shall compute in (docs/balance.md)
///     work/.fathom-precision-ack  the job: which one it computes in
///     work/.fathom-staging.json   supervisor: what fathom-stage is to fetch and to store
///     work/.fathom-staging-failed fathom-stage, as the job's user: why it could not fetch an input
///     work/.fathom-inputs.json    fathom-stage: how long fetching took, and how large the inputs are
///     work/.fathom-outputs.json   fathom-stage: which outputs it has stored
///     work/.fathom-outputs-failed fathom-stage: why it could not store one
///     work/            the program's working folder and home
///     tmp/, var-tmp/   its /tmp and /var/tmp
class AttemptFolder {
  public:
    explicit AttemptFolder(std::filesystem::path path) : path_(std::move(path)) {}

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path order() const { return path_ / "order.json"; }
    std::filesystem::path lock() const { return path_ / "lock"; }
    std::filesystem::path started() const { return path_ / "started"; }
    std::filesystem::path supervisor() const { return path_ / "supervisor.json"; }
    std::filesystem::path running() const { return path_ / "running.json"; }
    std::filesystem::path cancel() const { return path_ / "cancel"; }
    std::filesystem::path output(OutputStream stream) const { return path_ / to_string(stream); }
    std::filesystem::path status() const { return path_ / "status.json"; }
    std::filesystem::path work() const { return path_ / "work"; }
    std::filesystem::path tmp() const { return path_ / "tmp"; }
    std::filesystem::path var_tmp() const { return path_ / "var-tmp"; }

  private:
    std::filesystem::path path_;
};

/// Where fathom-profile leaves its report, in the job's working folder.
inline constexpr const char* kProfileName = ".fathom-profile.json";

/// What fathom-profile is to match with (RunOrder::library), beside it; the job's user may not write it.
inline constexpr const char* kLibraryName = ".fathom-library.json";

/// Where a job that states a range of precisions (FATHOM_PRECISION_RANGE) finds which one it shall compute in, and
/// where it acknowledges, in its working folder; it has their paths in FATHOM_PRECISION_FILE and
/// FATHOM_PRECISION_ACK_FILE.
inline constexpr const char* kPrecisionFile = ".fathom-precision";
inline constexpr const char* kPrecisionAckFile = ".fathom-precision-ack";

/// A process that cannot be mistaken for a later one with the same number.
struct ProcessName {
    int pid{};
    std::int64_t start_ticks{}; ///< since boot, from /proc/PID/stat
};
/// Empty when there is no such process.
std::optional<ProcessName> name_process(int pid);
bool is_alive(const ProcessName& process);
/// The name of a supervisor's control groups, by its process and that one's PID namespace; it has them before it has an
/// attempt.
std::string supervisor_cgroup(const ProcessName& supervisor);
/// The supervisor of control groups of that name; empty when they are not a supervisor's, or one's of
/// another PID namespace, of which we cannot tell whether it lives.
std::optional<ProcessName> supervisor_of_cgroup(const std::string& name);

/// running.json: since when the program runs.
std::string encode_running(Timestamp started_at);
/// Empty when it is damaged.
std::optional<Timestamp> decode_running(std::string_view text);

/// supervisor.json.
std::string encode_supervisor(const ProcessName& process);
/// Empty when it is damaged.
std::optional<ProcessName> decode_supervisor(std::string_view text);

/// How the attempt ended, as status.json tells; empty when it is damaged.
std::optional<AttemptEnd> decode_status(std::string_view text);

/// Sends a signal, unless the process is gone.
void signal_process(const ProcessName& process, int signal);

} // namespace fathom::agent
