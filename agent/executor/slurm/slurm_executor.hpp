#pragma once

#include "agent/executor/batch/grant_renewals.hpp"
#include "agent/executor/batch/input_keeper.hpp"
#include "agent/executor/batch/moved_attempts.hpp"
#include "agent/executor/batch/user_map.hpp"
#include "agent/executor/local/folder_removals.hpp"
#include "agent/executor/s3_grants.hpp"
#include "agent/executor/slurm/batch_script.hpp"
#include "agent/executor/slurm/ended_jobs.hpp"
#include "agent/executor/slurm/job_end.hpp"
#include "agent/executor/slurm/queue_looks.hpp"
#include "agent/executor/slurm/slurm_client.hpp"
#include "agent/executor/software.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace fathom::agent {

struct SlurmExecutorOptions {
    std::filesystem::path folder; ///< holds one folder for each attempt; the same path here and on the nodes
    SlurmConfig slurm;
    std::optional<JobUser> user{};    ///< of probes, and of jobs without another; empty: they run as the agent does
    std::string user_name;            ///< of whoever they run as
    std::vector<MappedUser> mapped{}; ///< local users of the network's users; empty: one for all. Takes `user`
    std::filesystem::path programs;   ///< folder of fathom-probe, on the nodes
    std::int64_t output_limit_bytes = 16LL << 20U;
    StagingRule staging{};         ///< where jobs' inputs may come from
    S3Store s3{};                  ///< of s3:// URLs
    InputCachePlace input_cache{}; ///< of jobs' inputs and outputs; the same path here and on the nodes
    SoftwarePlace software{};      ///< that jobs may ask for, at the same paths here and on the nodes
    bool asks_slurm = true;        ///< for its version, for facts()
    /// Before Slurm's accounting is asked again when it has not answered.
    std::chrono::milliseconds accounts_pause{30'000};
    int accounts_tries{10}; ///< so often for a job that Slurm has forgotten; then the job ends without an account
    /// So often for such a job where the accounting does answer, but does not say that the job has ended: slurmctld
    /// tells it later what it could not tell while slurmdbd was away.
    int late_accounts_tries{3};
    /// So long after Slurm shows the end of a job its account, with what it used, is waited for.
    std::chrono::milliseconds max_account_wait{10'000};
    /// So long after a script has noted its end Slurm may have the job run: it hears of ends by messages, and a
    /// controller that was killed meanwhile does not know of one for many minutes.
    std::chrono::milliseconds max_unknown_end{30'000};
    /// Before the end of a job is asked for again when Slurm has not taken it.
    std::chrono::milliseconds cancel_pause{5'000};
};

/// Runs attempts as Slurm's jobs. An attempt's id is its job's name, by which it is found again after a crash between
/// the submission and the note of it; and of two jobs of one attempt only the first would run its program
/// (batch_script). Slurm is asked on a thread of its own, for all attempts at once, more seldom the longer its answers
/// take; look() tells what was heard last, so a Slurm that does not answer changes nothing.
class SlurmExecutor final : public Executor {
  public:
    explicit SlurmExecutor(SlurmExecutorOptions options);
    ~SlurmExecutor() override;

    bool places() const override { return true; }
    void prepare() override;
    Result<void> start(const RunOrder& run) override;
    RunView look(const AttemptId& id) override;
    void watch(const AttemptId& id) override;
    void unwatch(const AttemptId& /*id*/) override {}
    void look_at_queues(const std::vector<QueuePlace>& places) override;
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
        std::optional<JobUser> user{};             ///< who its job runs as; empty: as the agent does
        std::string job;                           ///< Slurm's number; empty until it is known
        bool is_adopted{};                         ///< of an earlier run of the agent: Slurm may have it
        SteadyTime submit_after;                   ///< when it may be (next) submitted
        std::chrono::milliseconds refused_pause{}; ///< since Slurm refused it last
        std::int64_t wall_limit_s{};
        std::int64_t memory_bytes{}; ///< of all its units; 0: not known
        bool has_inputs{};
        bool has_outputs{};
        bool profile{};
        std::optional<Timestamp> started_at{};    ///< of its program, as it was first seen since the agent's start
        std::optional<Timestamp> ran_until{};     ///< when it was last seen to run, without a note of its end
        std::optional<SteadyTime> end_noted_at{}; ///< since when a note of its end is seen while Slurm has it run
        EndAsked asked = EndAsked::kNo;
        std::string never_reason; ///< of EndAsked::kNeverStarts: Slurm's word for it
        bool cancel_sent{};
        SteadyTime cancel_after{};            ///< when Slurm may be asked (again) to end its job
        int polls_without{};                  ///< in a row, that did not show its job
        std::optional<AttemptEnd> seen_end{}; ///< as Slurm showed it, while the job's account is waited for
        SteadyTime account_until{};           ///< seen_end is told without an account then
        SteadyTime account_after{};           ///< its account is not asked for (again) before
        int accounts_away{}; ///< how often Slurm's accounting has not answered when it was asked for its job
        int accounts_late{}; ///< how often it answered, and did not know of the job's end
        RunView view{RunPhase::kQueued};
    };

    BatchFolder folder_of(const AttemptId& id) const { return {options_.folder / id.value}; }
    /// Writes what the job finds in its folder.
    Result<void> fill_folder(const RunOrder& run, const BatchFolder& folder, const std::string& script,
                             const std::optional<JobUser>& user) const;
    /// batch_script() with what the job needs of the cluster's software.
    Result<std::string> script_of(RunOrder run, const BatchOptions& batch) const;
    static unsigned owner_of(const Attempt& attempt);
    Result<JobIdentity> identity_of(const AttemptOrder& order) const;

    /// Of one user.
    struct Jobs {
        std::optional<JobUser> user;
        std::vector<std::string> numbers;
        int tries{};
    };

    /// By number and name: a controller that was killed may have given a number that it does not know of once more.
    using ShownJobs = std::set<std::pair<std::string, std::string>>;

    // With mutex_ held.
    Attempt* find_or_adopt(const AttemptId& id);
    void set_waiting(const AttemptId& id, Attempt& attempt, std::string reason, std::optional<Timestamp> start);
    /// @param account  of its job, with what it used; nullptr: there is none.
    void set_end(const AttemptId& id, Attempt& attempt, AttemptEnd end, const SlurmJob* account = nullptr);
    void apply(const SlurmJob& job);
    /// Writes down which of Slurm's jobs is the attempt's.
    void note_job(const AttemptId& id, Attempt& attempt, const std::string& number) const;
    /// Settles which of Slurm's jobs is the attempt's: of two the first to run. @return whether that is this job.
    bool settle_job(const AttemptId& id, Attempt& attempt, const SlurmJob& job, SlurmPhase phase) const;
    /// Tells the end that the script noted, if it noted one, and has the job cancelled, of which Slurm does not know
    /// that it has ended. @return whether there is a note
    bool end_by_notes(const AttemptId& id, Attempt& attempt, const ScriptNotes& notes);
    void apply_to_ended(const SlurmJob& job, EndedJob& ended);
    void cancel_leftover(const std::string& number, unsigned uid, const std::optional<JobUser>& user);
    void apply_wait(const AttemptId& id, Attempt& attempt, const SlurmJob& job);
    void apply_run(const AttemptId& id, Attempt& attempt, const SlurmJob& job);
    static AttemptEnd with_facts(AttemptEnd end, const Attempt& attempt);
    /// Tells when Slurm ceases to answer, and when it does again.
    void note_reached(const Result<std::vector<SlurmJob>>& jobs);
    /// Counts polls without jobs that Slurm does not show any more: it forgets what has ended, after some minutes.
    /// @param users  whose jobs were asked for.
    void note_missing(const ShownJobs& shown, const std::set<unsigned>& users);
    void apply_all(const std::vector<SlurmJob>& jobs, const std::set<unsigned>& users);
    /// Tells the end at once where nothing more is to be heard of the job, else once its account is there.
    void see_end(const AttemptId& id, Attempt& attempt, AttemptEnd end);
    /// @param account  nullptr: none has come.
    void tell_seen_end(const AttemptId& id, Attempt& attempt, const SlurmJob* account);
    /// When the thread has something to do next without news.
    SteadyTime next_wake() const;
    /// The ended job of this attempt among the accounts; nullptr: they do not know of its end.
    static const SlurmJob* account_of(const AttemptId& id, const Attempt& attempt,
                                      const std::vector<SlurmJob>& accounts);
    /// What Slurm's accounting has answered for a job whose end Slurm has shown.
    void settle_seen(const AttemptId& id, Attempt& attempt, const Result<std::vector<SlurmJob>>& accounts);
    /// What it has answered for a job that Slurm has forgotten.
    void settle_forgotten(const AttemptId& id, Attempt& attempt, const Result<std::vector<SlurmJob>>& accounts);
    void stop(const AttemptId& id, Attempt& attempt, EndAsked why);
    /// It ends without a job of Slurm's.
    void end_unsubmitted(const AttemptId& id, Attempt& attempt, AttemptOutcome outcome, std::string detail,
                         AttemptCause cause = AttemptCause::kNone);
    /// Users of attempts that have not ended.
    std::set<unsigned> live_users() const;
    static void take_limits(Attempt& attempt, const BatchLimits& limits);
    static void read_stop_note(const BatchFolder& folder, Attempt& attempt);
    ScriptNotes notes_of(const AttemptId& id, const Attempt& attempt) const;
    /// A file of the job's user; empty where there is none.
    std::string read_report(const AttemptId& id, const Attempt& attempt, const char* name) const;
    /// Slurm's number of the job that runs the attempt; empty: none does yet.
    std::string first_job_of(const AttemptId& id, const Attempt& attempt) const;

    // On the thread.
    void work(const std::stop_token& stopped);
    /// Attempts that are to be submitted now. Those that were asked to end before are ended.
    std::vector<AttemptId> find_due();
    void submit_due();
    /// @return why no other one need be tried now; empty: others may be taken.
    std::string submit(const AttemptId& id);
    /// Asks for the end of jobs whose attempts are to end, until Slurm has taken it: of a job over its wall limit, or
    /// of one that would never start, nobody but this agent knows that it is to end.
    void cancel_asked();
    /// @param failed  attempts for whose jobs Slurm did not take it.
    void cancel_again(const std::vector<AttemptId>& failed);
    void cancel_leftovers();
    void poll();
    /// Ends attempts whose jobs have ended, or were forgotten by Slurm, by its accounting where it keeps one.
    void settle_ends();
    /// Attempts whose accounts are to be asked for now.
    std::vector<AttemptId> find_accounts_due() const;
    /// Says when the accounting may be asked again, which took so long to answer.
    void note_accounts(const Result<std::vector<SlurmJob>>& accounts, std::chrono::milliseconds took);
    void tell_overdue_ends();
    void look_at_next_queue();

    SlurmExecutorOptions options_;
    GrantRenewals renewals_{{}, {}};      ///< the thread's
    std::unique_ptr<SlurmOrders> orders_; ///< of the thread
    SlurmClient client_;                  ///< for what no order is
    SystemClock clock_;
    FolderRemovals removals_;
    InputKeeper keeper_;
    std::string version_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::map<AttemptId, Attempt> attempts_;
    MovedAttempts moved_;
    QueueLooks queue_looks_;
    std::vector<TypeQueue> queues_; ///< that were looked at since changes()
    bool has_news_ = false;         ///< for the thread
    bool has_polled_ = false;
    bool is_reached_ = true;
    SteadyTime submit_after_{};          ///< none is submitted before
    bool has_refused_ = false;           ///< since it last took one
    std::map<unsigned, Jobs> leftovers_; ///< to be cancelled, whatever has become of their attempts
    EndedJobs ended_jobs_;
    SteadyTime next_leftovers_{}; ///< they are not tried again before; of the thread
    std::chrono::milliseconds poll_interval_;
    SteadyTime next_poll_{};
    SteadyTime next_accounts_{}; ///< Slurm's accounting is not asked before; of the thread
    SteadyTime next_usage_{};    ///< nor is an account waited for of what ends before; of the thread
    std::jthread thread_;        ///< from the first use on: the helper forks before; last, so that it ends first
};

} // namespace fathom::agent
