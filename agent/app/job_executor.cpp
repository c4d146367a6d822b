#include "agent/app/job_executor.hpp"

#include "agent/app/input_cache_place.hpp"
#include "agent/config/cpu_list.hpp"
#include "agent/executor/kubernetes/kubernetes_executor.hpp"
#include "agent/executor/kubernetes/survey.hpp"
#include "agent/executor/local/local_executor.hpp"
#include "agent/executor/slurm/slurm_executor.hpp"
#include "agent/executor/slurm/survey.hpp"
#include "core/base/log.hpp"

#include <algorithm>
#include <cstdlib>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::int64_t kMaxFiles = 1'000'000; ///< of a job for each processor, unless set

/// A job with the agent's user could read its key.
Result<void> require_own_users(const JobUsers& jobs, const std::optional<UnixUser>& agent)
{
    if (!agent) return {};
    const bool is_in_range = jobs.ids && jobs.ids->first <= agent->uid && agent->uid <= jobs.ids->last;
    if (is_in_range || (jobs.one && jobs.one->uid == agent->uid))
        return Error{Errc::kInvalid, "jobs would run as user " + agent->name +
                                         ", as the agent itself does: set run_as or run_as_uids to others"};
    return {};
}

/// What is set up and not used, for the sake of the key.
void tell_s3_refusal(const std::string& refusal)
{
    if (!refusal.empty()) log_warning("s3_not_signed", {{"reason", refusal}});
}

/// What jobs are not kept from is said, or stands in the way.
Result<void> judge_isolation(const AgentConfig& config, const LocalExecutor& executor,
                             const std::string& user_ids_missing)
{
    std::string gaps = user_ids_missing;
    for (const std::string& gap : executor.isolation_gaps())
        gaps += (gaps.empty() ? "" : "; ") + gap;
    if (config.require_isolation && !gaps.empty())
        return Error{Errc::kUnavailable, "require_isolation is on, but at this center: " + gaps};
    if (!gaps.empty()) log_warning("jobs_not_isolated", {{"gaps", gaps}, {"see", "docs/security.md"}});
    tell_s3_refusal(executor.s3_refusal());
    if (executor.shows_agent_files() && ::getuid() != 0)
        log_warning("jobs_can_read_agent_files", {{"effect", "each job can act as this center"},
                                                  {"way_out", "start the agent as root, or allow user namespaces"}});
    return {};
}

/// What jobs may take of the state folder's disk for each of their processors; 0: no limit.
struct DiskShare {
    std::int64_t bytes{};
    std::int64_t files{};
};

/// The state folder's disk; all 0 where nothing is known of it.
struct statvfs disk_of(const AgentConfig& config)
{
    struct statvfs disk{};
    if (::statvfs(config.state_dir.c_str(), &disk) != 0) return {};
    return disk;
}

DiskShare disk_share(const AgentConfig& config)
{
    DiskShare share;
    const struct statvfs disk = disk_of(config);
    const std::size_t processors = config.cpus.empty() ? allowed_cpus().size() : config.cpus.size();
    if (disk.f_frsize > 0 && processors > 0) {
        share.bytes = static_cast<std::int64_t>(disk.f_blocks * disk.f_frsize / 10 * 9 / processors);
        share.files = kMaxFiles;
        // Some file systems, such as btrfs, have as many as there is room for, and say 0.
        if (disk.f_files > 0)
            share.files =
                std::clamp<std::int64_t>(static_cast<std::int64_t>(disk.f_files / 10 * 9 / processors), 1, kMaxFiles);
    }
    return {config.disk_bytes_per_processor.value_or(share.bytes),
            config.disk_files_per_processor.value_or(share.files)};
}

IoLimits io_share(const AgentConfig& config)
{
    return {.read_bytes_per_s = config.io_read_bytes_per_s_per_processor,
            .write_bytes_per_s = config.io_write_bytes_per_s_per_processor,
            .reads_per_s = config.io_reads_per_s_per_processor,
            .writes_per_s = config.io_writes_per_s_per_processor};
}

/// The home folder that jobs with the agent's user are kept out of; empty where there is none, as where it is a folder
/// of the system's.
std::filesystem::path protected_home(const AgentConfig& config)
{
    if (::getuid() == 0 || config.home_folder == HomeRule::kOpen) return {};
    // One thread, before there are others. NOLINTBEGIN(concurrency-mt-unsafe)
    const passwd* self = ::getpwuid(::getuid());
    const char* const variable = std::getenv("HOME");
    // NOLINTEND(concurrency-mt-unsafe)
    const std::string named = self != nullptr ? self->pw_dir : variable != nullptr ? variable : "";
    if (named.empty()) return {};
    std::error_code error;
    const std::filesystem::path home = std::filesystem::canonical(named, error);
    struct stat facts{};
    const bool is_own = !error && ::stat(home.c_str(), &facts) == 0 && facts.st_uid == ::getuid();
    return is_own && home.has_relative_path() ? home : "";
}

