#include "agent/executor/kubernetes/kubernetes_executor.hpp"

#include "agent/executor/batch/batch_end.hpp"
#include "core/base/clock.hpp"
#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/base/utf8_prefix.hpp"
#include "core/transfer/signed_url.hpp"

#include <algorithm>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr const char* kWaitsForCreation = "is to be made in Kubernetes";
constexpr const char* kManifestName = "job.json";
// Of what the cluster, and by it the job, says: the metascheduler takes no more than 4000.
constexpr std::size_t kMaxReasonBytes = 1000;
constexpr std::size_t kMaxDetailBytes = 2000;

/// At least one of them is one.
Error first_error(const Result<JobUser>& user, const Result<std::string>& image)
{
    return user ? image.error() : user.error();
}

/// Of an attempt for which no Job can be made. An image that no pod can have is the job's own doing.
AttemptCause cause_of(const Result<JobUser>& user, const Result<std::string>& image)
{
    if (!user) return AttemptCause::kNoLocalUser;
    return image ? AttemptCause::kNone : AttemptCause::kProgramNotStarted;
}

} // namespace

KubernetesExecutor::KubernetesExecutor(KubernetesExecutorOptions options)
    : options_(std::move(options)), renewals_(options_.folder, options_.s3), keeper_(options_.input_cache),
      client_(options_.kubernetes), view_(options_.kubernetes.center)
{
    // By a connection of its own: this process forks before client_ is used.
    if (options_.asks_server) version_ = KubernetesClient(options_.kubernetes).version();
}

KubernetesExecutor::~KubernetesExecutor()
{
    for (std::jthread* thread : {&pod_thread_, &job_thread_, &thread_})
        thread->request_stop();
    client_.interrupt();
    wake_.notify_all();
}

Result<JobUser> KubernetesExecutor::user_of(const AttemptOrder& order) const
{
    const JobIdentity own{options_.user, options_.user.name, {}, {}};
    const Result<JobIdentity> identity =
        choose_identity(order, own, options_.mapped, options_.kubernetes.refuses_unmapped, "[[kubernetes_user]]");
    if (!identity) return identity.error();
    return identity->user.value_or(options_.user);
}

JobManifestOptions KubernetesExecutor::manifest_options(const std::string& image, const JobUser& user) const
{
    const KubernetesConfig& config = options_.kubernetes;
    // What is not there before the first job has ended cannot be mounted.
    std::error_code ignored;
    const bool has_cache =
        options_.input_cache.limit_bytes > 0 && std::filesystem::is_directory(options_.input_cache.folder, ignored);
    return {.center = config.center,
            .image = image,
            .pull_secrets = config.pull_secrets,
            .priority_class = config.priority_class,
            .node_selector = config.node_selector,
            .uid = user.uid,
            .gid = user.gid,
            .volume_claim = config.volume_claim,
            .volume_folder = config.volume_folder.empty() ? options_.folder : config.volume_folder,
            .programs = options_.programs,
            .input_cache = has_cache ? options_.input_cache.folder : "",
            .input_folders = options_.staging.folders,
            .output_folders = options_.staging.output_folders,
            .grace_s = config.grace_s,
            .finished_ttl_s = config.finished_ttl_s,
            .start_limit_s = config.start_limit_s};
}

void KubernetesExecutor::prepare()
{
    if (thread_.joinable()) return;
    pod_thread_ = std::jthread([this](const std::stop_token& stopped) { watch_objects(stopped, true); });
    job_thread_ = std::jthread([this](const std::stop_token& stopped) { watch_objects(stopped, false); });
    thread_ = std::jthread([this](const std::stop_token& stopped) { work(stopped); });
}

