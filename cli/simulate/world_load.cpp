#include "cli/simulate/world_load.hpp"

#include "core/decide/unit_worth.hpp"

namespace fathom {

double load_of(const SimulatedWorld& world)
{
    std::vector<std::vector<JobOption>> places;
    for (const SimulatedJob& job : world.jobs) {
        places.emplace_back();
        for (const SimulatedOption& option : job.options)
            places.back().push_back({option.unit_type, option.unit_count, option.run_s, 1});
    }
    std::vector<UnitTypeLoad> unit_types;
    for (const SimulatedUnitType& type : world.unit_types)
        unit_types.push_back({type.unit_count, type.unit_count, 1, 1, {}});
    const double span_s = world.jobs.back().arrival_s - world.jobs.front().arrival_s;
    return unit_worths(places, span_s, unit_types).front().load;
}

} // namespace fathom
