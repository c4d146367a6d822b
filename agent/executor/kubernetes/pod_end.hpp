#pragma once

#include "agent/executor/batch/script_notes.hpp"
#include "agent/executor/kubernetes/cluster_objects.hpp"

namespace fathom::agent {

// What a pod's state means for its attempt. Pure.

enum class PodStage { kWaits, kRuns, kEnded };

/// A pod that is being deleted has not ended before its container has.
PodStage stage_of(const ClusterPod& pod);

/// Why a pod that waits does, for people: the scheduler's words, or the kubelet's.
std::string waiting_reason(const ClusterPod& pod);

/// Whether a pod waits for what waiting seldom mends: an image that cannot be pulled, a container that cannot be made.
bool is_held_up(const ClusterPod& pod);

/// Why we asked for an end, and what the agent has seen besides Kubernetes.
struct EndFacts {
    EndAsked asked = EndAsked::kNo;
    std::string never_reason{}; ///< of EndAsked::kNeverStarts
    ScriptNotes notes{};
    bool was_out_of_memory{};    ///< the script noted that the kernel killed for memory
    std::int64_t memory_bytes{}; ///< that the pod may use; 0: not known
    bool has_own_image{};        ///< the pod's image is the one that the job names
    Timestamp now{};
};

/// How an attempt ended whose pod has. Its program's own end counts where it came before what we, or Kubernetes, did
/// to it. Exit codes above 128 are signals. OOMKilled is `out_of_memory`; an eviction and a pre-emption are
/// `preempted`; what a node that is lost, is shut down or refuses the pod does is `node_failure`; a pod's deadline is
/// `wall_limit`; a container that does not begin, or ends before the script could note its start, is `failed_to_start`.
/// In an image that the job names that is not the center's failure: nobody can tell whose it is.
AttemptEnd end_of_pod(const ClusterPod& pod, const EndFacts& facts);

/// How an attempt ended whose pod, or whose Job, is gone without having been seen to end: as the script noted, else as
/// we asked, else by what was last seen of the pod, else it is lost.
/// @param last  the pod as it was seen last; empty: none was
/// @param what  that is gone, for people: "its Job"
AttemptEnd end_of_gone(const std::optional<ClusterPod>& last, const EndFacts& facts, const std::string& what);

} // namespace fathom::agent