Result<void> KubernetesExecutor::start(const RunOrder& run)
{
    const AttemptId& id = run.order.attempt_id;
    const BatchFolder folder = folder_of(id);
    const std::scoped_lock lock(mutex_);
    if (find_or_adopt(id) != nullptr) return {};
    const Result<JobUser> pod_user = user_of(run.order);
    const Result<std::string> image = pod_image(run.order, options_.kubernetes);
    const Result<Json> manifest = pod_user && image ? job_manifest(run, folder, manifest_options(*image, *pod_user))
                                                    : first_error(pod_user, image);
    // A volume's own folder has the mode and owner that its driver gave it.
    std::error_code ignored;
    if (!std::filesystem::exists(options_.folder, ignored)) {
        if (Result<void> made = make_folder_with(options_.folder, 0755); !made) return made;
    }
    std::optional<JobUser> user;
    if (options_.gives_files) {
        user = pod_user ? *pod_user : options_.user;
        if (Result<void> checked = check_is_roots(options_.folder, "kubernetes_work_folder"); !checked) return checked;
    }
    if (Result<void> made = make_folder_with(folder.path, 0755); !made) return made;
    Attempt& attempt = attempts_[id];
    attempt.user = user;
    attempt.limits = limits_of(run);
    if (!manifest) {
        end_uncreated(id, attempt, AttemptOutcome::kFailedToStart, manifest.error().detail, cause_of(pod_user, image));
        return {};
    }
    const std::string script = pod_script(run, folder, options_.programs, pod_user->name);
    Result<void> prepared = write_file(folder.path / kManifestName, manifest->dump(), 0600);
    // Nobody knows how long it waits for a node.
    const BatchFolderOptions parts{
        .staging = with_s3_grants(options_.staging, options_.s3, run.order, SystemClock().now(), kMaxSignedTime),
        .input_cache = options_.input_cache,
        .job_reads_script = true};
    if (prepared) prepared = note_signed(run.order, folder, user);
    if (prepared) prepared = write_batch_folder(run, folder, script, user, parts);
    if (!prepared) {
        attempts_.erase(id);
        return prepared;
    }
    attempt.view.queue = QueueState{kWaitsForCreation, std::nullopt};
    wake();
    prepare();
    return {};
}

RunView KubernetesExecutor::look(const AttemptId& id)
{
    const std::scoped_lock lock(mutex_);
    const Attempt* attempt = find_or_adopt(id);
    return attempt == nullptr ? RunView{} : attempt->view;
}

void KubernetesExecutor::watch(const AttemptId& id)
{
    const std::scoped_lock lock(mutex_);
    find_or_adopt(id);
}

ExecutorChanges KubernetesExecutor::changes()
{
    moved_.hush();
    const std::scoped_lock lock(mutex_);
    return {.moved = moved_.take(), .written = {}, .some_missed = false, .queues = {}};
}

void KubernetesExecutor::cancel(const AttemptId& id)
{
    const std::scoped_lock lock(mutex_);
    Attempt* attempt = find_or_adopt(id);
    if (attempt == nullptr || attempt->view.phase == RunPhase::kEnded) return;
    if (attempt->asked == EndAsked::kNo) stop(id, *attempt, EndAsked::kCancelled);
}

Result<std::string> KubernetesExecutor::read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                                    std::size_t max_bytes)
{
    return read_batch_output(folder_of(id).path / to_string(stream), offset, max_bytes, options_.output_limit_bytes);
}

std::vector<AttemptId> KubernetesExecutor::known()
{
    return attempts_in(options_.folder);
}

Result<void> KubernetesExecutor::remove(const AttemptId& id)
{
    if (keeper_.is_at(id)) return Error{Errc::kConflict, "its inputs are being kept"};
    {
        const std::scoped_lock lock(mutex_);
        if (const Attempt* attempt = find_or_adopt(id)) {
            if (attempt->is_created || attempt->is_adopted) delete_later(id, attempt->job_uid);
            attempts_.erase(id);
        }
        ::unlink(folder_of(id).script().c_str()); // by which it would be taken for one of an earlier run
    }
    return removals_.remove(id, {folder_of(id).path});
}

Json KubernetesExecutor::facts() const
{
    // Each pod has namespaces and files of its own; what else keeps pods apart is the cluster's.
    Json isolation = {{"uid_per_job", false},  {"pid_namespace", true},        {"mount_namespace", true},
                      {"ipc_namespace", true}, {"filters_system_calls", true}, {"hides_agent_files", true}};
    Json facts = {{"executor", "kubernetes"},
                  {"kubernetes_version", version_},
                  {"jobs_run_as", options_.user.name},
                  {"stages_inputs", true},
                  {"stores_outputs", true},
                  {"keeps_outputs_bytes", options_.input_cache.limit_bytes},
                  {"reads_kept_files", true}};
    if (!options_.mapped.empty()) {
        facts["jobs_run_as"] = "a user id of each user";
        facts["maps_users"] = true; // by which the metascheduler tells whose a job is
        isolation["uid_per_user"] =
            options_.kubernetes.refuses_unmapped && find_shared_users(options_.mapped, options_.user).empty();
    }
    if (options_.kubernetes.takes_job_images)
        facts["software"] = {{"modules", false}, {"containers", true}, {"container_runtime", "kubernetes"}};
    facts["isolation"] = std::move(isolation);
    facts.update(s3_facts(options_.s3));
    return facts;
}

