#pragma once

#include "core/base/json_reader.hpp"
#include "core/schedule/catalog_document.hpp"
#include "core/schedule/cycle_plan.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A stored cycle, decided again.
namespace fathom {

struct CycleReplay {
    CycleMoment moment;
    CycleCatalog catalog;
    SchedulePlan plan; ///< what came out
    /// In what the stored plan differs, the first ones, for people. Empty: bit for bit the same.
    std::vector<std::string> differences;
};

/// The plan of a cycle, from nothing but what was stored.
/// @param explained_job  ScheduleInput's
SchedulePlan decide_cycle(const CycleMoment& moment, const CycleCatalog& catalog,
                          std::optional<std::size_t> explained_job = {});

/// @param cycle    a document of write_cycle()
/// @param catalog  the parts of write_catalog()
/// @param plan     a document of write_plan()
/// @error kInvalid  one of them cannot be read
Result<CycleReplay> replay_cycle(std::string_view cycle, std::span<const std::string> catalog, std::string_view plan);

/// The job's place in the cycle: whether it starts and as which, the whole decision, why it waits, and which jobs took
/// units before it at places that it could have had. Empty: it was not in this cycle.
/// @param currency  of the prices; may be empty.
std::optional<Json> explain_in_cycle(const CycleReplay& replay, std::string_view job, std::string_view currency);

} // namespace fathom
