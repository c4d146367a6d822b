#include "agent/executor/kubernetes/kubernetes_executor.hpp"
#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/base/utf8_prefix.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

// What the executor's threads do: make, delete and watch Jobs, and tell what became of them.
namespace fathom::agent {
namespace {

using namespace std::chrono_literals;

constexpr auto kMinJudging = 200ms; ///< between two looks at all attempts
constexpr auto kMaxJudging = 1s;
constexpr std::chrono::seconds kCreatePause{15};
/// So long after its grace a pod that is being deleted may take; then nobody is there to end it.
constexpr std::chrono::seconds kMaxDeleting{60};
constexpr std::chrono::seconds kMaxLag{3}; ///< between what the two watches tell
constexpr std::size_t kMaxManifestBytes = 8UL << 20U;
constexpr std::size_t kMaxLogInDetail = 500;
constexpr std::size_t kMaxNeverReasonBytes = 1000; // a note of how it was stopped holds it

/// Appends to a file that its job's user could have replaced.
void append_to(const std::filesystem::path& path, std::string_view text)
{
    const OpenFile file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.number() >= 0) static_cast<void>(!::write(file.number(), text.data(), text.size()));
}

/// The query for what this center's agent has made.
std::string own_objects(const std::string& center)
{
    return "labelSelector=" +
           percent_encode(std::string(kManagedByLabel) + "=" + kManagedBy + "," + kCenterLabel + "=" + center);
}

} // namespace

void KubernetesExecutor::work(const std::stop_token& stopped)
{
    while (!stopped.stop_requested()) {
        create_due();
        delete_due();
        explain_due();
        renewals_.look(SystemClock().now());
        std::unique_lock lock(mutex_);
        for (auto& [id, attempt] : attempts_) {
            if (attempt.view.phase != RunPhase::kEnded && !attempt.unexplained_end) judge(id, attempt);
        }
        // What judging has asked for is done at once.
        wake_.wait_for(lock, stopped, kMaxJudging, [&] { return std::exchange(has_news_, false); });
        lock.unlock();
        if (!stopped.stop_requested()) std::this_thread::sleep_for(kMinJudging);
    }
}

void KubernetesExecutor::create_due()
{
    std::vector<AttemptId> due;
    {
        const std::scoped_lock lock(mutex_);
        const auto now = std::chrono::steady_clock::now();
        if (create_after_ > now) return;
        for (auto& [id, attempt] : attempts_) {
            if (attempt.is_created || attempt.view.phase == RunPhase::kEnded || attempt.create_after > now) continue;
            if (attempt.is_adopted) {
                // Its Job may have come to its end, and be gone: what has begun is not made again.
                if (!view_.has_listed() || view_.job_of(id) != nullptr) continue;
                if (!report_of(id, attempt, "first").empty()) {
                    attempt.is_created = true;
                    continue;
                }
            }
            if (attempt.asked == EndAsked::kNo) {
                due.push_back(id);
                continue;
            }
            // The answer to an earlier creation may have been lost.
            if (attempt.create_after != SteadyTime{}) delete_later(id, {});
            end_uncreated(id, attempt, AttemptOutcome::kCancelled, "");
        }
    }
    for (const AttemptId& id : due) {
        create(id);
        const std::scoped_lock lock(mutex_);
        if (create_after_ > std::chrono::steady_clock::now()) return;
    }
}

/// A Job that is there already counts as the attempt's by its labels.
void KubernetesExecutor::create(const AttemptId& id)
{
    const Result<std::string> text = read_file(folder_of(id).path / "job.json", kMaxManifestBytes);
    const Result<Json> manifest = text ? parse_json(*text, {.max_bytes = kMaxManifestBytes}) : text.error();
    Result<Json> made = manifest ? client_.create_job(*manifest) : manifest.error();
    const bool is_there = !made && made.error().code == Errc::kConflict;
    if (is_there) made = client_.read_job(job_name(id));
    const std::chrono::milliseconds pause = client_.pause();

    const std::scoped_lock lock(mutex_);
    const auto found = attempts_.find(id);
    if (found == attempts_.end()) {
        const ClusterJob left = made ? fathom::agent::read_job(*made) : ClusterJob();
        if (left.attempt == id.value && left.center == options_.kubernetes.center) delete_later(id, left.uid);
        return;
    }
    Attempt& attempt = found->second;
    const auto now = std::chrono::steady_clock::now();
    if (made) {
        const ClusterJob job = fathom::agent::read_job(*made);
        if (job.attempt != id.value || job.center != options_.kubernetes.center)
            return end_uncreated(id, attempt, AttemptOutcome::kFailedToStart,
                                 "Kubernetes has a Job " + job.name + " that is not this center's");
        static_cast<void>(write_file(folder_of(id).job_id(), job.uid));
        attempt.job_uid = job.uid;
        attempt.created_at = now;
        attempt.is_created = true;
        return set_waiting(id, attempt, "its Job is made");
    }
    if (!is_there && made.error().code == Errc::kInvalid)
        return end_uncreated(id, attempt, AttemptOutcome::kFailedToStart,
                             "Kubernetes refuses it: " + made.error().detail);
    attempt.create_after = now + kCreatePause;
    create_after_ = now + pause;
    set_waiting(id, attempt, "Kubernetes does not take it now: " + made.error().detail);
}

