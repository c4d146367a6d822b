#pragma once

#include "core/decide/queue/order_jobs.hpp"
#include "simulator/world/scenario.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

namespace fathom::simulation {

/// Jobs that differ in their work only: wherever they run, their times are proportional to it.
struct JobKind {
    std::vector<JobOption> places; ///< every one that they fit; run_s is of one second of work
    double shortest_s{};           ///< at the fastest place, of one second of work; infinite without a place
    double mean_s{}; ///< the mean over the units of all types that they fit, on the best count of each; the same
};

/// Sorts jobs by kind, so that what millions of them could take is worked out once for each kind. Not thread-safe.
class JobKinds {
  public:
    /// Keeps the scenario, which must outlive it.
    explicit JobKinds(const Scenario& scenario);

    /// Number of the job's kind: from 0 on as they come.
    std::size_t index_of(const Job& job);
    const JobKind& operator[](std::size_t index) const { return kinds_[index]; }
    std::size_t size() const { return kinds_.size(); }

  private:
    struct Key {
        std::uint32_t job_type{};
        std::uint32_t rule{};
        std::int32_t unit_count{};
        std::int32_t max_units{};
        auto operator<=>(const Key&) const = default;
    };
    JobKind make_kind(const Job& job) const;

    const Scenario* scenario_;
    std::vector<std::uint32_t> rules_; ///< by details: those with the same say the same of where their jobs may run
    std::map<Key, std::size_t> index_;
    std::vector<JobKind> kinds_;
};

} // namespace fathom::simulation
