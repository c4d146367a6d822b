#pragma once

#include "core/decide/measurement/plausibility.hpp"
#include "core/model/probe_result.hpp"
#include "server/probing/findings/finding.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// What we saw of a run ourselves, and what it says of the run's result (design: "Trust").
namespace fathom::server {

struct EndingRun;

/// Times by our own clock, and what the catalog says of the units.
struct RunEvidence {
    /// From the report of its start to now; empty when there was no such report, or the center's link was made or the
    /// database started anew since: then nothing says how long the report of the end was under way.
    std::optional<double> seen_s;
    std::optional<double> ordered_s;       ///< since the order was sent: more than this it cannot have taken
    std::vector<ClockedRun> clocked;       ///< the unit type's newest runs before it, oldest first
    std::vector<std::string> clocked_runs; ///< their ids
    std::int64_t cores{};                  ///< of the units together; 0: not known
    std::int64_t unit_count{1};
};
RunEvidence select_evidence(pqxx::transaction_base& transaction, const EndingRun& run);

/// Holds a result that belongs to the run against the evidence. When only a pattern of runs says it, the finding is
/// one, and its evidence names those in "runs_before". Pure.
std::optional<Finding> judge_evidence(const ProbeResult& result, const RunEvidence& evidence);

} // namespace fathom::server
