#include "simulator/knowledge/knowledge_nominal.hpp"

namespace fathom::simulation {

std::vector<double> relative_peaks(const Network& network)
{
    double peaks = 0;
    double units = 0;
    for (const UnitType& type : network.unit_types) {
        if (!(type.peak_flops > 0)) continue;
        peaks += type.peak_flops * static_cast<double>(type.unit_count);
        units += static_cast<double>(type.unit_count);
    }
    std::vector<double> relative;
    relative.reserve(network.unit_types.size());
    for (const UnitType& type : network.unit_types)
        relative.push_back(type.peak_flops > 0 && peaks > 0 ? type.peak_flops * units / peaks : 1);
    return relative;
}

NominalKnowledge::NominalKnowledge(const Scenario& scenario, std::uint64_t seed)
    : scenario_(&scenario), errors_(scenario.knowledge.job_noise, seed),
      relative_peaks_(relative_peaks(scenario.network))
{
}

double NominalKnowledge::expected_s(std::size_t job, std::size_t unit_type, std::int64_t unit_count)
{
    const Job& facts = scenario_->workload.jobs[job];
    // Without a word of the user, the work: of all that is true, users know that best, and only so well.
    const double work = facts.estimate_s > 0 ? facts.estimate_s : facts.work * errors_.factor(job);
    const bool is_for_its_count = scenario_->network.job_types[facts.job_type].scaling == Scaling::kFixed;
    const double units = is_for_its_count ? 1 : static_cast<double>(unit_count);
    return work / (relative_peaks_[unit_type] * units);
}

} // namespace fathom::simulation