/// Slurm's nodes must know them by name.
Result<std::optional<JobUser>> find_slurm_user(const AgentConfig& config)
{
    Result<std::optional<JobUser>> user = find_job_user(config.run_as);
    // One thread, before there are others. NOLINTNEXTLINE(concurrency-mt-unsafe)
    if (user && *user && ::getpwuid((*user)->uid) == nullptr)
        return Error{Errc::kInvalid,
                     "set run_as to the user that jobs run as, who must be known on Slurm's nodes, too"};
    return user;
}

/// The local users of the network's users.
/// @error kInvalid  there is one that is not fit, or jobs could then read the agent's files.
Result<std::vector<MappedUser>> find_slurm_users(const AgentConfig& config, const std::optional<JobUser>& own,
                                                 const std::optional<UnixUser>& agent)
{
    Result<std::vector<MappedUser>> mapped = find_mapped_users(config.tables.slurm_users);
    if (!mapped || mapped->empty()) return mapped;
    if (!own) return Error{Errc::kInvalid, "with [[slurm_user]], set run_as to an ordinary user: the probes' one"};
    for (const MappedUser& one : *mapped) {
        if (Result<void> checked = require_own_users({.one = one.user}, agent); !checked) return checked.error();
    }
    return mapped;
}

/// Where users of the network share a local user, nothing that the agent knows of keeps their jobs from each other.
std::string slurm_gaps(const SlurmExecutorOptions& options)
{
    if (options.mapped.empty() || !options.user)
        return "Slurm's jobs share the user " + options.user_name + " and see each other's files and processes";
    std::string gaps = options.slurm.refuses_unmapped
                           ? ""
                           : "jobs of users without a [[slurm_user]] share the user " + options.user_name;
    for (const std::string& shared : find_shared_users(options.mapped, *options.user))
        gaps += (gaps.empty() ? "" : "; ") + shared;
    return gaps;
}

Result<void> judge_slurm_isolation(const AgentConfig& config, const SlurmExecutorOptions& options)
{
    const std::string gaps = slurm_gaps(options);
    if (gaps.empty()) return {};
    if (config.require_isolation)
        return Error{Errc::kUnavailable, "require_isolation is on, but at this center: " + gaps};
    log_warning("jobs_not_isolated", {{"gaps", gaps}, {"see", "docs/security.md"}});
    if (!options.user && ::getuid() != 0)
        log_warning("jobs_can_read_agent_files", {{"effect", "each job can act as this center"},
                                                  {"way_out", "start the agent as root, with run_as"}});
    return {};
}

/// Tables of users are for one kind of center each.
Result<void> check_user_tables(const AgentConfig& config)
{
    if (!config.tables.slurm_users.empty() && !config.uses_slurm)
        return Error{Errc::kInvalid, "[[slurm_user]] is for centers with executor = \"slurm\""};
    if (!config.tables.kubernetes_users.empty() && !config.uses_kubernetes)
        return Error{Errc::kInvalid, "[[kubernetes_user]] is for centers with executor = \"kubernetes\""};
    return {};
}

