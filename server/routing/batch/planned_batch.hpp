#pragma once

#include "core/schedule/schedule.hpp"
#include "server/catalog/catalog_snapshot.hpp"
#include "server/routing/batch/batch_report.hpp"
#include "server/routing/batch/job_division.hpp"
#include "server/routing/batch/prediction_store.hpp"
#include "server/routing/batch/routing_store.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// A job of a batch that is to be decided now.
struct BatchJob {
    WaitingJob job;
    RouteRequest request;
};

/// A decision that starts its job now.
struct Placement {
    JobId job;
    Decision decision;
    Candidate winner;
    std::optional<double> queued_s{}; ///< of one that waits for its unit at the center; empty: it has it now
    bool has_run_time{false};
    bool is_probe{false};
    NewPrediction prediction; ///< kept unless it is a probe
    std::string inputs;       ///< JSON text of what was decided on; empty for a probe
    std::string project;
    std::string gang;              ///< its key as text; empty: none
    GpuMemoryRequest gpu_memory{}; ///< that the job needs
};

/// A member of a gang that can never start.
struct GangEnd {
    JobId job;
    std::string label;
    std::string reason;
};

/// Why jobs wait and their priority ranks, where these are to be written.
struct WaitNotes {
    std::vector<WaitingReason> reasons;
    std::vector<NewRank> ranks;

    /// If it is another one than the job had.
    void note_reason(const WaitingJob& job, const std::string& reason);
    void note_rank(const WaitingJob& job, double rank);
    /// That the job cannot be routed. It is logged, too, once the transaction that finds it has been committed.
    void note_unroutable(const WaitingJob& job, const Error& error);
};

/// What was decided on a batch, to be written where it still holds.
struct PlannedBatch {
    BatchReport report;
    CatalogPointer catalog; ///< that it was decided by
    std::string cycle_id;   ///< empty: the cycle is not kept
    /// The decided jobs of which something is to be written: only these are locked, since a row lock is a write, too.
    std::vector<DecidedJob> changed_jobs;
    std::vector<Placement> placements;
    std::vector<GangEnd> gang_ends;
    std::vector<DecidedDivision> divisions;
    WaitNotes notes;
};

} // namespace fathom::server
