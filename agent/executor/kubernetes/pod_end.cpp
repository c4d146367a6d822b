#include "agent/executor/kubernetes/pod_end.hpp"

#include "core/model/out_of_memory.hpp"

#include <algorithm>
#include <array>
#include <csignal>

namespace fathom::agent {
namespace {

using std::chrono::seconds;

template <std::size_t N>
bool is_one_of(const std::string& text, const std::array<const char*, N>& texts)
{
    return std::any_of(texts.begin(), texts.end(), [&](const char* one) { return text == one; });
}

// Reasons of pods, and of their condition DisruptionTarget.
constexpr std::array kTakenBack{"Evicted",
                                "Preempting",
                                "Preempted",
                                "PreemptionByScheduler",
                                "PreemptionByKubeScheduler",
                                "EvictionByEvictionAPI",
                                "TerminationByKubelet"};
constexpr std::array kNodeReasons{"NodeLost",
                                  "NodeShutdown",
                                  "Shutdown",
                                  "Terminated",
                                  "DeletionByTaintManager",
                                  "DeletionByPodGC",
                                  "UnexpectedAdmissionError",
                                  "NodeAffinity",
                                  "OutOfcpu",
                                  "OutOfmemory",
                                  "OutOfpods",
                                  "ContainerStatusUnknown"};
constexpr std::array kNotStarted{"ContainerCannotRun", "StartError"};
constexpr std::array kHoldUps{
    "ErrImagePull",      "ImagePullBackOff",    "InvalidImageName",           "ErrImageNeverPull",
    "ImageInspectError", "RegistryUnavailable", "CreateContainerConfigError", "CreateContainerError",
    "RunContainerError", "StartError",          "PreCreateHookError",         "PostStartHookError"};

std::string in_words(const ReasonedText& text)
{
    return text.message.empty() ? text.reason : text.reason + ": " + text.message;
}

std::string where(const ClusterPod& pod)
{
    return pod.node.empty() ? "" : " on " + pod.node;
}

/// The center's doing; empty: it was not.
std::optional<AttemptOutcome> taken_by_center(const std::string& reason)
{
    if (is_one_of(reason, kTakenBack)) return AttemptOutcome::kPreempted;
    if (is_one_of(reason, kNodeReasons) || reason.starts_with("OutOf")) return AttemptOutcome::kNodeFailure;
    return std::nullopt;
}

/// @return whether the center ended it
bool set_taken(AttemptEnd& end, const ClusterPod& pod)
{
    const std::string container = pod.container_end ? pod.container_end->reason : "";
    for (const ReasonedText& text : {pod.disruption, pod.status, ReasonedText{container, ""}}) {
        const std::optional<AttemptOutcome> outcome = taken_by_center(text.reason);
        if (!outcome) continue;
        end.outcome = *outcome;
        end.detail = "Kubernetes ended it" + where(pod) + ": " + in_words(text);
        return true;
    }
    return false;
}

bool set_pod_asked(AttemptEnd& end, const EndFacts& facts)
{
    switch (facts.asked) {
    case EndAsked::kNo:
        return false;
    case EndAsked::kCancelled:
        end.outcome = AttemptOutcome::kCancelled;
        break;
    case EndAsked::kWallLimit:
        end.outcome = AttemptOutcome::kWallLimit;
        break;
    case EndAsked::kNeverStarts:
        end.outcome = AttemptOutcome::kFailedToStart;
        end.detail = "Kubernetes could not start it: " + facts.never_reason;
        break;
    }
    return true;
}

void set_out_of_memory(AttemptEnd& end, const ClusterPod& pod, const EndFacts& facts)
{
    end.outcome = AttemptOutcome::kOutOfMemory;
    end.signal = SIGKILL;
    end.detail = out_of_memory_detail("Kubernetes killed it" + where(pod));
    if (facts.memory_bytes > 0) end.detail += "; its units have " + std::to_string(facts.memory_bytes) + " bytes";
}

bool is_kill(int exit_code)
{
    return exit_code == kShellSignalled + SIGKILL || exit_code == kShellSignalled + SIGTERM;
}

/// Of a container that ended without anybody's doing.
void set_own_end(AttemptEnd& end, const ContainerEnd& ended, const EndFacts& facts)
{
    const bool has_begun = facts.notes.started_at.has_value();
    if (is_one_of(ended.reason, kNotStarted) || (ended.exit_code != 0 && !has_begun)) {
        end.outcome = AttemptOutcome::kFailedToStart;
        end.detail = "its container did not begin the program (exit code " + std::to_string(ended.exit_code) + ")";
        if (!ended.message.empty()) end.detail += ": " + ended.message;
        return;
    }
    if (ended.signal > 0 && ended.signal <= kLastSignal) {
        end.outcome = AttemptOutcome::kSignalled;
        end.signal = ended.signal;
        return;
    }
    set_exit(end, ended.exit_code);
}

void set_pod_outcome(AttemptEnd& end, const ClusterPod& pod, const EndFacts& facts)
{
    const std::optional<ContainerEnd>& ended = pod.container_end;
    const bool was_killed = !ended || is_kill(ended->exit_code);
    if (ended && ended->reason == "OOMKilled") return set_out_of_memory(end, pod, facts);
    if (was_killed && set_pod_asked(end, facts)) return;
    if (was_killed && pod.status.reason == "DeadlineExceeded") {
        end.outcome = AttemptOutcome::kWallLimit;
        return;
    }
    if (was_killed && set_taken(end, pod)) return;
    if (ended && facts.was_out_of_memory && ended->exit_code == kShellSignalled + SIGKILL)
        return set_out_of_memory(end, pod, facts);
    if (ended && ended->reason == "ContainerStatusUnknown") {
        set_taken(end, pod);
        return;
    }
    if (ended && was_killed && pod.is_being_deleted) {
        end.outcome = AttemptOutcome::kLost;
        end.detail = "its pod was deleted" + where(pod) + ", not by who submitted the job";
        return;
    }
    if (ended) return set_own_end(end, *ended, facts);
    end.outcome = AttemptOutcome::kLost;
    end.detail =
        "its pod is " + pod.phase + where(pod) + (pod.status.reason.empty() ? "" : ": " + in_words(pod.status));
}

/// The script's times count within the second that Kubernetes tells, and not as a shorter run.
void set_pod_times(AttemptEnd& end, const ClusterPod& pod, const ScriptNotes& notes)
{
    constexpr seconds kTolerance(2);
    if (pod.container_end) {
        const ContainerEnd& ended = *pod.container_end;
        end.ended_at = ended.finished_at.value_or(end.ended_at);
        end.started_at = ended.started_at;
        const bool fits = notes.started_at && (!ended.started_at || *notes.started_at >= *ended.started_at) &&
                          *notes.started_at <= end.ended_at + kTolerance;
        if (fits) end.started_at = notes.started_at;
        if (notes.ended_at && std::chrono::abs(*notes.ended_at - end.ended_at) <= kTolerance)
            end.ended_at = *notes.ended_at;
        // A container that never ran has times of 1970, or none.
        if (end.started_at && end.started_at->time_since_epoch() <= seconds(0)) end.started_at.reset();
    } else {
        end.started_at = notes.started_at;
    }
}

void finish(AttemptEnd& end, const EndFacts& facts)
{
    if (end.outcome == AttemptOutcome::kFailedToStart) {
        end.started_at.reset();
        // Else whoever names images that nobody has could keep other people's jobs from the center.
        if (facts.has_own_image) end.cause = AttemptCause::kProgramNotStarted;
    }
    if (!end.started_at) return;
    end.ended_at = std::max(end.ended_at, *end.started_at);
    end.run_s = std::chrono::duration<double>(end.ended_at - *end.started_at).count();
    end.cpu_s = facts.notes.cpu_s;
}

} // namespace

PodStage stage_of(const ClusterPod& pod)
{
    if (pod.container_end || pod.phase == "Succeeded" || pod.phase == "Failed") return PodStage::kEnded;
    return pod.is_running || pod.phase == "Running" ? PodStage::kRuns : PodStage::kWaits;
}

std::string waiting_reason(const ClusterPod& pod)
{
    if (!pod.waiting.reason.empty()) return in_words(pod.waiting);
    if (!pod.unschedulable.reason.empty()) return in_words(pod.unschedulable);
    return pod.node.empty() ? "waits for Kubernetes to choose a node" : "is being started on " + pod.node;
}

bool is_held_up(const ClusterPod& pod)
{
    return is_one_of(pod.waiting.reason, kHoldUps);
}

AttemptEnd end_of_pod(const ClusterPod& pod, const EndFacts& facts)
{
    AttemptEnd end;
    end.ended_at = facts.now;
    end.nodes = pod.node.substr(0, kMaxNodesBytes);
    set_pod_times(end, pod, facts.notes);
    set_pod_outcome(end, pod, facts);
    finish(end, facts);
    return end;
}

AttemptEnd end_of_gone(const std::optional<ClusterPod>& last, const EndFacts& facts, const std::string& what)
{
    AttemptEnd end;
    end.started_at = facts.notes.started_at;
    end.ended_at = facts.notes.ended_at.value_or(facts.now);
    if (last) end.nodes = last->node.substr(0, kMaxNodesBytes);
    const bool has_end = facts.notes.started_at && facts.notes.ended_at && facts.notes.exit_code;
    if (has_end && !is_kill(static_cast<int>(*facts.notes.exit_code))) {
        set_exit(end, static_cast<int>(*facts.notes.exit_code));
        end.detail = what + " is gone from Kubernetes; its script says how it ended";
    } else if (!set_pod_asked(end, facts) && !(last && set_taken(end, *last))) {
        end.outcome = AttemptOutcome::kLost;
        end.detail = what + " is gone from Kubernetes, not by who submitted the job, and its script has left no end";
    }
    finish(end, facts);
    return end;
}

} // namespace fathom::agent
