#pragma once

#include "agent/jobs/able_units.hpp"
#include "agent/jobs/attempt_outputs.hpp"
#include "agent/jobs/attempt_step.hpp"
#include "agent/jobs/finished_folders.hpp"
#include "agent/jobs/probe_supplies.hpp"
#include "agent/jobs/type_queues.hpp"

#include <deque>
#include <functional>
#include <list>
#include <unordered_map>

namespace fathom::agent {

using SteadyTime = std::chrono::steady_clock::time_point;

struct BookOptions {
    std::map<std::string, std::string> environment = {}; ///< for every job at this center
    std::chrono::seconds keep_finished{0};               ///< how long finished attempts' folders stay
    std::string center = {};                             ///< its name, for the log
    std::string fetch_url = {};                          ///< what probes of the network fetch; empty: none
    std::string fetch_ca_pem = {};                       ///< the authority that its server is known by
    OperatorTrust operator_trust = {};                   ///< whose uploaded operators run
    std::string library = {};                            ///< RunOrder::library of jobs that are to be profiled
    std::string machine = {};                            ///< ProfilerMachine::text(), goes with it
    /// By what the memory manager of the GPUs knows a job's programs; empty: there is none.
    std::function<std::string(const std::string& job)> gpu_proof = {};
};

/// All attempts of this center: accepts orders, gives them units, has the executor run them, and reports.
///
/// Each change is in the spool before anything follows from it, and what comes together is one write; after a crash,
/// load() goes on where the spool and the executor stand. A spool that cannot be written (its disk is full, say) takes
/// no orders, and stops all steps until it can: jobs go on under their supervisors, and what became of them is told
/// then. One that is damaged stops the process, and the next start finds the truth. Messages are put into the spool;
/// somebody else sends them.
///
/// It acts on what the executor tells (ExecutorChanges), and looks at each live attempt now and then in case that
/// something was missed: once a second, or less often where there are many.
/// Not thread-safe; functions block for milliseconds.
class AttemptBook {
  public:
    /// The references must outlive the book.
    AttemptBook(Spool& spool, Executor& executor, const Clock& clock, UnitPlan plan, BookOptions options);

    /// Takes up what the spool holds. Call once, first.
    Result<void> load();

    /// Takes a new order; a known one is left as it is. Before it is acknowledged, store_orders() must have stored it.
    /// @error kUnavailable  it could not be stored, nor could those that were taken since store_orders().
    Result<void> accept(const AttemptOrder& order);
    /// Stores what was accepted, with the units that are free for it; advance() starts it.
    /// @error kUnavailable  none of it could be stored: do not acknowledge.
    Result<void> store_orders(SteadyTime now);
    /// Ends an attempt; unknown and ended ones are ignored.
    /// @error kUnavailable  that could not be stored: do not acknowledge. It may happen all the same.
    Result<void> cancel(const AttemptId& id, const std::string& reason);
    /// The same of an attempt that waits for units; one that has some is left alone.
    Result<void> give_back(const AttemptId& id, const std::string& reason);
    /// Drops an attempt that the metascheduler knows to have ended. One that has not is cancelled.
    void forget(const AttemptId& id);

    /// Does what is next for each attempt that has changed or is due to be looked at.
    void advance(SteadyTime now);

    /// Pieces of output that should be sent now.
    std::vector<link::Message> next_output();
    /// Pieces of one attempt's output that should be sent before its end is told.
    std::vector<link::Message> output_before_end(const AttemptId& id) { return outputs_.next_of(id); }
    /// A message was acknowledged, with an error or without: it is not sent again.
    void acknowledged(const MessageId& id);
    /// Output that travels will travel again.
    void connection_lost();

    /// A new cut of the center; new variables and operator keys for coming jobs.
    void replace_offer(UnitPlan plan, std::map<std::string, std::string> environment, OperatorTrust operator_trust);

    /// Another RunOrder::library for coming jobs that are to be profiled.
    void match_with(std::string library) { options_.library = std::move(library); }

    /// Another BookOptions::machine for coming jobs that are to be profiled.
    void profile_on(std::string machine) { options_.machine = std::move(machine); }
    /// Whether a job that is to be profiled was started since this was made.
    bool has_profiled() const { return has_profiled_; }

    /// Another BookOptions::fetch_ca_pem for coming probes.
    void fetch_trusting(std::string ca_pem) { options_.fetch_ca_pem = std::move(ca_pem); }

    /// As UnitAllocator::know_gpus().
    void know_gpus(const GpuMemoryReport& report) { units_.know_gpus(report); }

    /// As UnitAllocator::limit_units(); what runs goes on.
    void limit_units(std::map<std::string, std::int64_t> limits);
    /// As UnitAllocator::holds_beyond().
    bool holds_beyond(const std::string& unit_type, std::int64_t first) const
    {
        return units_.holds_beyond(unit_type, first);
    }

