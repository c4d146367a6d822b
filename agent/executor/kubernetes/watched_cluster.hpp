#pragma once

#include "agent/executor/kubernetes/cluster_objects.hpp"
#include "core/base/id.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace fathom::agent {

/// The Jobs and pods of a center's agent, as the API server told of them last: by lists of all, and by watches of what
/// changes. Not thread-safe.
class WatchedCluster {
  public:
    using Time = std::chrono::steady_clock::time_point;

    explicit WatchedCluster(std::string center) : center_(std::move(center)) {}

    /// All Jobs are told anew, as they were at this time or later.
    void begin_jobs(Time began);
    void begin_pods(Time began);
    /// Takes what is told of a Job. @return whose it is; empty: nobody's of this center
    /// @param type  as watches say it: ADDED, MODIFIED or DELETED
    std::optional<AttemptId> take_job(const std::string& type, const Json& object);
    /// Takes what is told of a pod. @return the last that is told of it, where it was deleted
    std::optional<ClusterPod> take_pod(const std::string& type, const Json& object);

    /// nullptr: there is none.
    const ClusterJob* job_of(const AttemptId& id) const;
    /// By their uids; nullptr: there are none.
    const std::map<std::string, ClusterPod>* pods_of(const AttemptId& id) const;
    /// By the label of the attempt.
    const std::map<std::string, ClusterJob>& jobs() const { return jobs_; }
    /// Whether all Jobs and all pods were told once.
    bool has_listed() const { return jobs_listed_at_.has_value() && pods_listed_at_.has_value(); }
    /// When the last list of Jobs that came to its end began.
    std::optional<Time> jobs_listed_at() const { return jobs_listed_at_; }

  private:
    std::string center_;
    std::map<std::string, ClusterJob> jobs_;                        ///< by the label of the attempt
    std::map<std::string, std::map<std::string, ClusterPod>> pods_; ///< likewise, and by their uids
    std::optional<Time> jobs_listed_at_;
    std::optional<Time> pods_listed_at_;
};

} // namespace fathom::agent
