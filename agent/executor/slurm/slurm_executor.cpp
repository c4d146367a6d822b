#include "agent/executor/slurm/slurm_executor.hpp"

#include "agent/executor/local/job_process.hpp"
#include "agent/executor/local/profile_report.hpp"
#include "agent/executor/local/staging_report.hpp"
#include "agent/executor/slurm/usage_note.hpp"
#include "core/base/error_text.hpp"
#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/base/open_inside.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxNoteBytes = 4096;
// In SlurmFolder::limits(), after the seconds and in this order.
constexpr std::string_view kMemoryNote = " memory "; ///< and the bytes
constexpr std::string_view kInputsNote = " inputs";
constexpr std::string_view kOutputsNote = " outputs";
constexpr std::string_view kProfileNote = " profile";
constexpr const char* kWaitsForSubmission = "is to be submitted to Slurm";

Result<void> make_folder_with(const std::filesystem::path& path, mode_t mode)
{
    if ((::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) || ::chmod(path.c_str(), mode) != 0)
        return Error{Errc::kUnavailable, "cannot make " + path.string() + ": " + error_text(errno)};
    return {};
}

/// Root writes here for the jobs' users, whose jobs must not be able to put something else in the place of a folder.
Result<void> check_is_roots(const std::filesystem::path& path)
{
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) != 0)
        return Error{Errc::kUnavailable, "cannot look at " + path.string() + ": " + error_text(errno)};
    if (S_ISDIR(facts.st_mode) && facts.st_uid == 0 && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
    return Error{Errc::kUnavailable, path.string() + " (slurm_work_folder) can be changed by others than root, and so "
                                                     "could what jobs run: chown root and chmod go-w"};
}

/// A file or folder becomes the job's user's.
Result<void> give(const std::filesystem::path& path, const std::optional<JobUser>& user)
{
    if (!user || ::lchown(path.c_str(), user->uid, user->gid) == 0) return {};
    return Error{Errc::kUnavailable, "cannot give " + path.string() + " to " + user->name + ": " + error_text(errno)};
}

/// What stands in SlurmFolder::limits().
std::string limits_note(const RunOrder& run)
{
    std::string limits = std::to_string(run.order.wall_limit_s);
    if (run.memory_bytes > 0) limits += std::string(kMemoryNote) + std::to_string(run.memory_bytes);
    if (!run.order.inputs.empty()) limits += kInputsNote;
    if (!run.order.outputs.empty()) limits += kOutputsNote;
    if (run.order.profile) limits += kProfileNote;
    return limits;
}

/// All that the job finds. Nothing of it can run before the script is written, last of all.
Result<void> write_folder(const RunOrder& run, const SlurmFolder& folder, const std::string& script,
                          const std::optional<JobUser>& user, const SlurmExecutorOptions& options)
{
    SupervisorOrder work;
    work.run = run;
    work.user = user;
    work.staging = options.staging;
    const bool has_cache = options.input_cache.limit_bytes > 0;
    const std::vector<JobInput>& inputs = run.order.inputs;
    if (has_cache && std::any_of(inputs.begin(), inputs.end(), is_found_by_content))
        work.input_cache = options.input_cache;
    std::vector<KeepableInput> keepable = keepable_inputs(inputs);
    for (const std::string& path : declared_paths(run.order.outputs))
        keepable.push_back({path, ""});
    const AttemptFolder parts(folder.path);
    if (Result<void> made = prepare_work(work, parts); !made) return made;
    // Slurm's jobs have no view in which these would be theirs alone; here they are open to all users.
    for (const std::filesystem::path& open : {parts.tmp(), parts.var_tmp()})
        ::rmdir(open.c_str());
    if (Result<void> made = make_folder_with(folder.report(), 0700); !made) return made;
    if (Result<void> given = give(folder.report(), user); !given) return given;
    if (user) {
        if (Result<void> noted = write_file(folder.user(), encode(*user)); !noted) return noted;
    }
    for (const char* stream : {"stdout", "stderr"}) {
        if (Result<void> made = write_file_unflushed(folder.path / stream, "", 0600); !made) return made;
        if (Result<void> given = give(folder.path / stream, user); !given) return given;
    }
    if (Result<void> noted = write_file(folder.limits(), limits_note(run)); !noted) return noted;
    if (has_cache && !keepable.empty()) {
        if (Result<void> noted = write_file(folder.inputs(), encode(keepable), 0600); !noted) return noted;
    }
    return write_file(folder.script(), script, 0600);
}

/// What stands in SlurmFolder::stop().
constexpr std::string_view kWallLimitNote = "wall_limit";
constexpr std::string_view kCancelledNote = "cancelled";
constexpr std::string_view kNeverStartsNote = "never_starts "; ///< and the reason