    /// Which of this center's unit types can run what is asked for (M13b).
    link::UnitTypesAnswer answer(const link::UnitTypesQuery& query) const { return answer_query(query, units_); }

    /// What is new of how attempts wait in the center's own batch system, some at a time, and of its queues.
    link::QueueReport queue_news();
    /// All of it is new again: to a metascheduler that has just been reached.
    void tell_queues_again();

    /// Everything that the metascheduler has not been heard to know of.
    std::vector<link::InventoryItem> inventory() const;
    /// Attempts that hold units.
    std::int64_t running_count() const;

  private:
    static constexpr std::chrono::seconds kLookInterval{1}; ///< at an attempt of which nothing was heard

    struct Entry {
        StoredAttempt stored;
        std::optional<SteadyTime> start_asked = std::nullopt;
        std::optional<SteadyTime> cancel_asked = std::nullopt;
        int starts = 0;
        std::optional<QueueState> queue = std::nullopt; ///< as it was last told, while it waits there
        bool end_is_known = false;                      ///< to the metascheduler; what is left is output
        bool is_of_earlier_boot = false;                ///< of the host: a marker that it was started may be lost
    };
    /// An attempt that is looked at when nothing was heard of it.
    struct Look {
        SteadyTime due;
        AttemptId attempt;
    };

    void add(StoredAttempt attempt);
    void undo_accepted();
    Result<void> commit();
    Result<void> commit_now_and_then(SteadyTime now);
    void store(const Result<void>& change);
    void note_failure(const Error& error);
    bool catch_up(SteadyTime now);
    bool has_messages(const AttemptId& id);
    void start_stored(SteadyTime now);
    void carry_out(SteadyTime now);
    void take_changes();
    void look_around(SteadyTime now);
    void advance_due(SteadyTime now);
    void advance_waiting(SteadyTime now);
    void advance_one(Entry& entry, SteadyTime now);
    void take_step(Entry& entry, SteadyTime now);
    void look_at_stray(const AttemptId& id);
    AttemptFacts facts_of(const Entry& entry, const RunView& view, SteadyTime now);
    void give_units(Entry& entry, SteadyTime now);
    void start(Entry& entry, SteadyTime now);
    void ask_to_end(Entry& entry, SteadyTime now);
    void note_queue(Entry& entry, const QueueState& queue);
    /// Has the executor look at the queues before the units of the plan.
    void look_at_queues();
    void report_started(Entry& entry, Timestamp started_at);
    void record_end(Entry& entry, AttemptEnd end);
    void record_lost(Entry& entry, const RunView& view);
    void end_unstarted(Entry& entry, AttemptOutcome outcome, const std::string& detail);
    void report_ended(Entry& entry);
    void drop_if_done(Entry& entry);
    void drop(const AttemptId& id); // `id` must not be the entry's own, which ends here
    void save_output_progress();
    void find_strays();
    void log_attempt(std::string_view event, const AttemptOrder& order, std::string_view detail = "") const;
    Entry* find(const AttemptId& id);
    RunOrder run_order(const Entry& entry) const;

    Spool& spool_;
    Executor& executor_;
    const Clock& clock_;
    UnitAllocator units_;
    BookOptions options_;
    AttemptOutputs outputs_;
    FinishedFolders folders_;
    std::list<Entry> entries_; ///< in order of arrival
    std::unordered_map<AttemptId, std::list<Entry>::iterator> by_id_;
    std::vector<AttemptId> accepted_;  ///< that are not stored yet
    std::vector<AttemptId> to_start_;  ///< as soon as it is stored that they have units
    std::vector<AttemptId> over_;      ///< whose folders may go as soon as it is stored that they are forgotten
    bool must_commit_ = false;         ///< something follows from changes that are not stored yet
    std::set<AttemptId> due_;          ///< to be advanced now
    std::deque<Look> looks_;           ///< the next one first
    std::list<AttemptId> waiting_;     ///< for units, in order of arrival
    std::set<std::string> full_types_; ///< for which an earlier attempt waits, in this round
    std::set<AttemptId> strays_;       ///< that run although nothing is written of them
    TypeQueues type_queues_;
    std::set<AttemptId> queue_news_; ///< attempts of which it is to be told how they wait
    bool units_changed_ = false;     ///< or an attempt has come that wants some
    bool has_profiled_ = false;
    bool has_failed_ = false;             ///< the spool, and it has not been written since
    std::vector<MessageId> late_acks_;    ///< that came while the spool was behind
    std::vector<AttemptId> late_forgets_; ///< likewise
    SteadyTime next_try_{};               ///< to write the spool
    SteadyTime last_save_{};
    SteadyTime last_commit_{};
    SteadyTime last_purge_{};
};

} // namespace fathom::agent