Result<std::unique_ptr<Executor>> make_slurm_executor(const AgentConfig& config, const std::optional<UnixUser>& agent,
                                                      bool describes_only)
{
    if (Result<void> fit = check_user_tables(config); !fit) return fit.error();
    Result<std::optional<JobUser>> user = find_slurm_user(config);
    if (!user) return user.error();
    if (Result<void> checked = require_own_users({.one = *user}, agent); !checked) return checked.error();
    Result<std::vector<MappedUser>> mapped = find_slurm_users(config, *user, agent);
    if (!mapped) return mapped.error();
    Result<S3Store> s3 = describes_only ? S3Store() : open_s3_store(config.tables.s3);
    if (!s3) return s3.error();
    if (!describes_only && ::getuid() == 0 && !*user)
        log_warning("jobs_run_as_root", {{"way_out", "set run_as to an ordinary user"}});
    const passwd* self = ::getpwuid(::getuid()); // NOLINT(concurrency-mt-unsafe): one thread
    SlurmExecutorOptions options{.folder = config.slurm.work_folder,
                                 .slurm = config.slurm,
                                 .user = *user,
                                 .user_name = *user             ? (*user)->name
                                              : self != nullptr ? self->pw_name
                                                                : "root",
                                 .mapped = std::move(*mapped),
                                 .programs = std::filesystem::absolute(config.probe_program).parent_path(),
                                 .output_limit_bytes = config.output_limit_bytes,
                                 .staging = config.staging,
                                 .s3 = std::move(*s3),
                                 .software = find_software(config.software)};
    if (options.folder.empty()) options.folder = std::filesystem::weakly_canonical(config.state_dir) / "attempts";
    options.input_cache = slurm_input_cache(config, options.folder);
    if (!describes_only) {
        if (Result<void> judged = judge_slurm_isolation(config, options); !judged) return judged.error();
        if (!options.user) tell_s3_refusal(in_reach_of_jobs(options.s3).refusal);
    }
    return std::unique_ptr<Executor>(std::make_unique<SlurmExecutor>(std::move(options)));
}

/// Pods run as this user, who is never root.
Result<JobUser> find_pod_user(const AgentConfig& config)
{
    const Result<std::optional<JobUser>> user = find_job_user(config.run_as);
    if (!user) return user.error();
    if (*user) return **user;
    if (::getuid() == 0)
        return Error{Errc::kInvalid, "with executor = \"kubernetes\", set run_as to the user that pods run as"};
    return JobUser{std::to_string(::getuid()), ::getuid(), ::getgid()};
}

/// The user ids of pods of the network's users.
/// @error kInvalid  they cannot be given, or are the agent's own.
Result<std::vector<MappedUser>> find_pod_users(const AgentConfig& config, const std::optional<UnixUser>& agent)
{
    Result<std::vector<MappedUser>> mapped = map_ids(config.tables.kubernetes_users);
    if (!mapped) return mapped;
    for (const MappedUser& one : *mapped) {
        if (Result<void> checked = require_own_users({.one = one.user}, agent); !checked) return checked.error();
    }
    return mapped;
}

Result<void> judge_pod_isolation(const AgentConfig& config, const std::vector<MappedUser>& mapped, const JobUser& own)
{
    std::string gaps;
    if (mapped.empty())
        gaps = "the pods of all jobs share the user " + own.name;
    else if (!config.kubernetes.refuses_unmapped)
        gaps = "pods of users without a [[kubernetes_user]] share the user " + own.name;
    if (!mapped.empty()) {
        for (const std::string& shared : find_shared_users(mapped, own))
            gaps += (gaps.empty() ? "" : "; ") + shared;
    }
    if (gaps.empty()) return {};
    if (config.require_isolation)
        return Error{Errc::kUnavailable, "require_isolation is on, but at this center: " + gaps};
    log_warning("jobs_not_isolated", {{"gaps", gaps}, {"see", "docs/security.md"}});
    return {};
}

Result<std::unique_ptr<Executor>> make_kubernetes_executor(const AgentConfig& config,
                                                           const std::optional<UnixUser>& agent, bool describes_only)
{
    if (Result<void> fit = check_user_tables(config); !fit) return fit.error();
    if (config.kubernetes.image.empty()) return Error{Errc::kInvalid, "kubernetes_image must name the image of jobs"};
    const Result<JobUser> user = find_pod_user(config);
    if (!user) return user.error();
    if (Result<void> checked = require_own_users({.one = *user}, agent); !checked) return checked.error();
    Result<std::vector<MappedUser>> mapped = find_pod_users(config, agent);
    if (!mapped) return mapped.error();
    if (!describes_only) {
        const Result<void> judged = judge_pod_isolation(config, *mapped, *user);
        if (!judged) return judged.error();
    }
    Result<S3Store> s3 = describes_only ? S3Store() : open_s3_store(config.tables.s3);
    if (!s3) return s3.error();
    KubernetesExecutorOptions options{.folder = config.kubernetes.work_folder,
                                      .kubernetes = config.kubernetes,
                                      .user = *user,
                                      .mapped = std::move(*mapped),
                                      .gives_files = ::getuid() == 0,
                                      .programs = std::filesystem::absolute(config.probe_program).parent_path(),
                                      .output_limit_bytes = config.output_limit_bytes,
                                      .staging = config.staging,
                                      .s3 = std::move(*s3)};
    if (options.folder.empty()) options.folder = std::filesystem::weakly_canonical(config.state_dir) / "attempts";
    options.input_cache = slurm_input_cache(config, options.folder);
    return std::unique_ptr<Executor>(std::make_unique<KubernetesExecutor>(std::move(options)));
}