std::string number_in(const std::filesystem::path& path)
{
    const Result<std::string> text = read_file(path, kMaxNoteBytes);
    return text ? *text : std::string();
}

} // namespace

SlurmExecutor::SlurmExecutor(SlurmExecutorOptions options)
    : options_(std::move(options)), client_(options_.slurm, options_.user), keeper_(options_.input_cache),
      descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), poll_interval_(0)
{
    if (options_.asks_slurm) version_ = client_.version();
}

SlurmExecutor::~SlurmExecutor()
{
    thread_.request_stop();
    wake_.notify_all();
}

unsigned SlurmExecutor::owner_of(const Attempt& attempt)
{
    return attempt.user ? attempt.user->uid : ::getuid();
}

Result<JobIdentity> SlurmExecutor::identity_of(const AttemptOrder& order) const
{
    const JobIdentity own{options_.user, options_.user_name, options_.slurm.account, options_.slurm.qos};
    return choose_identity(order, own, options_.mapped, options_.slurm.refuses_unmapped);
}

void SlurmExecutor::prepare()
{
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stopped) { work(stopped); });
}

Result<void> SlurmExecutor::start(const RunOrder& run)
{
    const AttemptId& id = run.order.attempt_id;
    const SlurmFolder folder = folder_of(id);
    const Result<JobIdentity> identity = identity_of(run.order);
    const std::scoped_lock lock(mutex_);
    if (find_or_adopt(id) != nullptr) return {};
    if (!identity) {
        end_unsubmitted(id, attempts_[id], AttemptOutcome::kFailedToStart, identity.error().detail);
        return {};
    }
    const BatchOptions batch{
        .account = identity->account, .qos = identity->qos, .user = identity->user_name, .programs = options_.programs};
    const Result<std::string> script = batch_script(run, folder, batch);
    if (Result<void> made = make_folder_with(options_.folder, 0755); !made) return made;
    if (identity->user) {
        if (Result<void> checked = check_is_roots(options_.folder); !checked) return checked;
    }
    if (Result<void> made = make_folder_with(folder.path, 0755); !made) return made;
    Attempt& attempt = attempts_[id];
    attempt.user = identity->user;
    attempt.wall_limit_s = run.order.wall_limit_s;
    attempt.memory_bytes = run.memory_bytes;
    attempt.has_inputs = !run.order.inputs.empty();
    attempt.has_outputs = !run.order.outputs.empty();
    attempt.profile = run.order.profile;
    if (!script) {
        end_unsubmitted(id, attempt, AttemptOutcome::kFailedToStart, script.error().detail);
        return {};
    }
    const Result<void> prepared = write_folder(run, folder, *script, identity->user, options_);
    if (!prepared) {
        attempts_.erase(id);
        return prepared;
    }
    attempt.view.queue = QueueState{kWaitsForSubmission, std::nullopt};
    has_news_ = true;
    wake_.notify_all();
    prepare();
    return {};
}

RunView SlurmExecutor::look(const AttemptId& id)
{
    const std::scoped_lock lock(mutex_);
    const Attempt* attempt = find_or_adopt(id);
    return attempt == nullptr ? RunView{} : attempt->view;
}

void SlurmExecutor::watch(const AttemptId& id)
{
    const std::scoped_lock lock(mutex_);
    find_or_adopt(id);
}

ExecutorChanges SlurmExecutor::changes()
{
    std::uint64_t count = 0;
    static_cast<void>(!::read(descriptor_.number(), &count, sizeof count));
    const std::scoped_lock lock(mutex_);
    return {
        .moved = std::exchange(moved_, {}), .written = {}, .some_missed = false, .queues = std::exchange(queues_, {})};
}

void SlurmExecutor::cancel(const AttemptId& id)
{
    const std::scoped_lock lock(mutex_);
    Attempt* attempt = find_or_adopt(id);
    if (attempt == nullptr || attempt->view.phase == RunPhase::kEnded || attempt->seen_end) return;
    if (attempt->asked != EndAsked::kNo) {
        attempt->cancel_sent = false; // asked again
        has_news_ = true;
        return;
    }
    stop(id, *attempt, EndAsked::kCancelled);
}

