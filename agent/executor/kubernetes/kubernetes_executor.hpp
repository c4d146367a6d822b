#pragma once

#include "agent/executor/batch/grant_renewals.hpp"
#include "agent/executor/batch/input_keeper.hpp"
#include "agent/executor/batch/moved_attempts.hpp"
#include "agent/executor/batch/user_map.hpp"
#include "agent/executor/kubernetes/job_manifest.hpp"
#include "agent/executor/kubernetes/kubernetes_client.hpp"
#include "agent/executor/kubernetes/pod_end.hpp"
#include "agent/executor/kubernetes/watched_cluster.hpp"
#include "agent/executor/local/folder_removals.hpp"
#include "agent/executor/s3_grants.hpp"

#include <condition_variable>
#include <thread>

namespace fathom::agent {

struct KubernetesExecutorOptions {
    std::filesystem::path folder; ///< holds one folder for each attempt; the same path here and in pods
    KubernetesConfig kubernetes;
    JobUser user;                     ///< of pods; not root
    std::vector<MappedUser> mapped{}; ///< users of pods of some of the network's users; empty: `user` for all
    bool gives_files = false;         ///< files must be made the pod's user's: the agent is root
    std::filesystem::path programs;   ///< folder of fathom-probe, in pods
    std::int64_t output_limit_bytes = 16LL << 20U;
    StagingRule staging{};
    S3Store s3{}; ///< of s3:// URLs
    InputCachePlace input_cache{};
    bool asks_server = true; ///< for its version, for facts()
};

/// Runs attempts as Jobs of a Kubernetes cluster. An attempt's id is in its Job's name, so that a creation that is
/// repeated finds it. Three threads ask the API server: one makes and deletes Jobs and tells ends, two watch Jobs and
/// pods; look() tells what was heard last, so an API server that does not answer changes nothing.
class KubernetesExecutor final : public Executor {
  public:
    explicit KubernetesExecutor(KubernetesExecutorOptions options);
    ~KubernetesExecutor() override;

    bool places() const override { return true; }
    void prepare() override;
    Result<void> start(const RunOrder& run) override;
    RunView look(const AttemptId& id) override;
    void watch(const AttemptId& id) override;
    void unwatch(const AttemptId& /*id*/) override {}
    ExecutorChanges changes() override;
    int change_descriptor() const override { return moved_.descriptor(); }
    std::vector<std::int64_t> given_cpus(const AttemptId& /*id*/) override { return {}; }
    void cancel(const AttemptId& id) override;
    Result<std::string> read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                    std::size_t max_bytes) override;
    KeptFileRead kept_file_read() const override { return kept_file_read_of(options_.input_cache); }
    void end_leftovers(const AttemptId& id) override { cancel(id); }
    std::vector<AttemptId> known() override;
    Result<void> remove(const AttemptId& id) override;
    Json facts() const override;

  private:
    using SteadyTime = std::chrono::steady_clock::time_point;

    /// An attempt until remove().
    struct Attempt {
        std::optional<JobUser> user{}; ///< that its pod runs as, where that was noted; else `options_.user`
        BatchLimits limits;
        bool is_adopted{}; ///< of an earlier run of the agent: its Job may be there
        bool is_created{}; ///< its Job was made, or found
        bool is_seen{};    ///< its Job, by the watch
        std::string job_uid;
        SteadyTime created_at{};
        SteadyTime create_after{}; ///< its Job is not made (again) before
        EndAsked asked = EndAsked::kNo;
        std::string never_reason;
        bool is_delete_asked{};
        std::optional<ClusterPod> last_pod{}; ///< as it was seen last
        std::optional<SteadyTime> held_up_since{};
        std::optional<SteadyTime> deleting_since{}; ///< of its pod
        std::optional<SteadyTime> podless_since{};  ///< it has ended, or is gone, and no pod of it is known
        std::optional<Timestamp> started_at{};
        std::optional<AttemptEnd> unexplained_end{}; ///< of a program that did not begin, until the log was read
        RunView view{RunPhase::kQueued};
    };
    /// A Job to be deleted; by name.
    struct Deletion {
        std::string uid;
        SteadyTime not_before{};
    };

    BatchFolder folder_of(const AttemptId& id) const { return {options_.folder / id.value}; }
    JobManifestOptions manifest_options(const std::string& image, const JobUser& user) const;
    /// Who the pod of an order runs as. @error kInfeasible  nobody.
    Result<JobUser> user_of(const AttemptOrder& order) const;
    unsigned owner_of(const Attempt& attempt) const { return attempt.user ? attempt.user->uid : options_.user.uid; }

    // With mutex_ held.
    Attempt* find_or_adopt(const AttemptId& id);
    void wake();
    void set_waiting(const AttemptId& id, Attempt& attempt, std::string reason);
    void set_end(const AttemptId& id, Attempt& attempt, AttemptEnd end);
    void end_uncreated(const AttemptId& id, Attempt& attempt, AttemptOutcome outcome, std::string detail,
                       AttemptCause cause = AttemptCause::kNone);
    void stop(const AttemptId& id, Attempt& attempt, EndAsked why);
    void delete_later(const AttemptId& id, const std::string& uid);
    std::string report_of(const AttemptId& id, const Attempt& attempt, const char* name) const;
    EndFacts facts_of(const AttemptId& id, const Attempt& attempt) const;
    /// The pod that runs the attempt: of several the first.
    const ClusterPod* pod_of(const AttemptId& id, const Attempt& attempt) const;
    void judge(const AttemptId& id, Attempt& attempt);
    void judge_pod(const AttemptId& id, Attempt& attempt, const ClusterPod& pod);
    void judge_wait(const AttemptId& id, Attempt& attempt, const ClusterPod& pod);
    void judge_run(const AttemptId& id, Attempt& attempt, const ClusterPod& pod);
    void judge_end(const AttemptId& id, Attempt& attempt, const ClusterPod& pod);
    void judge_without_pod(const AttemptId& id, Attempt& attempt, const ClusterJob* job);
    void delete_leftovers();
    void take_job(const std::string& type, const Json& object);
    void take_pod(const std::string& type, const Json& object);

    // On the threads.
    void work(const std::stop_token& stopped);
    void create_due();
    void create(const AttemptId& id);
    void delete_due();
    void explain_due();
    void watch_objects(const std::stop_token& stopped, bool is_of_pods);
    /// @return whether all objects were read
    bool list_objects(KubernetesClient& client, const std::string& path, bool is_of_pods, std::string& version);
    void note_reached(bool is_of_pods, const Result<void>& reached);

    KubernetesExecutorOptions options_;
    GrantRenewals renewals_; ///< of `thread_`
    SystemClock clock_;
    FolderRemovals removals_;
    InputKeeper keeper_;
    std::string version_;
    KubernetesClient client_; ///< of the working thread
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::map<AttemptId, Attempt> attempts_;
    MovedAttempts moved_;
    WatchedCluster view_;
    bool is_pods_watched_ = false;              ///< or listed; what has no pod may have one else
    std::map<std::string, Deletion> deletions_; ///< by the Job's name
    SteadyTime create_after_{};                 ///< none is made before
    bool has_news_ = false;
    bool are_jobs_reached_ = true; ///< by their watch; each has a connection of its own
    bool are_pods_reached_ = true;
    std::jthread pod_thread_;
    std::jthread job_thread_;
    std::jthread thread_; ///< from the first use on: the helper forks before; last, so that they end first
};

} // namespace fathom::agent
