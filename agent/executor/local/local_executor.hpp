#pragma once

#include "agent/executor/local/folder_removals.hpp"
#include "agent/executor/local/folder_watch.hpp"
#include "agent/executor/local/job_users.hpp"
#include "agent/executor/local/spare_supervisors.hpp"
#include "agent/executor/s3_grants.hpp"
#include "agent/executor/software.hpp"

namespace fathom::agent {

struct LocalExecutorOptions {
    std::filesystem::path attempts;   ///< folder that holds one folder for each attempt
    std::filesystem::path supervisor; ///< the program that has the subcommand `supervise`
    std::filesystem::path programs;   ///< folder of fathom-probe
    std::int64_t output_limit_bytes = 16LL << 20U;
    std::int64_t disk_bytes_per_processor = 0;   ///< that a job's files may take; 0: all that there are
    std::int64_t disk_files_per_processor = 0;   ///< that a job may have in its folders; 0: as many as it likes
    IoLimits io{};                               ///< that a job is held to for each processor; the device is found
    std::optional<JobUser> user{};               ///< of all jobs; without it and `user_ids` they run as the agent does
    std::optional<UserIds> user_ids{};           ///< each job runs as another of these; goes before `user`
    std::filesystem::path hidden{};              ///< the agent's folder, hidden from jobs that run as the agent does
    std::filesystem::path home{};                ///< of the agent's user, likewise; empty: it is not hidden
    bool shows_home = false;                     ///< but for what JobView shows of it
    std::vector<std::filesystem::path> shared{}; ///< folders below /tmp, /var/tmp or /dev/shm that jobs see
    std::filesystem::path gpu_memory{};          ///< folder of the memory manager's socket; empty: none
    StagingRule staging{};                       ///< where jobs' inputs may come from
    S3Store s3{};                                ///< of s3:// URLs
    InputCachePlace input_cache{};               ///< of those that were fetched, and of outputs
    SoftwarePlace software{};                    ///< that jobs may ask for
    bool remove_work = false;                    ///< the job's files go as soon as it has ended
};

/// Runs attempts on this host, each under a supervisor process of its own (see AttemptFolder for what
/// passes between them).
class LocalExecutor final : public Executor {
  public:
    explicit LocalExecutor(LocalExecutorOptions options);

    void prepare() override;
    Result<void> start(const RunOrder& run) override;
    RunView look(const AttemptId& id) override;
    void watch(const AttemptId& id) override { watch_.add(id, folder_of(id).path()); }
    void unwatch(const AttemptId& id) override { watch_.remove(id); }
    ExecutorChanges changes() override { return watch_.read(); }
    int change_descriptor() const override { return watch_.descriptor(); }
    std::vector<std::int64_t> given_cpus(const AttemptId& id) override;
    void cancel(const AttemptId& id) override;
    Result<std::string> read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                    std::size_t max_bytes) override;
    KeptFileRead kept_file_read() const override { return kept_file_read_of(options_.input_cache); }
    void end_leftovers(const AttemptId& id) override;
    std::vector<AttemptId> known() override;
    Result<void> remove(const AttemptId& id) override;
    Json facts() const override;

    /// What could keep jobs from each other and from the agent, and is not to be had here: one sentence each.
    std::vector<std::string> isolation_gaps() const;
    /// Whether jobs run as the agent does, with its key and its notes before their eyes.
    bool shows_agent_files() const;
    /// Why nothing is signed for s3:// URLs although there is a store; empty: it is, or there is none.
    const std::string& s3_refusal() const { return options_.s3.refusal; }

  private:
    AttemptFolder folder_of(const AttemptId& id) const { return AttemptFolder(options_.attempts / id.value); }

    Result<SupervisorOrder> read_order(const AttemptId& id) const;
    /// Who the attempt runs as; the same whenever it is asked.
    Result<std::optional<JobUser>> user_of(const AttemptId& id);
    void find_used_ids();
    /// Whether jobs can read neither the object store's key nor the memory of who has read it.
    bool keeps_key_from_jobs() const;
    /// Finds out what separates jobs here, by trying.
    void separate_jobs();
    /// Finds out which control groups work here, likewise.
    void try_control_groups();

    LocalExecutorOptions options_;
    FolderWatch watch_;
    Isolation isolation_;
    std::optional<SpareSupervisors> supervisors_; ///< from the first use on
    std::optional<std::map<AttemptId, unsigned>>
        used_ids_;                         ///< by attempts of which something is kept; read when needed
    std::vector<std::string> controllers_; ///< control groups that work here
    FolderRemovals removals_;
};

} // namespace fathom::agent
