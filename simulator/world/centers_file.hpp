#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "simulator/world/scenario.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace fathom::simulation {

/// In place of a job type's name: every one that a unit type has no rate of its own for.
inline constexpr std::string_view kEveryJobType = "*";

/// A network as a file describes it (docs/simulation.md, "Centers").
struct CentersFile {
    Network network; ///< each unit type has a rate for each of its job types
    /// By job type: the file says how it scales; else a workload may.
    std::vector<bool> tells_scaling;
    /// By unit type: the rate of job types that the file does not know; empty: it runs none of these.
    std::vector<std::optional<UnitTypeRate>> other_rates;
    KnowledgeSettings knowledge;
    std::optional<Timestamp> begins; ///< the Monday 00:00 UTC that is second 0, where it stands for real times
};

/// Reads the document strictly: every fault at once with its path, unknown fields refused.
/// @error kInvalid
Result<CentersFile> parse_centers(const Json& json);
/// The same from JSON text.
/// @error kInvalid  as parse_centers(), or it is no JSON.
Result<CentersFile> read_centers(std::string_view text);

/// Every number of the knowledge with its name in the file, and how large it may be; for files, flags and reports.
struct KnowledgeField {
    std::string_view name;
    double KnowledgeSettings::* value;
    double least;
    double most;
};
std::span<const KnowledgeField> knowledge_fields();

} // namespace fathom::simulation
