#pragma once

#include "agent/catalog/batch_place.hpp"
#include "agent/executor/kept_file_read.hpp"
#include "core/base/json_reader.hpp"
#include "core/model/attempt.hpp"
#include "core/model/type_queue.hpp"

#include <set>

namespace fathom::agent {

/// An order with what this center gives to it.
struct RunOrder {
    AttemptOrder order;
    std::vector<std::int64_t> cpus;                 ///< processors that it may use; empty where the executor places
    std::int64_t cores{1};                          ///< physical cores among them: threads worth starting
    std::int64_t memory_bytes{};                    ///< 0: no limit
    std::map<std::string, std::string> environment; ///< the center's; the user's variables win
    std::optional<BatchPlace> place = std::nullopt; ///< where the executor places: what it asks for
    /// Device files of the center's devices that it was not given: it must not open them, where that can be held.
    std::vector<std::string> hidden_files{};
    /// Of a job that is to be profiled: a JSON list of manifests that fathom-profile matches its calls with (M3).
    /// Empty: with its own.
    std::string library{};
    std::vector<std::string> before{}; ///< words before those of its command: software_words(), by the executor
};

/// How an attempt stands at the executor.
enum class RunPhase {
    kAbsent,   ///< never started: starting it is safe
    kAlive,    ///< in the hands of the executor; started_at is set once the program runs
    kEnded,    ///< `end` says how
    kVanished, ///< it was started, and nobody watches it any more
    kQueued,   ///< in the hands of a batch system that has not started it: `queue` says why
};

/// Why an attempt waits in a batch system.
struct QueueState {
    std::string reason;                      ///< for people, in the batch system's words
    std::optional<Timestamp> expected_start; ///< as the batch system plans now; empty when it does not say
};

struct RunView {
    RunPhase phase = RunPhase::kAbsent;
    std::optional<Timestamp> started_at = std::nullopt;
    std::optional<AttemptEnd> end = std::nullopt;
    std::optional<QueueState> queue = std::nullopt; ///< of kQueued
};

enum class OutputStream { kStdout, kStderr };
std::string_view to_string(OutputStream stream);

/// A unit type of which a batch system is to be asked when a job of one unit that takes so long would start.
struct QueuePlace {
    std::string unit_type;
    BatchPlace place;
    std::int64_t wall_limit_s{3600};

    bool operator==(const QueuePlace&) const = default;
};

/// What look() and read_output() may answer anew.
struct ExecutorChanges {
    std::set<AttemptId> moved;          ///< attempts that may have come to another phase
    std::set<AttemptId> written;        ///< attempts that have written output
    bool some_missed = false;           ///< any other attempt may have changed, too
    std::vector<TypeQueue> queues = {}; ///< of unit types that were asked for since (look_at_queues())
};

/// Runs attempts by a center's own means (this host, or Slurm). An attempt's id is its
/// name there, so that it can be found again by an agent that has forgotten everything.
/// Functions may block for milliseconds. Not thread-safe.
class Executor {
  public:
    virtual ~Executor() = default;

    /// Whether it finds hosts and processors itself when a program starts. Orders then bring a BatchPlace and no
    /// processors; which of its units are given away is counted all the same.
    virtual bool places() const { return false; }

    /// Gets ready for coming starts, so that they take less time. Call it when there is nothing to start.
    virtual void prepare() = 0;

    /// Starts an attempt on its way; look() tells of success and failure. However often it is called,
    /// the program is started at most once.
    /// @error kUnavailable  it could not even be tried; the detail says why.
    virtual Result<void> start(const RunOrder& run) = 0;

    virtual RunView look(const AttemptId& id) = 0;

    /// From now on changes() tells of this attempt; start() does the same. It may miss some: look now and then.
    virtual void watch(const AttemptId& id) = 0;
    virtual void unwatch(const AttemptId& id) = 0;
    /// What has changed since the last call. Does not block.
    virtual ExecutorChanges changes() = 0;
    /// A descriptor that is readable when changes() has something to tell; -1 when there is none.
    virtual int change_descriptor() const = 0;

    /// The processors that an attempt was given when it was started; empty when that is not known, or where the
    /// executor places.
    virtual std::vector<std::int64_t> given_cpus(const AttemptId& id) = 0;

    /// Asks for the end of an attempt; harmless when repeated. look() shows the end.
    virtual void cancel(const AttemptId& id) = 0;

    /// At most `max_bytes` of kept output from `offset`; empty when there is no more yet.
    virtual Result<std::string> read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                            std::size_t max_bytes) = 0;

    /// Reads the files that the center keeps copies of.
    virtual KeptFileRead kept_file_read() const
    {
        return [](const std::string&, std::int64_t, std::size_t) -> Result<std::string> {
            return Error{Errc::kNotFound, "this center keeps no copies of files"};
        };
    }

    /// Ends whatever an attempt without a watcher has left running.
    virtual void end_leftovers(const AttemptId& id) = 0;

    /// Every attempt of which something is kept.
    virtual std::vector<AttemptId> known() = 0;

    /// Deletes all that is kept of an attempt that has ended.
    /// @error kUnavailable  something is left; the detail says what, and why. Trying again may help.
    /// @error kConflict     somebody is still at it; try again soon.
    virtual Result<void> remove(const AttemptId& id) = 0;

    /// From now on changes() tells now and then when a new job of one unit of these types would start, where a batch
    /// system decides that.
    virtual void look_at_queues(const std::vector<QueuePlace>& /*places*/) {}

    /// For the center's facts: which executor, and what it can hold jobs to.
    virtual Json facts() const = 0;
};

} // namespace fathom::agent
