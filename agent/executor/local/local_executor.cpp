#include "agent/executor/local/local_executor.hpp"

#include "agent/config/cpu_list.hpp"
#include "agent/executor/local/cgroup.hpp"
#include "agent/executor/local/file_lock.hpp"
#include "agent/executor/local/process_tree.hpp"
#include "agent/executor/local/remove_tree.hpp"
#include "agent/executor/local/system_call_filter.hpp"
#include "core/base/error_text.hpp"
#include "core/base/file.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxOrderBytes = 64UL << 20U;
/// What is signed for a job outlives its wall limit by this: it may wait for its start.
constexpr std::chrono::seconds kSignedBeyondLimit{3600};

Result<void> make_folder(const std::filesystem::path& path, mode_t mode)
{
    if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST)
        return Error{Errc::kUnavailable, "cannot make " + path.string() + ": " + error_text(errno)};
    if (::chmod(path.c_str(), mode) != 0)
        return Error{Errc::kUnavailable, "cannot set the mode of " + path.string() + ": " + error_text(errno)};
    return {};
}

std::optional<AttemptEnd> read_status(const AttemptFolder& folder)
{
    const Result<std::string> text = read_file(folder.status());
    return text ? decode_status(*text) : std::nullopt;
}

std::optional<Timestamp> read_started_at(const AttemptFolder& folder)
{
    const Result<std::string> text = read_file(folder.running());
    return text ? decode_running(*text) : std::nullopt;
}

} // namespace

LocalExecutor::LocalExecutor(LocalExecutorOptions options) : options_(std::move(options))
{
    separate_jobs();
    if (!keeps_key_from_jobs()) options_.s3 = in_reach_of_jobs(std::move(options_.s3));
    try_control_groups();
    isolation_.filter_missing = why_no_system_call_filter();
    isolation_.filters_system_calls = isolation_.filter_missing.empty();
}

void LocalExecutor::separate_jobs()
{
    const bool as_root = ::getuid() == 0;
    const bool changes_user = options_.user || options_.user_ids;
    if (!changes_user && options_.hidden.empty()) return;
    if (changes_user) { // these are out of their reach
        options_.hidden.clear();
        options_.home.clear();
    }
    isolation_ = try_isolation({.work = {},
                                .programs = options_.programs,
                                .hidden = options_.hidden,
                                .home = options_.home,
                                .shows_home = options_.shows_home},
                               as_root);
}

void LocalExecutor::try_control_groups()
{
    CgroupLimits limits{.cpus = format_cpu_list(allowed_cpus())};
    if (options_.io.has_any()) {
        std::error_code ignored; // the folder of the attempts comes with the first
        const bool is_made = std::filesystem::exists(options_.attempts, ignored);
        const Result<std::string> disk = disk_of(is_made ? options_.attempts : options_.attempts.parent_path());
        if (disk) {
            options_.io.device = *disk;
            limits.io = scaled(options_.io, 1);
        } else {
            isolation_.io_missing = disk.error().detail;
        }
    }
    Cgroup trial = Cgroup::create("trial-" + std::to_string(::getpid()), limits);
    controllers_ = trial.controllers();
    trial.remove();
    if (!limits.io) return;
    isolation_.limits_io = std::find(controllers_.begin(), controllers_.end(), "io") != controllers_.end();
    if (!isolation_.limits_io)
        isolation_.io_missing = "no control group takes limits for the disk " + options_.io.device;
}

void LocalExecutor::prepare()
{
    if (!supervisors_) {
        supervisors_.emplace(options_.supervisor, isolation_);
        Cgroup::remove_left([](const std::string& name) {
            const std::optional<ProcessName> supervisor = supervisor_of_cgroup(name);
            return supervisor && !is_alive(*supervisor);
        });
    }
    supervisors_->refill();
}

