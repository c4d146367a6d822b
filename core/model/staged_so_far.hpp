#pragma once

#include "core/base/json_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// How far the fetching of a job's inputs is. On its way from the center to the metascheduler it is a line of the job's
/// standard error, which people read as well.
struct StagedSoFar {
    std::int64_t complete{};                   ///< inputs
    std::int64_t inputs{};                     ///< of so many
    std::int64_t bytes{};                      ///< of all of them; in a line cut to whole MB
    std::optional<std::int64_t> total_bytes{}; ///< likewise; empty: some do not say their size
    std::int64_t elapsed_s{};                  ///< since the first began

    bool operator==(const StagedSoFar&) const = default;
};

/// What stands before each line of fathom-stage's.
inline constexpr std::string_view kStagingLinePrefix = "fathom-stage: ";

/// "1 of 3 inputs are staged, 5210 MB of 20480 MB in 70 s".
std::string staging_line(const StagedSoFar& so_far);

/// What the last of such lines in a text says, with their prefix; empty where there is none, or that one says that all
/// inputs are complete. The text may be cut anywhere; what else stands in it may be anything.
std::optional<StagedSoFar> find_staged_so_far(std::string_view text);

Json to_json(const StagedSoFar& so_far);

} // namespace fathom
