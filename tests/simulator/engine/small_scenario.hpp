#pragma once

#include "simulator/engine/simulation.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// Scenarios of tests, built by code.
namespace fathom::simulation {

inline Center make_center(std::string name, double start_up_s = 0)
{
    Center center;
    center.name = std::move(name);
    center.start_up_s = start_up_s;
    return center;
}

/// @param rates  by job type
inline UnitType make_unit_type(std::string name, std::size_t center, std::int64_t units,
                               const std::vector<double>& rates)
{
    UnitType type;
    type.name = std::move(name);
    type.center = center;
    type.unit_count = units;
    for (const double rate : rates)
        type.rates.push_back({rate, {}});
    return type;
}

inline Job make_job(double arrival_s, double work, std::int32_t unit_count = 1, std::uint32_t job_type = 0)
{
    Job job;
    job.arrival_s = arrival_s;
    job.work = work;
    job.unit_count = unit_count;
    job.job_type = job_type;
    return job;
}

/// What is known is the truth, and nothing happens by chance.
inline KnowledgeSettings certainty()
{
    KnowledgeSettings settings;
    settings.measurement_noise = 0;
    settings.job_noise = 0;
    settings.run_noise = 0;
    settings.report_every_s = 0;
    settings.learns = false;
    return settings;
}

/// One center with one unit type of rate 1, nothing by chance.
inline Scenario single_type(std::int64_t units, std::vector<Job> jobs)
{
    Scenario scenario;
    scenario.network.job_types = {{"any", Scaling::kFixed}};
    scenario.network.centers = {make_center("center")};
    scenario.network.unit_types = {make_unit_type("unit", 0, units, {1})};
    scenario.workload.jobs = std::move(jobs);
    scenario.workload.end_counted = scenario.workload.jobs.size();
    scenario.knowledge = certainty();
    return scenario;
}

/// Hands each job over to the unit type that a table names, with its true time there as limit.
class TablePolicy final : public Policy {
  public:
    TablePolicy(const Scenario& scenario, std::vector<std::size_t> unit_types)
        : scenario_(&scenario), unit_types_(std::move(unit_types))
    {
    }
    bool hands_over() const override { return true; }
    PolicyStart choose(const PolicyView&, std::size_t job, std::span<const std::uint32_t>) override
    {
        const Job& facts = scenario_->workload.jobs[job];
        const std::size_t type = unit_types_[job];
        const Center& center = scenario_->network.centers[scenario_->network.unit_types[type].center];
        return {job, type, facts.unit_count,
                center.start_up_s + true_run_s(scenario_->network, facts, type, facts.unit_count)};
    }

  private:
    const Scenario* scenario_;
    std::vector<std::size_t> unit_types_; ///< by job
};

inline PolicyMaker table_policy(std::vector<std::size_t> unit_types)
{
    return [=](const Scenario& scenario, Knowledge&, std::uint64_t) {
        return std::make_unique<TablePolicy>(scenario, unit_types);
    };
}

inline double mean_wait_s(const Scenario& scenario, const SimulationResult& result)
{
    const Workload& workload = scenario.workload;
    double sum = 0;
    for (std::size_t job = workload.first_counted; job < workload.end_counted; ++job)
        sum += result.jobs[job].start_s - workload.jobs[job].arrival_s;
    return sum / static_cast<double>(workload.end_counted - workload.first_counted);
}

inline double mean_completion_s(const Scenario& scenario, const SimulationResult& result)
{
    const Workload& workload = scenario.workload;
    double sum = 0;
    for (std::size_t job = workload.first_counted; job < workload.end_counted; ++job)
        sum += result.jobs[job].end_s - workload.jobs[job].arrival_s;
    return sum / static_cast<double>(workload.end_counted - workload.first_counted);
}

} // namespace fathom::simulation
