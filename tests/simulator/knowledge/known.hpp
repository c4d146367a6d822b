#pragma once

#include "simulator/knowledge/knowledge.hpp"
#include "simulator/world/truth.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

/// A small scenario, and what is known of it.
namespace fathom::simulation {

/// Unit types a (10 units, rate 1, peak 1e12) and b (30 units, rate 2, peak 5e12): the mean peak is 4e12. One job type,
/// jobs of 100 reference seconds, one unit each.
inline Scenario scenario_of(std::size_t jobs, const KnowledgeSettings& settings)
{
    Scenario scenario;
    scenario.network.job_types = {{"train", Scaling::kFixed}};
    scenario.network.centers.resize(1);
    const auto unit_type = [](std::string name, std::int64_t units, double rate, double peak_flops) {
        UnitType type;
        type.name = std::move(name);
        type.unit_count = units;
        type.rates = {{rate, {}}};
        type.peak_flops = peak_flops;
        return type;
    };
    scenario.network.unit_types = {unit_type("a", 10, 1, 1e12), unit_type("b", 30, 2, 5e12)};
    scenario.workload.users = {"ann"};
    scenario.workload.jobs.assign(jobs, Job{.work = 100});
    scenario.workload.end_counted = jobs;
    scenario.knowledge = settings;
    return scenario;
}

/// Knows all at once, and never measures again.
inline KnowledgeSettings exact()
{
    return {.measurement_noise = 0, .job_noise = 0, .run_noise = 0, .measure_every_s = 0};
}

/// A knowledge with the truth that it is of.
class Known {
  public:
    static constexpr std::uint64_t kSeedOfTruth = 7;

    Known(KnowledgeKind kind, Scenario scenario)
        : scenario_(std::move(scenario)), truth_(scenario_, kSeedOfTruth),
          knowledge_(make_knowledge(kind, scenario_, truth_, kSeedOfTruth))
    {
    }
    Known(const Known&) = delete;
    Known& operator=(const Known&) = delete;

    Knowledge* operator->() const { return knowledge_.get(); }
    Truth& truth() { return truth_; }
    /// A job runs `factor` times as long as it truly takes, and ends then.
    /// @param slowdown  that others on its device were expected to cost it
    void run(std::size_t job, std::size_t unit_type, double factor, double now_s, double slowdown = 1)
    {
        const double true_s = true_run_s(scenario_.network, scenario_.workload.jobs[job], unit_type, 1);
        knowledge_->learn(job, unit_type, 1, slowdown, true_s * factor, now_s);
    }

  private:
    Scenario scenario_;
    Truth truth_;
    std::unique_ptr<Knowledge> knowledge_;
};

} // namespace fathom::simulation
