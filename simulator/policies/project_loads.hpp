#pragma once

#include "core/decide/queue/fair_share.hpp"
#include "core/decide/queue/order_jobs.hpp"
#include "simulator/world/scenario.hpp"

#include <span>
#include <vector>

namespace fathom::simulation {

/// How much of the network each project has and has had, as fair sharing counts it. Not thread-safe.
class ProjectLoads {
  public:
    /// Keeps the scenario, which must outlive it.
    explicit ProjectLoads(const Scenario& scenario);

    /// False: one project has all, and nothing is to be shared.
    bool matter() const { return loads_.size() > 1; }
    void note_start(const Job& job, std::size_t unit_type, std::int64_t units);
    void note_end(const Job& job, std::size_t unit_type, std::int64_t units, double held_s, double now_s);

    /// A place that a job would take.
    struct Wanted {
        std::uint32_t project{};
        std::int32_t priority{};
        std::size_t number{}; ///< of the job, for who asks
        std::size_t unit_type{};
        std::int64_t unit_count{};
    };
    /// The load of each one's project (FairShare::load) when all that its project wants more or has wanted longer were
    /// given to it.
    /// @param wanted  by age.
    std::vector<double> update(std::span<const Wanted> wanted, double now_s);
    /// The load of a project at the last update with all that it wanted then; 1 before the first.
    double load(std::uint32_t project) const { return loads_[project]; }
    /// How much work an update is, as in places of jobs.
    std::size_t effort(std::size_t jobs) const;

  private:
    std::size_t place(const Job& job, std::size_t unit_type) const
    {
        return job.project * unit_counts_.size() + unit_type;
    }

    std::vector<double> loads_;             ///< by project
    std::vector<std::int64_t> unit_counts_; ///< by unit type
    std::vector<std::int64_t> units_;       ///< held now, by project and in it by unit type
    std::vector<double> used_unit_s_;       ///< the same
    double decayed_at_s_ = 0;               ///< what was used is of that time
};

} // namespace fathom::simulation