Result<std::string> SlurmExecutor::read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                               std::size_t max_bytes)
{
    const std::filesystem::path path = folder_of(id).path / to_string(stream);
    const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.number() < 0 && errno == ENOENT) return std::string();
    struct stat facts{};
    if (file.number() < 0 || ::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode))
        return Error{Errc::kUnavailable, "cannot read " + path.string()};
    const std::int64_t end = std::min<std::int64_t>(facts.st_size, options_.output_limit_bytes);
    if (end <= offset) return std::string();
    std::string data(std::min(max_bytes, static_cast<std::size_t>(end - offset)), '\0');
    const ssize_t size = ::pread(file.number(), data.data(), data.size(), offset);
    data.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return data;
}

std::vector<AttemptId> SlurmExecutor::known()
{
    std::vector<AttemptId> ids;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(options_.folder, error), end; !error && entry != end;
         entry.increment(error)) {
        if (std::optional<AttemptId> id = AttemptId::parse(entry->path().filename().string()))
            ids.push_back(std::move(*id));
    }
    return ids;
}

Result<void> SlurmExecutor::remove(const AttemptId& id)
{
    if (keeper_.is_at(id)) return Error{Errc::kConflict, "its inputs are being kept"};
    {
        const std::scoped_lock lock(mutex_);
        attempts_.erase(id);
        ::unlink(folder_of(id).script().c_str()); // by which it would be taken for one of an earlier run
    }
    return removals_.remove(id, {folder_of(id).path});
}

Json SlurmExecutor::facts() const
{
    // What else keeps them apart is Slurm's, and not known here.
    Json isolation = {{"uid_per_job", false},          {"pid_namespace", false},
                      {"mount_namespace", false},      {"ipc_namespace", false},
                      {"filters_system_calls", false}, {"hides_agent_files", options_.user.has_value()}};
    Json facts = {{"executor", "slurm"},
                  {"slurm_version", version_},
                  {"jobs_run_as", options_.user_name},
                  {"stages_inputs", true},
                  {"stores_outputs", true},
                  {"keeps_outputs_bytes", options_.input_cache.limit_bytes}};
    if (!options_.mapped.empty()) {
        facts["jobs_run_as"] = "a local user of each user";
        facts["maps_users"] = true; // by which the metascheduler tells whose a job is
        isolation["uid_per_user"] = options_.user && options_.slurm.refuses_unmapped &&
                                    find_shared_users(options_.mapped, *options_.user).empty();
    }
    facts["isolation"] = std::move(isolation);
    return facts;
}

void SlurmExecutor::read_limits(const SlurmFolder& folder, Attempt& attempt)
{
    const std::string limits = number_in(folder.limits());
    attempt.wall_limit_s = std::strtoll(limits.c_str(), nullptr, 10);
    if (const std::size_t note = limits.find(kMemoryNote); note != std::string::npos)
        attempt.memory_bytes = std::strtoll(limits.c_str() + note + kMemoryNote.size(), nullptr, 10);
    attempt.has_inputs = limits.find(kInputsNote) != std::string::npos;
    attempt.has_outputs = limits.find(kOutputsNote) != std::string::npos;
    attempt.profile = limits.ends_with(kProfileNote);
}

void SlurmExecutor::read_stop_note(const SlurmFolder& folder, Attempt& attempt)
{
    const Result<std::string> text = read_file(folder.stop(), kMaxNoteBytes);
    if (!text) return;
    attempt.asked = *text == kWallLimitNote ? EndAsked::kWallLimit : EndAsked::kCancelled;
    if (!text->starts_with(kNeverStartsNote)) return;
    attempt.asked = EndAsked::kNeverStarts;
    attempt.never_reason = text->substr(kNeverStartsNote.size());
}

/// An attempt of an earlier run of the agent stands as its folder says, until Slurm has been heard.
SlurmExecutor::Attempt* SlurmExecutor::find_or_adopt(const AttemptId& id)
{
    if (const auto found = attempts_.find(id); found != attempts_.end()) return &found->second;
    const SlurmFolder folder = folder_of(id);
    if (::access(folder.script().c_str(), F_OK) != 0) return nullptr; // it was never submitted
    // A submission of the earlier run may still be on its way.
    constexpr std::chrono::seconds kInFlight{10};
    Attempt& attempt = attempts_[id];
    attempt.is_adopted = true;
    attempt.user = decode_job_user(number_in(folder.user()));
    if (!attempt.user) attempt.user = options_.user; // an earlier agent noted none
    attempt.job = number_in(folder.job_id());
    attempt.submit_after = std::chrono::steady_clock::now() + kInFlight;
    read_stop_note(folder, attempt);
    read_limits(folder, attempt);
    attempt.view.queue = QueueState{"Slurm is asked for it after the agent's restart", std::nullopt};
    has_news_ = true;
    has_polled_ = false;
    next_poll_ = {};
    wake_.notify_all();
    return &attempt;
}

