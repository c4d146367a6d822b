#include "agent/executor/slurm/slurm_executor.hpp"

#include "agent/executor/batch/batch_end.hpp"
#include "agent/executor/slurm/usage_note.hpp"
#include "core/base/clock.hpp"
#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/transfer/signed_url.hpp"

#include <algorithm>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr const char* kWaitsForSubmission = "is to be submitted to Slurm";

} // namespace

SlurmExecutor::SlurmExecutor(SlurmExecutorOptions options)
    : options_(std::move(options)), orders_(make_slurm_orders(options_.slurm, options_.user)),
      client_(options_.slurm, options_.user), keeper_(options_.input_cache), poll_interval_(0)
{
    if (!options_.user) options_.s3 = in_reach_of_jobs(std::move(options_.s3));
    renewals_ = GrantRenewals(options_.folder, options_.s3);
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
    const BatchFolder folder = folder_of(id);
    const Result<JobIdentity> identity = identity_of(run.order);
    const std::scoped_lock lock(mutex_);
    if (find_or_adopt(id) != nullptr) return {};
    if (!identity) {
        end_unsubmitted(id, attempts_[id], AttemptOutcome::kFailedToStart, identity.error().detail,
                        AttemptCause::kNoLocalUser);
        return {};
    }
    const BatchOptions batch{.account = identity->account,
                             .qos = identity->qos,
                             .user = identity->user_name,
                             .programs = options_.programs,
                             .switches_wait_s = options_.slurm.switches_wait_s};
    const Result<std::string> script = script_of(run, batch);
    if (Result<void> made = make_folder_with(options_.folder, 0755); !made) return made;
    if (identity->user) {
        if (Result<void> checked = check_is_roots(options_.folder, "slurm_work_folder"); !checked) return checked;
    }
    if (Result<void> made = make_folder_with(folder.path, 0755); !made) return made;
    Attempt& attempt = attempts_[id];
    attempt.user = identity->user;
    take_limits(attempt, limits_of(run));
    if (!script) {
        end_unsubmitted(id, attempt, AttemptOutcome::kFailedToStart, script.error().detail);
        return {};
    }
    if (Result<void> filled = fill_folder(run, folder, *script, identity->user); !filled) {
        attempts_.erase(id);
        return filled;
    }
    attempt.view.queue = QueueState{kWaitsForSubmission, std::nullopt};
    has_news_ = true;
    wake_.notify_all();
    prepare();
    return {};
}

Result<void> SlurmExecutor::fill_folder(const RunOrder& run, const BatchFolder& folder, const std::string& script,
                                        const std::optional<JobUser>& user) const
{
    // Nobody knows how long it waits in Slurm's queue.
    const StagingRule staging =
        with_s3_grants(options_.staging, options_.s3, run.order, SystemClock().now(), kMaxSignedTime);
    if (Result<void> noted = note_signed(run.order, folder, user); !noted) return noted;
    return write_batch_folder(run, folder, script, user, {.staging = staging, .input_cache = options_.input_cache});
}

Result<std::string> SlurmExecutor::script_of(RunOrder run, const BatchOptions& batch) const
{
    const bool has_gpus = run.place && run.place->devices_per_unit > 0;
    Result<std::vector<std::string>> before = software_words(run.order.software, options_.software, has_gpus);
    if (!before) return before.error();
    run.before = *std::move(before);
    return batch_script(run, folder_of(run.order.attempt_id), batch);
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
    moved_.hush();
    const std::scoped_lock lock(mutex_);
    return {.moved = moved_.take(), .written = {}, .some_missed = false, .queues = std::exchange(queues_, {})};
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
    return read_batch_output(folder_of(id).path / to_string(stream), offset, max_bytes, options_.output_limit_bytes);
}

