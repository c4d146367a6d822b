#pragma once

#include "simulator/live/network_source.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// How fast job types run where, as a running network predicts and has seen it.
namespace fathom::simulation {

/// A job type of the jobs that are exported.
struct ExportedType {
    Json sample;                         ///< the newest job of the type, as the server gives it
    std::set<std::int64_t> counts;       ///< numbers of units that its jobs ask for, or had
    std::map<std::string, double> rates; ///< by unit type's id; the best: 1
    std::map<std::string, std::map<std::int64_t, double>> speedups; ///< over the least count; with several counts
    std::int64_t least_count{1};
    /// Seconds that a job like the sample takes at least, on the least count.
    double least_s{};

    bool is_scaled() const { return counts.size() > 1 && !speedups.empty(); }
    /// Work of a job that ran so long there; empty where no rate is known.
    std::optional<double> work_of(double run_s, const std::string& unit_type_id, std::int64_t unit_count) const;
};

/// Counts that jobs which leave it to the router may get, up to the largest unit type.
std::set<std::int64_t> counts_between(std::int64_t least, std::int64_t most);

/// Asks for predictions of a job like the sample on every unit type that could run it, and where there are none for
/// what jobs of the type took; unit types of which nothing is known, but which could run it, are taken for a middling
/// one. Asks nothing that changes anything.
/// @param unit_types  as GET /unit-types has them.
Result<void> find_rates(NetworkSource& source, const std::string& name, const Json& unit_types, ExportedType& type);

/// Seconds that a job is expected to take at its best place now, on the count that is decided for it; empty: nobody
/// knows, or there is none.
struct ExpectedRun {
    double run_s{};
    std::string unit_type_id;
    std::int64_t unit_count{1};
};
Result<std::optional<ExpectedRun>> expected_run(NetworkSource& source, const Json& job);

} // namespace fathom::simulation