void SlurmExecutor::look_at_queues(const std::vector<QueuePlace>& places)
{
    const std::scoped_lock lock(mutex_);
    queue_looks_.set_places(places);
    prepare();
}

void SlurmExecutor::tell(const AttemptId& id)
{
    moved_.insert(id);
    wake_agent();
}

void SlurmExecutor::wake_agent()
{
    const std::uint64_t one = 1;
    static_cast<void>(!::write(descriptor_.number(), &one, sizeof one));
}

void SlurmExecutor::set_waiting(const AttemptId& id, Attempt& attempt, std::string reason,
                                std::optional<Timestamp> start)
{
    const bool is_new = !attempt.view.queue || attempt.view.queue->reason != reason;
    attempt.view = {.phase = RunPhase::kQueued, .queue = QueueState{std::move(reason), start}};
    if (!is_new) return;
    log_info("attempt_queued", {{"attempt_id", id.value},
                                {"slurm_job", attempt.job},
                                {"reason", attempt.view.queue->reason},
                                {"expected_start", start ? format_rfc3339(*start) : std::string()}});
    tell(id);
}

void SlurmExecutor::set_end(const AttemptId& id, Attempt& attempt, AttemptEnd end, const SlurmJob* account)
{
    end.attempt_id = id;
    const auto size = [&](const char* stream) {
        std::error_code error;
        const std::uintmax_t bytes = std::filesystem::file_size(folder_of(id).path / stream, error);
        return error ? 0 : static_cast<std::int64_t>(bytes);
    };
    end.stdout_bytes = size("stdout");
    end.stderr_bytes = size("stderr");
    JobUsage usage = read_usage(read_report(id, attempt, "usage"));
    if (account != nullptr) add_account(usage, *account);
    add_usage(end, usage);
    const unsigned owner = owner_of(attempt);
    const bool has_run = !attempt.has_inputs || note_inputs(end, folder_of(id).work(), owner);
    if (has_run && attempt.has_outputs) note_outputs(end, folder_of(id).work(), owner);
    if (end.staging) keeper_.keep({id, folder_of(id).inputs(), folder_of(id).work(), owner, end.outputs});
    if (has_run && attempt.profile && end.started_at) add_profile(end, folder_of(id).work());
    attempt.view = {.phase = RunPhase::kEnded, .started_at = end.started_at};
    attempt.view.end = std::move(end);
    if (!attempt.job.empty()) remember_ended(id, attempt);
    if (!attempt.job.empty()) queue_looks_.hasten(std::chrono::steady_clock::now());
    tell(id);
}

void SlurmExecutor::end_unsubmitted(const AttemptId& id, Attempt& attempt, AttemptOutcome outcome, std::string detail)
{
    AttemptEnd end;
    end.outcome = outcome;
    end.detail = std::move(detail);
    end.ended_at = clock_.now();
    set_end(id, attempt, std::move(end));
}

/// Notes why, so that a restarted agent tells the end truly.
void SlurmExecutor::stop(const AttemptId& id, Attempt& attempt, EndAsked why)
{
    attempt.asked = why;
    attempt.cancel_sent = false;
    std::string note(why == EndAsked::kWallLimit ? kWallLimitNote : kCancelledNote);
    if (why == EndAsked::kNeverStarts) note = std::string(kNeverStartsNote) + attempt.never_reason;
    static_cast<void>(write_file(folder_of(id).stop(), note));
    has_news_ = true;
    wake_.notify_all();
}

std::string SlurmExecutor::read_report(const AttemptId& id, const Attempt& attempt, const char* name) const
{
    const unsigned owner = owner_of(attempt);
    const Result<OpenFile> report = open_folder(AT_FDCWD, folder_of(id).report(), owner);
    if (!report) return {};
    Result<std::string> text = read_end(report->number(), name, owner, kMaxNoteBytes);
    return text ? std::move(*text) : std::string();
}

ScriptNotes SlurmExecutor::notes_of(const AttemptId& id, const Attempt& attempt) const
{
    ScriptNotes notes = read_notes(read_report(id, attempt, "started"), read_report(id, attempt, "ended"));
    // Its user can write a later start, but not undo that it was seen to run.
    if (attempt.started_at && notes.started_at) notes.started_at = std::min(*notes.started_at, *attempt.started_at);
    notes.is_started_again = !read_report(id, attempt, "started_again").empty();
    return notes;
}

std::string SlurmExecutor::first_job_of(const AttemptId& id, const Attempt& attempt) const
{
    const Result<std::string> job = parse_submitted(read_report(id, attempt, "first"));
    return job ? *job : std::string();
}

} // namespace fathom::agent
