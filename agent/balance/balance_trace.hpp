#pragma once

#include "core/base/clock.hpp"
#include "core/base/open_file.hpp"
#include "core/decide/balance/regulator.hpp"

#include <deque>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fathom::agent {

/// Where the trace is, in the agent's folder.
inline constexpr const char* kTraceName = "balance-trace.jsonl";
inline constexpr const char* kOlderTraceName = "balance-trace.1.jsonl";

/// One step of one unit's loop.
struct TraceStep {
    Timestamp at{};
    std::string unit;
    std::string job; ///< the attempt that runs on it; of several the first
    bool is_dry_run = false;
    std::string law{};            ///< "pid" …
    std::optional<double> band{}; ///< nothing is done while |e| is within it
    RegulatorStep step;
    std::vector<std::string> faults; ///< actuators that are missing or refused, one sentence each
};

/// `{"time", "unit", "job", "dry_run", "law", "band", "outcome", "P_p", "P_d", "sample": {"P_p", "P_d"}, "e", "ec",
/// "region", "gains":
/// {"K_p", "K_i", "K_d"}, "u", "actions": {"sub_units", "clock_mhz", "precision_steps"}, "wanted_sub_units", "reason",
/// "faults"}`; what was not measured is null.
Json to_json(const TraceStep& step);

/// The last steps, in memory and as JSON lines in a file. The file is bounded: when it is full it becomes the older
/// one, and the one before that goes. Not thread-safe; blocks.
class BalanceTrace {
  public:
    /// @param folder  that is the agent's; its files become `owner`'s.
    /// @param ring  how many steps are kept in memory.
    BalanceTrace(OpenFile folder, uid_t owner, gid_t group, std::int64_t most_bytes, std::size_t ring);

    /// A step that could not be written is in the ring all the same; the log says so once.
    void add(const TraceStep& step);
    const std::deque<TraceStep>& recent() const { return recent_; }

  private:
    Result<void> write(const std::string& line);

    OpenFile folder_;
    uid_t owner_;
    gid_t group_;
    std::int64_t most_bytes_;
    std::size_t ring_;
    std::deque<TraceStep> recent_;
    bool has_failed_ = false;
};

} // namespace fathom::agent
