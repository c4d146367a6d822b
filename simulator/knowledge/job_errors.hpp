#pragma once

#include <cstdint>
#include <limits>

namespace fathom::simulation {

/// How far the work that is expected of a job is off, as neither its profile nor its user tells all of it: a lognormal
/// factor of each job, the same for everyone who expects anything of it. Not thread-safe.
class JobErrors {
  public:
    /// @param deviation  of its logarithm (KnowledgeSettings::job_noise).
    JobErrors(double deviation, std::uint64_t seed) : deviation_(deviation), seed_(seed) {}

    /// Expected / true work.
    double factor(std::size_t job);

  private:
    double deviation_;
    std::uint64_t seed_;
    // A job is asked about for one unit type after the other.
    std::size_t last_job_ = std::numeric_limits<std::size_t>::max();
    double last_factor_ = 1;
};

} // namespace fathom::simulation
