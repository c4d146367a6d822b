#include "agent/executor/kubernetes/watched_cluster.hpp"

#include <utility>

namespace fathom::agent {

void WatchedCluster::begin_jobs(Time began)
{
    jobs_.clear();
    jobs_listed_at_ = began;
}

void WatchedCluster::begin_pods(Time began)
{
    pods_.clear();
    pods_listed_at_ = began;
}

std::optional<AttemptId> WatchedCluster::take_job(const std::string& type, const Json& object)
{
    ClusterJob job = read_job(object);
    if (job.attempt.empty() || job.center != center_) return std::nullopt;
    std::optional<AttemptId> id = AttemptId::parse(job.attempt);
    if (type == "DELETED") {
        jobs_.erase(job.attempt);
        return id;
    }
    ClusterJob& known = jobs_[job.attempt];
    known = std::move(job);
    return id;
}

std::optional<ClusterPod> WatchedCluster::take_pod(const std::string& type, const Json& object)
{
    ClusterPod pod = read_pod(object);
    if (pod.attempt.empty()) return std::nullopt;
    if (type != "DELETED") {
        ClusterPod& known = pods_[pod.attempt][pod.uid];
        known = std::move(pod);
        return std::nullopt;
    }
    const auto pods = pods_.find(pod.attempt);
    if (pods != pods_.end()) pods->second.erase(pod.uid);
    if (pods != pods_.end() && pods->second.empty()) pods_.erase(pods);
    return pod;
}

const ClusterJob* WatchedCluster::job_of(const AttemptId& id) const
{
    const auto found = jobs_.find(id.value);
    return found == jobs_.end() ? nullptr : &found->second;
}

const std::map<std::string, ClusterPod>* WatchedCluster::pods_of(const AttemptId& id) const
{
    const auto found = pods_.find(id.value);
    return found == pods_.end() || found->second.empty() ? nullptr : &found->second;
}

} // namespace fathom::agent
