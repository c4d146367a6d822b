#pragma once

#include "simulator/live/export_jobs.hpp"

#include <string>
#include <vector>

/// A running network and its jobs, as the files that a simulation reads (docs/simulation.md, "What is exported").
namespace fathom::simulation {

struct LiveExport {
    Json centers;                   ///< as parse_centers() reads it
    std::size_t unit_type_count{};  ///< of the running network
    ExportedJobs jobs;              ///< lines as read_job_lines() reads them
    bool is_cut = false;            ///< the span had more jobs than were asked for
    std::vector<std::string> notes; ///< what the centers cannot say, for people
};

/// A span up to now.
/// @param since  at most `now`.
ExportSpan span_since(Timestamp since, Timestamp now);

/// Asks the network for its centers and the jobs of the span.
/// @error as the network says; kInvalid when what it says makes no centers file.
Result<LiveExport> export_live_network(NetworkSource& source, const ExportSpan& span);

/// The jobs as text, one a line.
std::string lines_text(const ExportedJobs& jobs);

} // namespace fathom::simulation
