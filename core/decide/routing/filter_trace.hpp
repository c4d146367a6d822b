#pragma once

#include "core/base/json_reader.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The ordered filters that candidates pass before they are compared.
namespace fathom {

/// In this order: a candidate is counted by the first one that removes it.
enum class Filter : std::uint8_t {
    kPolicy,    ///< the job asks for another center or unit type, or an administrator keeps its project out
    kOperators, ///< the unit type lacks one of the job's operators (M8)
    kDevice,    ///< CPU or GPU, instruction sets
    kMemory,
    kUnitCount, ///< the unit type has fewer units than the job takes at least
    kSoftware,  ///< its center lacks modules or containers, which the job needs
    kDataSite,  ///< the job's data may not be there
    kWallLimit, ///< its batch system lets no job run as long as this one may
    kQuota,     ///< its project may not take so much
    kDrain,     ///< drained, or closed for maintenance for good
    kHealth,    ///< silent, lost, quarantined, never connected
    kDeadline,  ///< it would end too late
    kBudget,    ///< it would cost too much
    kSpeedup,   ///< S6 speaks for the other of CPU and GPU at its center, which is no worse for the job
};
inline constexpr std::size_t kFilterCount = 14;
std::string_view to_string(Filter filter); ///< "policy", "operators", …
std::optional<Filter> parse_filter(std::string_view text);

/// What one filter removed at one center.
struct TracedCenter {
    std::string center;
    std::int64_t removed{};
    std::string reason; ///< of one of them, for people
};

/// What one filter removed.
struct FilterStep {
    Filter filter{};
    std::int64_t removed{};
    std::vector<TracedCenter> centers; ///< in order of name, at most 100
};

/// Where the candidates of one decision went.
struct FilterTrace {
    std::int64_t candidates{};     ///< unit types at the start
    std::int64_t left{};           ///< feasible ones
    std::vector<FilterStep> steps; ///< those that removed any, in order
};

/// One that the filter removed at that center is a place for the job after all. Nothing, where it removed none there.
void take_back(FilterTrace& trace, Filter filter, std::string_view center);

/// `{"candidates", "left", "steps": [{"filter", "removed", "centers": [{"center", "removed", "reason"}]}]}`
Json to_json(const FilterTrace& trace);
/// "40 unit types: 12 lack dgemm, 20 are drained; 8 left", for people.
std::string describe(const FilterTrace& trace);

} // namespace fathom
