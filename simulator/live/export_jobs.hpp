#pragma once

#include "simulator/live/export_rates.hpp"

#include <map>
#include <string>
#include <vector>

namespace fathom::simulation {

/// What a time in the past begins: jobs that were submitted later, and those that had not ended then.
struct ExportSpan {
    Timestamp begins; ///< second 0: the Monday 00:00 UTC before `since`
    Timestamp since;
    Timestamp now;
    std::optional<std::size_t> max_jobs{}; ///< the newest ones of these; empty: all
};

struct ReadJobs {
    Json jobs;           ///< as the network gives them, oldest first
    bool is_cut = false; ///< the span had more
};
/// The jobs of that span.
Result<ReadJobs> read_jobs(NetworkSource& source, const ExportSpan& span);

/// Their types, with the counts of units that their jobs ask for.
std::map<std::string, ExportedType> types_of(const Json& jobs, const Json& unit_types);

struct ExportedJobs {
    std::vector<Json> lines;                      ///< as workload_lines reads them
    std::int64_t waiting{};                       ///< of these, not ended yet: their run time is what is expected
    std::map<std::string, std::int64_t> left_out; ///< by reason
};

/// A line for each job: what ran with the time that it took, what runs or waits with the time that it is expected to
/// take. Of what ran already when the span began only the rest comes, for the place that it has.
Result<ExportedJobs> export_jobs(NetworkSource& source, const Json& jobs, const Json& unit_types,
                                 const std::map<std::string, ExportedType>& types, const ExportSpan& span);

} // namespace fathom::simulation