Result<std::unique_ptr<Executor>> make_local_executor(const AgentConfig& config, const std::optional<UnixUser>& agent,
                                                      const std::filesystem::path& gpu_memory)
{
    if (Result<void> fit = check_user_tables(config); !fit) return fit.error();
    const Result<JobUsers> users = find_job_users(config.run_as, config.run_as_uids);
    if (!users) return users.error();
    if (Result<void> checked = require_own_users(*users, agent); !checked) return checked.error();
    if (::getuid() == 0 && !users->one && !users->ids)
        log_warning("jobs_run_as_root", {{"way_out", "set run_as to an ordinary user"}});

    Result<S3Store> s3 = open_s3_store(config.tables.s3);
    if (!s3) return s3.error();
    // Without links: jobs must find the same place where much else is hidden from them.
    const std::filesystem::path state_dir = std::filesystem::weakly_canonical(config.state_dir);
    const DiskShare disk = disk_share(config);
    auto executor = std::make_unique<LocalExecutor>(
        LocalExecutorOptions{.attempts = state_dir / "attempts",
                             .supervisor = "/proc/self/exe", // this very program, also when its file was replaced
                             .programs = std::filesystem::absolute(config.probe_program).parent_path(),
                             .output_limit_bytes = config.output_limit_bytes,
                             .disk_bytes_per_processor = disk.bytes,
                             .disk_files_per_processor = disk.files,
                             .io = io_share(config),
                             .user = users->one,
                             .user_ids = users->ids,
                             .hidden = ::getuid() == 0 ? "" : state_dir,
                             .home = protected_home(config),
                             .shows_home = config.home_folder == HomeRule::kReadOnly,
                             .shared = config.shared_folders,
                             .gpu_memory = gpu_memory,
                             .staging = config.staging,
                             .s3 = std::move(*s3),
                             .input_cache = local_input_cache(config, state_dir),
                             .software = find_software(config.software),
                             .remove_work = config.keep_finished.count() == 0});
    if (Result<void> judged = judge_isolation(config, *executor, users->missing); !judged) return judged.error();
    return std::unique_ptr<Executor>(std::move(executor));
}

} // namespace

Result<std::unique_ptr<Executor>> make_job_executor(const AgentConfig& config, const std::optional<UnixUser>& agent,
                                                    const std::filesystem::path& gpu_memory)
{
    if (config.uses_slurm) return make_slurm_executor(config, agent, false);
    if (config.uses_kubernetes) return make_kubernetes_executor(config, agent, false);
    return make_local_executor(config, agent, gpu_memory);
}

Result<std::unique_ptr<Executor>> make_described_executor(const AgentConfig& config)
{
    if (config.uses_slurm) return make_slurm_executor(config, std::nullopt, true);
    if (config.uses_kubernetes) return make_kubernetes_executor(config, std::nullopt, true);
    const Result<JobUsers> users = find_job_users(config.run_as, config.run_as_uids);
    if (!users) return users.error();
    const std::filesystem::path hidden =
        config.state_dir.empty() ? "/tmp" : std::filesystem::absolute(config.state_dir);
    return std::unique_ptr<Executor>(
        std::make_unique<LocalExecutor>(LocalExecutorOptions{.attempts = hidden / "attempts",
                                                             .supervisor = {},
                                                             .programs = {},
                                                             .io = io_share(config),
                                                             .user = users->one,
                                                             .user_ids = users->ids,
                                                             .hidden = ::getuid() == 0 ? "" : hidden,
                                                             .home = protected_home(config),
                                                             .shows_home = config.home_folder == HomeRule::kReadOnly,
                                                             .software = find_software(config.software)}));
}

Result<CenterOffer> survey_machines(const AgentConfig& config, const Json& executor_facts, const SurveyOrder& order,
                                    MachineNotes& notes)
{
    if (config.uses_kubernetes) return survey_kubernetes(config, executor_facts, order);
    return config.uses_slurm ? survey_slurm(config, executor_facts, order, notes.slurm)
                             : survey_center(config, executor_facts, order);
}

Result<Hardware> look_at_machines(const AgentConfig& config, MachineNotes& notes)
{
    if (config.uses_kubernetes) return look_at_kubernetes(config);
    return config.uses_slurm ? look_at_slurm(config, notes.slurm) : Result<Hardware>(look_at_hardware(config));
}

} // namespace fathom::agent
