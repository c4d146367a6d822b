#pragma once

#include "simulator/knowledge/job_errors.hpp"
#include "simulator/knowledge/knowledge.hpp"

#include <vector>

namespace fathom::simulation {

/// Peak of each unit type over the mean peak of all units whose sheets tell one; 1 where they do not.
std::vector<double> relative_peaks(const Network& network);

/// What a user can say without any measurement: how long the job will take on an ordinary unit, and that twice the peak
/// halves it. More units are taken to do in proportion more, but where jobs come with their count, as in logs, and the
/// user speaks of that. Without an estimate the user knows the work roughly (JobErrors).
class NominalKnowledge final : public Knowledge {
  public:
    /// Keeps the scenario, which must outlive it.
    NominalKnowledge(const Scenario& scenario, std::uint64_t seed);

    double expected_s(std::size_t job, std::size_t unit_type, std::int64_t unit_count) override;
    bool counts_device_pairs() const override { return false; }

  private:
    const Scenario* scenario_;
    JobErrors errors_;
    std::vector<double> relative_peaks_; ///< by unit type
};

} // namespace fathom::simulation
