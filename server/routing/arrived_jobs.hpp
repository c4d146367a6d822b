#pragma once

#include "core/decide/route.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace fathom::server {

/// What unit types are worth to the jobs that come, as one router has seen them since it started: those that wait are
/// the ones that were not served, and are often few. Remembers the newest thousand jobs. Not thread-safe.
class ArrivedJobs {
  public:
    /// Where a job would go, as it was predicted when it was first decided on.
    struct Place {
        std::string unit_type_id;
        std::int64_t unit_count{};
        double run_s{};
    };

    /// Whether note() would take it: it is not known, and not older than all that are remembered.
    bool is_new(const std::string& job_id) const;
    /// Nothing is kept of a job that is not new, and of one without places.
    void note(const std::string& job_id, std::vector<Place> places);

    /// Of each of the unit types; nullopt where none of the jobs could go, and of all until fifty have come. Taken anew
    /// once fifty more have come.
    std::vector<std::optional<double>> worths(std::span<const UnitTypeView> unit_types);

  private:
    void take_worths(std::span<const UnitTypeView> unit_types);

    std::map<std::string, std::vector<Place>> jobs_; ///< by id, which is in the order of submission
    std::size_t news_ = 0;                           ///< jobs since worths were taken
    std::unordered_map<std::string, double> worths_; ///< by unit type
};

} // namespace fathom::server