void KubernetesExecutor::delete_due()
{
    std::map<std::string, Deletion> due;
    {
        const std::scoped_lock lock(mutex_);
        for (const auto& [name, deletion] : deletions_) {
            if (deletion.not_before <= std::chrono::steady_clock::now()) due.emplace(name, deletion);
        }
    }
    for (const auto& [name, deletion] : due) {
        const Result<void> deleted = client_.delete_job(name, deletion.uid);
        const std::scoped_lock lock(mutex_);
        const auto found = deletions_.find(name);
        if (deleted && found != deletions_.end()) deletions_.erase(found);
        if (deleted) continue;
        log_warning("kubernetes_delete_failed",
                    {{"job", name}, {"reason", deleted.error().detail}, {"effect", "it is asked again"}});
        if (found != deletions_.end())
            found->second.not_before =
                std::chrono::steady_clock::now() + std::max<std::chrono::milliseconds>(client_.pause(), kCreatePause);
        if (client_.pause().count() > 0) return; // else each would wait for a server that does not answer
    }
}

/// Of programs that did not begin the pod's log says why.
void KubernetesExecutor::explain_due()
{
    std::vector<std::pair<AttemptId, std::string>> due;
    {
        const std::scoped_lock lock(mutex_);
        for (const auto& [id, attempt] : attempts_) {
            if (attempt.unexplained_end) due.emplace_back(id, attempt.last_pod ? attempt.last_pod->name : "");
        }
    }
    for (const auto& [id, pod] : due) {
        const Result<std::string> log = pod.empty() ? std::string() : client_.read_log(pod);
        const std::scoped_lock lock(mutex_);
        const auto found = attempts_.find(id);
        if (found == attempts_.end() || !found->second.unexplained_end) continue;
        AttemptEnd end = *std::exchange(found->second.unexplained_end, std::nullopt);
        if (log && !log->empty()) {
            append_to(folder_of(id).path / "stderr", *log);
            end.detail += ": " + std::string(utf8_prefix(*log, kMaxLogInDetail));
        }
        set_end(id, found->second, std::move(end));
    }
}

const ClusterPod* KubernetesExecutor::pod_of(const AttemptId& id, const Attempt& attempt) const
{
    const std::map<std::string, ClusterPod>* const pods = view_.pods_of(id);
    if (pods == nullptr) return nullptr;
    if (pods->size() == 1 && attempt.last_pod && pods->contains(attempt.last_pod->uid)) return &pods->begin()->second;
    std::string first = report_of(id, attempt, "first");
    while (first.ends_with('\n'))
        first.pop_back();
    if (first.empty()) return &pods->begin()->second;
    for (const auto& [uid, pod] : *pods) {
        if (pod.name == first) return &pod;
    }
    return nullptr; // one that was made in its place, which does not run the program again
}

void KubernetesExecutor::judge(const AttemptId& id, Attempt& attempt)
{
    const ClusterJob* job = view_.job_of(id);
    if (job != nullptr) {
        attempt.is_seen = true;
        attempt.is_created = true;
        if (attempt.job_uid.empty()) {
            attempt.job_uid = job->uid;
            static_cast<void>(write_file(folder_of(id).job_id(), job->uid));
            log_info("kubernetes_job_found_again", {{"attempt_id", id.value}, {"job", job->name}});
        }
    }
    if (!attempt.is_created) return;
    if (attempt.asked != EndAsked::kNo && !attempt.is_delete_asked) {
        attempt.is_delete_asked = true;
        delete_later(id, attempt.job_uid);
    }
    if (const ClusterPod* pod = pod_of(id, attempt)) {
        attempt.last_pod = *pod;
        return judge_pod(id, attempt, *pod);
    }
    judge_without_pod(id, attempt, job);
}