/// An attempt of an earlier run of the agent stands as its folder says, until Kubernetes has been heard.
KubernetesExecutor::Attempt* KubernetesExecutor::find_or_adopt(const AttemptId& id)
{
    if (const auto found = attempts_.find(id); found != attempts_.end()) return &found->second;
    const BatchFolder folder = folder_of(id);
    if (::access(folder.script().c_str(), F_OK) != 0) return nullptr; // it was never to be made
    Attempt& attempt = attempts_[id];
    attempt.is_adopted = true;
    attempt.user = decode_job_user(read_own_note(folder.user()));
    attempt.limits = decode_batch_limits(read_own_note(folder.limits()));
    attempt.job_uid = read_own_note(folder.job_id());
    attempt.is_created = !attempt.job_uid.empty();
    if (const std::string note = read_own_note(folder.stop()); !note.empty()) {
        StopNote asked = decode_stop_note(note);
        attempt.asked = asked.asked;
        attempt.never_reason = std::move(asked.never_reason);
    }
    attempt.view.queue = QueueState{"Kubernetes is asked for it after the agent's restart", std::nullopt};
    wake();
    return &attempt;
}

void KubernetesExecutor::wake()
{
    has_news_ = true;
    wake_.notify_all();
}

void KubernetesExecutor::set_waiting(const AttemptId& id, Attempt& attempt, std::string reason)
{
    reason = std::string(utf8_prefix(reason, kMaxReasonBytes));
    if (attempt.view.queue && attempt.view.queue->reason == reason) return;
    attempt.view = {.phase = RunPhase::kQueued, .queue = QueueState{std::move(reason), std::nullopt}};
    log_info("attempt_queued", {{"attempt_id", id.value}, {"reason", attempt.view.queue->reason}});
    moved_.add(id);
}

void KubernetesExecutor::set_end(const AttemptId& id, Attempt& attempt, AttemptEnd end)
{
    end.detail = std::string(utf8_prefix(end.detail, kMaxDetailBytes));
    complete_end(end, {id, folder_of(id), attempt.limits, owner_of(attempt)},
                 read_usage(report_of(id, attempt, "usage")), keeper_);
    attempt.view = {.phase = RunPhase::kEnded, .started_at = end.started_at};
    attempt.view.end = std::move(end);
    moved_.add(id);
}

void KubernetesExecutor::end_uncreated(const AttemptId& id, Attempt& attempt, AttemptOutcome outcome,
                                       std::string detail, AttemptCause cause)
{
    AttemptEnd end;
    end.outcome = outcome;
    end.cause = cause;
    end.detail = std::move(detail);
    end.ended_at = clock_.now();
    set_end(id, attempt, std::move(end));
}

/// Notes why, so that a restarted agent tells the end truly.
void KubernetesExecutor::stop(const AttemptId& id, Attempt& attempt, EndAsked why)
{
    attempt.asked = why;
    static_cast<void>(write_file(folder_of(id).stop(), encode(StopNote{why, attempt.never_reason})));
    wake();
}

void KubernetesExecutor::delete_later(const AttemptId& id, const std::string& uid)
{
    deletions_[job_name(id)] = {uid, {}};
    wake();
}

std::string KubernetesExecutor::report_of(const AttemptId& id, const Attempt& attempt, const char* name) const
{
    return read_report(folder_of(id), name, owner_of(attempt));
}

EndFacts KubernetesExecutor::facts_of(const AttemptId& id, const Attempt& attempt) const
{
    EndFacts facts;
    facts.asked = attempt.asked;
    facts.never_reason = attempt.never_reason;
    facts.notes = read_notes(report_of(id, attempt, "started"), report_of(id, attempt, "ended"));
    // Its user can write a later start or remove the note, but not undo that it was seen to run.
    if (attempt.started_at && (!facts.notes.started_at || *attempt.started_at < *facts.notes.started_at))
        facts.notes.started_at = attempt.started_at;
    const std::string usage = report_of(id, attempt, "usage");
    facts.was_out_of_memory =
        usage.find("oom_kill ") != std::string::npos && usage.find("oom_kill 0") == std::string::npos;
    facts.memory_bytes = attempt.limits.memory_bytes;
    facts.has_own_image = attempt.limits.has_own_image;
    facts.now = clock_.now();
    return facts;
}

} // namespace fathom::agent
