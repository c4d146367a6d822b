#include "simulator/engine/unit_times.hpp"

namespace fathom::simulation {

std::vector<std::int64_t> busy_units(const NetworkState& state, DeviceSharing& sharing)
{
    std::vector<std::int64_t> busy = state.busy_units();
    for (std::size_t type = 0; type < busy.size(); ++type) {
        if (sharing.is_shared(type)) busy[type] = sharing.use_of_devices(type).busy_units();
    }
    return busy;
}

void add_unit_times(const Network& network, double now_s, NetworkState& state, DeviceSharing& sharing,
                    SimulationResult& result)
{
    for (std::size_t type = 0; type < state.size(); ++type) {
        UnitPool& pool = state.pool(type);
        UnitPool& in_use = sharing.is_shared(type) ? sharing.use_of_devices(type) : pool;
        pool.pass(now_s);
        in_use.pass(now_s);
        result.busy_unit_s.push_back(in_use.busy_unit_s());
        result.broken_unit_s.push_back(pool.broken_unit_s() /
                                       static_cast<double>(network.unit_types[type].units_per_device));
    }
}

double told_work(const Scenario& scenario, std::size_t job, std::int64_t unit_count)
{
    const Job& told = scenario.workload.jobs[job];
    const double told_s = told.estimate_s > 0 ? told.estimate_s : told.work;
    const bool is_fixed = scenario.network.job_types[told.job_type].scaling == Scaling::kFixed;
    return is_fixed ? told_s * static_cast<double>(unit_count) : told_s;
}

} // namespace fathom::simulation