std::vector<AttemptId> SlurmExecutor::known()
{
    return attempts_in(options_.folder);
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
                  {"slurm_orders", options_.slurm.rest.empty() ? "programs" : "rest"},
                  {"jobs_run_as", options_.user_name},
                  {"stages_inputs", true},
                  {"stores_outputs", true},
                  {"keeps_outputs_bytes", options_.input_cache.limit_bytes},
                  {"reads_kept_files", true}};
    if (options_.software.kinds() != SoftwareKinds()) facts["software"] = software_facts(options_.software);
    if (!options_.mapped.empty()) {
        facts["jobs_run_as"] = "a local user of each user";
        facts["maps_users"] = true; // by which the metascheduler tells whose a job is
        isolation["uid_per_user"] = options_.user && options_.slurm.refuses_unmapped &&
                                    find_shared_users(options_.mapped, *options_.user).empty();
    }
    facts["isolation"] = std::move(isolation);
    facts.update(s3_facts(options_.s3));
    return facts;
}

void SlurmExecutor::take_limits(Attempt& attempt, const BatchLimits& limits)
{
    attempt.wall_limit_s = limits.wall_limit_s;
    attempt.memory_bytes = limits.memory_bytes;
    attempt.has_inputs = limits.has_inputs;
    attempt.has_outputs = limits.has_outputs;
    attempt.profile = limits.profile;
}

void SlurmExecutor::read_stop_note(const BatchFolder& folder, Attempt& attempt)
{
    const std::string text = read_own_note(folder.stop());
    if (text.empty()) return;
    StopNote note = decode_stop_note(text);
    attempt.asked = note.asked;
    attempt.never_reason = std::move(note.never_reason);
}

/// An attempt of an earlier run of the agent stands as its folder says, until Slurm has been heard.
SlurmExecutor::Attempt* SlurmExecutor::find_or_adopt(const AttemptId& id)
{
    if (const auto found = attempts_.find(id); found != attempts_.end()) return &found->second;
    const BatchFolder folder = folder_of(id);
    if (::access(folder.script().c_str(), F_OK) != 0) return nullptr; // it was never submitted
    // A submission of the earlier run may still be on its way.
    constexpr std::chrono::seconds kInFlight{10};
    Attempt& attempt = attempts_[id];
    attempt.is_adopted = true;
    attempt.user = decode_job_user(read_own_note(folder.user()));
    if (!attempt.user) attempt.user = options_.user; // an earlier agent noted none
    attempt.job = read_own_note(folder.job_id());
    attempt.submit_after = std::chrono::steady_clock::now() + kInFlight;
    read_stop_note(folder, attempt);
    take_limits(attempt, decode_batch_limits(read_own_note(folder.limits())));
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
    moved_.add(id);
}

void SlurmExecutor::set_end(const AttemptId& id, Attempt& attempt, AttemptEnd end, const SlurmJob* account)
{
    JobUsage usage = read_usage(read_report(id, attempt, "usage"));
    if (account != nullptr) add_account(usage, *account);
    const BatchLimits limits{attempt.wall_limit_s, attempt.memory_bytes, attempt.has_inputs, attempt.has_outputs,
                             attempt.profile};
    complete_end(end, {id, folder_of(id), limits, owner_of(attempt)}, usage, keeper_);
    attempt.view = {.phase = RunPhase::kEnded, .started_at = end.started_at};
    attempt.view.end = std::move(end);
    if (!attempt.job.empty()) ended_jobs_.add(attempt.job, {id, owner_of(attempt), attempt.user});
    if (!attempt.job.empty()) queue_looks_.hasten(std::chrono::steady_clock::now());
    moved_.add(id);
}

void SlurmExecutor::end_unsubmitted(const AttemptId& id, Attempt& attempt, AttemptOutcome outcome, std::string detail,
                                    AttemptCause cause)
{
    AttemptEnd end;
    end.outcome = outcome;
    end.cause = cause;
    end.detail = std::move(detail);
    end.ended_at = clock_.now();
    set_end(id, attempt, std::move(end));
}

/// Notes why, so that a restarted agent tells the end truly.
void SlurmExecutor::stop(const AttemptId& id, Attempt& attempt, EndAsked why)
{
    attempt.asked = why;
    attempt.cancel_sent = false;
    static_cast<void>(write_file(folder_of(id).stop(), encode(StopNote{why, attempt.never_reason})));
    has_news_ = true;
    wake_.notify_all();
}

std::string SlurmExecutor::read_report(const AttemptId& id, const Attempt& attempt, const char* name) const
{
    return agent::read_report(folder_of(id), name, owner_of(attempt));
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