void KubernetesExecutor::judge_pod(const AttemptId& id, Attempt& attempt, const ClusterPod& pod)
{
    const PodStage stage = stage_of(pod);
    if (stage == PodStage::kEnded) return judge_end(id, attempt, pod);
    if (pod.is_being_deleted) {
        const auto now = std::chrono::steady_clock::now();
        if (!attempt.deleting_since) attempt.deleting_since = now;
        // Its node is gone, or does not answer: nobody else ends it.
        if (now - *attempt.deleting_since > std::chrono::seconds(options_.kubernetes.grace_s) + kMaxDeleting)
            return set_end(id, attempt, end_of_gone(pod, facts_of(id, attempt), "its pod"));
    }
    if (stage == PodStage::kRuns) return judge_run(id, attempt, pod);
    judge_wait(id, attempt, pod);
}

void KubernetesExecutor::judge_wait(const AttemptId& id, Attempt& attempt, const ClusterPod& pod)
{
    set_waiting(id, attempt, waiting_reason(pod));
    if (!is_held_up(pod)) {
        attempt.held_up_since.reset();
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (!attempt.held_up_since) attempt.held_up_since = now;
    const bool is_over = now - *attempt.held_up_since >= std::chrono::seconds(options_.kubernetes.start_limit_s);
    if (attempt.asked != EndAsked::kNo || !is_over) return;
    attempt.never_reason = utf8_prefix(waiting_reason(pod), kMaxNeverReasonBytes);
    stop(id, attempt, EndAsked::kNeverStarts);
}

void KubernetesExecutor::judge_run(const AttemptId& id, Attempt& attempt, const ClusterPod& pod)
{
    if (attempt.view.phase != RunPhase::kAlive) {
        const ScriptNotes notes = read_notes(report_of(id, attempt, "started"), "");
        if (!notes.started_at) return set_waiting(id, attempt, "its container begins on " + pod.node);
        attempt.started_at = notes.started_at;
        attempt.view = {.phase = RunPhase::kAlive, .started_at = notes.started_at};
        log_info("kubernetes_job_runs", {{"attempt_id", id.value}, {"pod", pod.name}, {"node", pod.node}});
        moved_.add(id);
    }
    const std::chrono::seconds limit(attempt.limits.wall_limit_s);
    if (attempt.asked == EndAsked::kNo && clock_.now() - *attempt.view.started_at > limit)
        stop(id, attempt, EndAsked::kWallLimit);
}

void KubernetesExecutor::judge_end(const AttemptId& id, Attempt& attempt, const ClusterPod& pod)
{
    const EndFacts facts = facts_of(id, attempt);
    AttemptEnd end = end_of_pod(pod, facts);
    const bool is_unexplained = end.outcome == AttemptOutcome::kFailedToStart && facts.asked == EndAsked::kNo;
    if (!is_unexplained) return set_end(id, attempt, std::move(end));
    attempt.unexplained_end = std::move(end);
    has_news_ = true;
}

void KubernetesExecutor::judge_without_pod(const AttemptId& id, Attempt& attempt, const ClusterJob* job)
{
    if (!view_.has_listed() || !is_pods_watched_) {
        attempt.podless_since.reset();
        return;
    }
    if (attempt.last_pod && stage_of(*attempt.last_pod) == PodStage::kEnded)
        return judge_end(id, attempt, *attempt.last_pod);
    const bool is_gone =
        job == nullptr && (attempt.is_seen || view_.jobs_listed_at().value_or(SteadyTime()) >= attempt.created_at);
    const bool has_failed = job != nullptr && (!job->failure.reason.empty() || job->is_complete);
    if (!is_gone && !has_failed && !attempt.last_pod) {
        attempt.podless_since.reset();
        return set_waiting(id, attempt, "Kubernetes has made no pod of its Job yet");
    }
    // Jobs and pods are told apart from each other: its pod may be about to be told.
    const auto now = std::chrono::steady_clock::now();
    if (!attempt.podless_since) attempt.podless_since = now;
    if (now - *attempt.podless_since < kMaxLag) return;
    AttemptEnd end = end_of_gone(attempt.last_pod, facts_of(id, attempt), is_gone ? "its Job" : "its pod");
    if (has_failed && end.outcome == AttemptOutcome::kLost)
        end.detail += " (" + job->failure.reason + ": " + job->failure.message + ")";
    if (job != nullptr) delete_later(id, attempt.job_uid); // or its controller would make another pod
    set_end(id, attempt, std::move(end));
}

void KubernetesExecutor::take_job(const std::string& type, const Json& object)
{
    const std::optional<AttemptId> id = view_.take_job(type, object);
    const auto found = id ? attempts_.find(*id) : attempts_.end();
    if (found != attempts_.end()) found->second.is_seen = true;
}

void KubernetesExecutor::take_pod(const std::string& type, const Json& object)
{
    std::optional<ClusterPod> gone = view_.take_pod(type, object);
    const std::optional<AttemptId> id = gone ? AttemptId::parse(gone->attempt) : std::nullopt;
    const auto found = id ? attempts_.find(*id) : attempts_.end();
    // Its last state may tell more than was told before.
    if (found != attempts_.end() && (!found->second.last_pod || found->second.last_pod->uid == gone->uid))
        found->second.last_pod = std::move(gone);
}

bool KubernetesExecutor::list_objects(KubernetesClient& client, const std::string& path, bool is_of_pods,
                                      std::string& version)
{
    const SteadyTime began = std::chrono::steady_clock::now();
    const std::string query = own_objects(options_.kubernetes.center);
    const Result<ObjectList> list = client.list(path, query);
    const std::scoped_lock lock(mutex_);
    note_reached(is_of_pods, list ? Result<void>() : list.error());
    if (is_of_pods) is_pods_watched_ = list.has_value();
    if (!list) return false;
    is_of_pods ? view_.begin_pods(began) : view_.begin_jobs(began);
    for (const Json& object : list->items)
        is_of_pods ? take_pod("ADDED", object) : take_job("ADDED", object);
    version = list->version;
    if (!is_of_pods) delete_leftovers();
    wake();
    return true;
}

/// Jobs of attempts that are removed: the agent ended before their deletion. Only what has ended: another center may
/// have this one's label by mistake.
void KubernetesExecutor::delete_leftovers()
{
    for (const auto& [attempt, job] : view_.jobs()) {
        const std::optional<AttemptId> id = AttemptId::parse(attempt);
        if (!id || (!job.is_complete && job.failure.reason.empty()) || attempts_.contains(*id)) continue;
        if (::access(folder_of(*id).path.c_str(), F_OK) != 0) delete_later(*id, job.uid);
    }
}

void KubernetesExecutor::watch_objects(const std::stop_token& stopped, bool is_of_pods)
{
    KubernetesClient client(options_.kubernetes);
    const std::stop_callback interrupt(stopped, [&client] { client.interrupt(); });
    const std::string path = is_of_pods ? client.path_of("/api/v1", "pods") : client.path_of("/apis/batch/v1", "jobs");
    const std::string query = own_objects(options_.kubernetes.center);
    const auto on_event = [&](const std::string& type, const Json& object) {
        const std::scoped_lock lock(mutex_);
        is_of_pods ? take_pod(type, object) : take_job(type, object);
        wake();
    };
    std::string version; ///< empty: all is to be listed
    while (!stopped.stop_requested()) {
        bool is_well = true;
        if (version.empty()) {
            is_well = list_objects(client, path, is_of_pods, version);
        } else {
            const Result<WatchEnd> end = client.watch(path, query, version, on_event);
            is_well = end && *end != WatchEnd::kGone;
            const std::scoped_lock lock(mutex_);
            if (is_of_pods && !end) is_pods_watched_ = false;
            // Pods are listed anew after a failure, too: what has no pod is not judged before.
            if (!is_well && (end || is_of_pods)) version.clear();
            if (!stopped.stop_requested()) note_reached(is_of_pods, end ? Result<void>() : end.error());
        }
        // A server that ends watches or lists at once is not asked without a pause.
        const std::chrono::milliseconds pause =
            std::max<std::chrono::milliseconds>(client.pause(), is_well ? 50ms : 1s);
        std::unique_lock lock(mutex_);
        std::condition_variable_any never;
        never.wait_for(lock, stopped, pause, [] { return false; });
    }
}

void KubernetesExecutor::note_reached(bool is_of_pods, const Result<void>& reached)
{
    bool& is_reached = is_of_pods ? are_pods_reached_ : are_jobs_reached_;
    if (std::exchange(is_reached, reached.has_value()) == reached.has_value()) return;
    const char* const watched = is_of_pods ? "pods" : "jobs";
    if (reached)
        log_info("kubernetes_answers", {{"watched", watched}});
    else
        log_warning("kubernetes_unreachable",
                    {{"watched", watched},
                     {"reason", reached.error().detail},
                     {"effect", is_of_pods ? "jobs go on; no start and no end is told"
                                           : "jobs go on; what becomes of their Jobs is not seen"}});
}

} // namespace fathom::agent
