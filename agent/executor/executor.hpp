#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/attempt.hpp"

namespace fathom::agent {

/// An order with what this center gives to it.
struct RunOrder {
    AttemptOrder order;
    std::vector<std::int64_t> cpus;                 ///< processors that it may use
    std::int64_t cores{1};                          ///< physical cores among them: threads worth starting
    std::int64_t memory_bytes{};                    ///< 0: no limit
    std::map<std::string, std::string> environment; ///< the center's; the user's variables win
};

/// How an attempt stands at the executor.
enum class RunPhase {
    kAbsent,   ///< never started: starting it is safe
    kAlive,    ///< in the hands of the executor; started_at is set once the program runs
    kEnded,    ///< `end` says how
    kVanished, ///< it was started, and nobody watches it any more
};

struct RunView {
    RunPhase phase = RunPhase::kAbsent;
    std::optional<Timestamp> started_at = std::nullopt;
    std::optional<AttemptEnd> end = std::nullopt;
};

enum class OutputStream { kStdout, kStderr };
std::string_view to_string(OutputStream stream);

/// Runs attempts by a center's own means (this host; later Slurm and Kubernetes). An attempt's id is its
/// name there, so that it can be found again by an agent that has forgotten everything.
/// Functions may block for milliseconds. Not thread-safe.
class Executor {
  public:
    virtual ~Executor() = default;

    /// Starts an attempt on its way; look() tells of success and failure. However often it is called,
    /// the program is started at most once.
    /// @error kUnavailable  it could not even be tried; the detail says why.
    virtual Result<void> start(const RunOrder& run) = 0;

    virtual RunView look(const AttemptId& id) = 0;

    /// Asks for the end of an attempt; harmless when repeated. look() shows the end.
    virtual void cancel(const AttemptId& id) = 0;

    /// At most `max_bytes` of kept output from `offset`; empty when there is no more yet.
    virtual Result<std::string> read_output(const AttemptId& id, OutputStream stream, std::int64_t offset,
                                            std::size_t max_bytes) = 0;

    /// Ends whatever an attempt without a watcher has left running.
    virtual void end_leftovers(const AttemptId& id) = 0;

    /// Every attempt of which something is kept.
    virtual std::vector<AttemptId> known() = 0;

    /// Deletes all that is kept of an attempt that has ended.
    /// @error kUnavailable  something is left; the detail says what, and why. Trying again may help.
    /// @error kConflict     somebody is still at it; try again soon.
    virtual Result<void> remove(const AttemptId& id) = 0;

    /// For the center's facts: which executor, and what it can hold jobs to.
    virtual Json facts() const = 0;
};

} // namespace fathom::agent
