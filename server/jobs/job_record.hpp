#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "core/model/job.hpp"
#include "core/model/job_parts.hpp"
#include "core/model/staged_so_far.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// The newest try to run a job, as clients see it.
struct AttemptRecord {
    std::string id;
    std::int64_t epoch{};
    std::string center_id;
    std::string center;
    std::string unit_type_id;
    std::string unit_type;
    std::int64_t unit_count{};
    std::string state;
    std::string outcome;        ///< empty until it has ended
    std::string cause = "none"; ///< an AttemptCause, as it is written
    std::optional<std::int64_t> exit_code;
    std::optional<std::int64_t> signal;
    std::string detail;
    Timestamp created_at{};
    std::optional<Timestamp> dispatched_at; ///< when its order was first sent to the center
    /// How it waits in the center's own batch system.
    struct CenterQueue {
        std::string reason;
        std::optional<Timestamp> expected_start;
        Timestamp told_at{};
    };
    std::optional<CenterQueue> center_queue; ///< empty: it does not, or the center says nothing
    std::optional<Timestamp> started_at;
    std::optional<Timestamp> ended_at;
    std::optional<double> run_s;
    std::optional<double> cpu_s;
    std::optional<std::int64_t> max_resident_bytes;
    std::optional<std::int64_t> stdout_bytes;
    std::optional<std::int64_t> stderr_bytes;
    std::optional<Timestamp> output_removed_at; ///< since when its output is no longer kept
    std::string cpus;                           ///< JSON array
    std::string units;                          ///< JSON array
    std::string outputs;                        ///< JSON array of what was stored, with StoredOutput's fields
    std::string nodes;                          ///< that it ran on; empty: its center tells none
    std::int64_t energy_j{};                    ///< that these took meanwhile; 0: its center tells none
    std::string staging = "null";               ///< JSON: StagingUse's fields, or null
    std::optional<StagedSoFar> staged_so_far;   ///< while its inputs are fetched, as its center told last
    std::string decided_by;
};

/// What the placement of the newest attempt predicted; of a divided job predicted_run() of all parts.
struct PredictedRecord {
    std::optional<double> run_s;
    std::optional<double> low_s;
    std::optional<double> high_s;
    std::optional<double> wait_s; ///< of the newest attempt
};

struct JobRecord {
    JobId id;
    std::string label = "job";
    std::string name;
    std::string project;
    std::string job_type;
    std::string operators_from; ///< the job that its type learned its operators from; empty: they are its own
    std::string spec;           ///< JSON text
    std::string steps;          ///< JSON text of a job with steps: JobSteps without `whole`; else, and in lists, empty
    std::string secrets;        ///< of a new one: secrets_text(); never read back but for its orders
    std::int64_t priority{};    ///< of a new one, as in its specification
    std::string gang;           ///< of a new one: its gang's id
    std::string state = "queued";
    std::int64_t version{1};
    Timestamp submitted_at{};
    std::string submitted_by;
    Timestamp state_changed_at{};
    std::string waiting_reason;
    std::optional<std::int64_t> exit_code;
    std::string end_reason;
    std::optional<Timestamp> started_at;
    std::optional<Timestamp> ended_at;
    std::optional<double> run_s;
    std::optional<AttemptRecord> attempt;
    std::optional<PredictedRecord> predicted;
    /// Of a divided job: what the placement of the part whose turn it is predicted. Empty: it has none, or that
    /// nothing.
    std::optional<PartRun> part_predicted;
};

/// A job that has passed every check.
struct AdmittedJob {
    JobSpec spec; ///< operators completed, or taken over from its type
    std::string job_type;
    std::string operators_from; ///< as in JobRecord
};

/// A job that is about to be queued.
JobRecord make_job_record(JobId id, std::string label, const AdmittedJob& job, std::string submitted_by);

/// As JSON text: the spec goes in as it is, and no tree is built, for each submission and each look at a job makes one.
std::string job_text(const JobRecord& job);

} // namespace fathom::server
