#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/routing/filters.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The ordered filters that candidates pass before they are compared.
namespace fathom {

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