Result<void> LocalExecutor::start(const RunOrder& run)
{
    const AttemptFolder folder = folder_of(run.order.attempt_id);
    // Jobs' folders may be passed through by other users only where no private view is possible.
    if (Result<void> made = make_folder(options_.attempts, 0711); !made) return made;
    if (Result<void> made = make_folder(folder.path(), 0700); !made) return made;
    const Result<std::optional<JobUser>> user = user_of(run.order.attempt_id);
    if (!user) return user.error();
    Result<std::vector<std::string>> before =
        software_words(run.order.software, options_.software, run.environment.contains("CUDA_VISIBLE_DEVICES"));
    if (!before) return before.error();
    const std::int64_t processors = std::max<std::int64_t>(std::ssize(run.cpus), 1);
    const SystemClock clock;
    const std::chrono::seconds lasts{run.order.wall_limit_s + kSignedBeyondLimit.count()};
    SupervisorOrder order{.run = run,
                          .user = *user,
                          .programs = options_.programs,
                          .output_limit_bytes = options_.output_limit_bytes,
                          .disk_limit_bytes = options_.disk_bytes_per_processor * processors,
                          .disk_limit_files = options_.disk_files_per_processor * processors,
                          .io = isolation_.limits_io ? scaled(options_.io, processors) : IoLimits(),
                          .has_own_user = options_.user_ids.has_value(),
                          .removes_work = options_.remove_work,
                          .isolation = isolation_,
                          .hidden = options_.hidden,
                          .home = options_.home,
                          .shows_home = options_.shows_home,
                          .shared = options_.shared,
                          .gpu_memory = options_.gpu_memory,
                          .staging = with_s3_grants(options_.staging, options_.s3, run.order, clock.now(), lasts),
                          .input_cache = options_.input_cache};
    order.run.before = *std::move(before);
    // A job with the agent's own user could read what is the agent's.
    if (::geteuid() != 0 && !options_.s3.key_file.empty()) order.run.hidden_files.push_back(options_.s3.key_file);
    // It is in the agent's spool, too: after a power failure it is written anew.
    if (Result<void> written = write_file_unflushed(folder.order(), encode(order), 0600); !written) return written;
    watch(run.order.attempt_id);
    if (!supervisors_) supervisors_.emplace(options_.supervisor, isolation_);
    return supervisors_->supervise(folder.path());
}

RunView LocalExecutor::look(const AttemptId& id)
{
    const AttemptFolder folder = folder_of(id);
    const auto ended = [&](const AttemptEnd& end) { return RunView{RunPhase::kEnded, end.started_at, end}; };
    if (const std::optional<AttemptEnd> end = read_status(folder)) return ended(*end);
    const bool was_started = ::access(folder.started().c_str(), F_OK) == 0;
    if (is_locked(folder.lock())) return {RunPhase::kAlive, read_started_at(folder)};
    // It may have ended between the two looks: only a status that is missing now is really missing.
    if (const std::optional<AttemptEnd> end = read_status(folder)) return ended(*end);
    if (!was_started) return {RunPhase::kAbsent};
    return {RunPhase::kVanished, read_started_at(folder)};
}

void LocalExecutor::cancel(const AttemptId& id)
{
    const AttemptFolder folder = folder_of(id);
    static_cast<void>(write_file(folder.cancel(), "", 0600));
    const Result<std::string> text = read_file(folder.supervisor());
    const std::optional<ProcessName> supervisor = text ? decode_supervisor(*text) : std::nullopt;
    if (supervisor) signal_process(*supervisor, SIGUSR1);
}

Result<std::string> LocalExecutor::read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                               std::size_t max_bytes)
{
    const std::filesystem::path path = folder_of(id).output(stream);
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ENOENT) return std::string();
        return Error{Errc::kUnavailable, "cannot open " + path.string() + ": " + error_text(errno)};
    }
    struct stat facts{};
    std::string data;
    if (::fstat(fd, &facts) == 0 && facts.st_size > offset) {
        data.resize(std::min(max_bytes, static_cast<std::size_t>(facts.st_size - offset)));
        const ssize_t size = ::pread(fd, data.data(), data.size(), offset);
        data.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    }
    ::close(fd);
    return data;
}

void LocalExecutor::end_leftovers(const AttemptId& id)
{
    const Result<std::string> text = read_file(folder_of(id).supervisor());
    const std::optional<ProcessName> supervisor = text ? decode_supervisor(*text) : std::nullopt;
    Cgroup cgroup = Cgroup::find(supervisor ? supervisor_cgroup(*supervisor) : id.value);
    cgroup.kill_all();
    kill_by_environment(id.value);
    cgroup.remove();
}

std::vector<AttemptId> LocalExecutor::known()
{
    std::vector<AttemptId> ids;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(options_.attempts, error), end; !error && entry != end;
         entry.increment(error)) {
        if (std::optional<AttemptId> id = AttemptId::parse(entry->path().filename().string()))
            ids.push_back(std::move(*id));
    }
    return ids;
}

Result<void> LocalExecutor::remove(const AttemptId& id)
{
    const AttemptFolder folder = folder_of(id);
    if (options_.remove_work && is_locked(folder.lock()))
        return Error{Errc::kConflict, "its supervisor has not finished with it"};
    unwatch(id);
    // What the job made may be much, where its supervisor has not deleted it, and may resist; the marker that the
    // program was started stays as long as that does.
    const auto is_there = [](const std::filesystem::path& path) { return ::access(path.c_str(), F_OK) == 0; };
    const bool has_jobs_files = is_there(folder.work()) || is_there(folder.tmp()) || is_there(folder.var_tmp());
    const Result<void> removed =
        has_jobs_files ? removals_.remove(id, {folder.work(), folder.path()}) : remove_tree(folder.path());
    if (!removed) return removed;
    if (used_ids_) used_ids_->erase(id);
    return {};
}

Result<SupervisorOrder> LocalExecutor::read_order(const AttemptId& id) const
{
    const Result<std::string> text = read_file(folder_of(id).order(), kMaxOrderBytes);
    if (!text) return text.error();
    return decode_supervisor_order(*text);
}

std::vector<std::int64_t> LocalExecutor::given_cpus(const AttemptId& id)
{
    const Result<SupervisorOrder> order = read_order(id);
    return order ? order->run.cpus : std::vector<std::int64_t>();
}

void LocalExecutor::find_used_ids()
{
    if (used_ids_) return;
    used_ids_.emplace();
    for (const AttemptId& id : known()) {
        const Result<SupervisorOrder> order = read_order(id);
        if (order && order->user) used_ids_->emplace(id, order->user->uid);
    }
}

Result<std::optional<JobUser>> LocalExecutor::user_of(const AttemptId& id)
{
    if (!options_.user_ids) return options_.user;
    find_used_ids();
    if (const auto entry = used_ids_->find(id); entry != used_ids_->end())
        return std::optional(named_user(entry->second));
    std::set<unsigned> used;
    for (const auto& [attempt, uid] : *used_ids_)
        used.insert(uid);
    Result<JobUser> user = pick_job_user(*options_.user_ids, used);
    if (!user) return user.error();
    used_ids_->emplace(id, user->uid);
    return std::optional(std::move(*user));
}

bool LocalExecutor::keeps_key_from_jobs() const
{
    const bool has_other_user = options_.user || options_.user_ids;
    return has_other_user || (isolation_.files && isolation_.processes && !options_.hidden.empty());
}

bool LocalExecutor::shows_agent_files() const
{
    return !options_.user && !options_.user_ids && !(isolation_.files && !options_.hidden.empty());
}

std::vector<std::string> LocalExecutor::isolation_gaps() const
{
    std::vector<std::string> gaps;
    if (!options_.user_ids) gaps.emplace_back("jobs share a user");
    if (!isolation_.files || !isolation_.processes)
        gaps.push_back(std::string(isolation_.files ? "jobs see each other's processes"
                                                    : "jobs see each other's processes and temporary files") +
                       (isolation_.missing.empty() ? "" : ": " + isolation_.missing));
    if (!isolation_.filters_system_calls)
        gaps.push_back("their system calls are not filtered: " + isolation_.filter_missing);
    for (const char* controller : {"memory", "pids"}) {
        if (std::find(controllers_.begin(), controllers_.end(), controller) == controllers_.end())
            gaps.push_back(std::string("no control group limits their ") +
                           (std::string_view(controller) == "pids" ? "processes" : controller));
    }
    if (!isolation_.io_missing.empty())
        gaps.push_back("their reads and writes of the disk are not limited: " + isolation_.io_missing);
    return gaps;
}

Json LocalExecutor::facts() const
{
    Json controllers = controllers_;
    Json isolation = {{"uid_per_job", options_.user_ids.has_value()},
                      {"pid_namespace", isolation_.processes},
                      {"mount_namespace", isolation_.files},
                      {"ipc_namespace", isolation_.files},
                      {"filters_system_calls", isolation_.filters_system_calls},
                      {"hides_agent_files", !shows_agent_files()}};
    if (options_.io.has_any()) { // else nobody asked for it
        isolation["limits_io"] = isolation_.limits_io;
        if (!isolation_.limits_io) isolation["limits_io_missing"] = isolation_.io_missing;
    }
    Json facts = {{"executor", "local"},
                  {"stages_inputs", true},
                  {"stores_outputs", true},
                  {"keeps_outputs_bytes", options_.input_cache.limit_bytes},
                  {"reads_kept_files", true},
                  {"cgroup_controllers", std::move(controllers)},
                  {"jobs_run_as", options_.user_ids ? "a user of its own each"
                                  : options_.user   ? options_.user->name
                                                    : "the agent's own user"},
                  {"isolation", std::move(isolation)}};
    facts.update(s3_facts(options_.s3));
    if (options_.software.kinds() != SoftwareKinds()) facts["software"] = software_facts(options_.software);
    return facts;
}

} // namespace fathom::agent
