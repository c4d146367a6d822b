#pragma once

#include "core/base/result.hpp"
#include "core/schedule/unit_ledger.hpp"
#include "server/events/job_event_log.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/routing/batch/batch_report.hpp"
#include "server/routing/batch/batch_requests.hpp"
#include "server/routing/batch/batch_tools.hpp"
#include "server/routing/batch/planned_batch.hpp"
#include "server/routing/in_use/attempts_in_use.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// What is in use, for the ledger that a cycle is going to make.
struct KnownUse {
    UseOfUnits units;
    std::vector<KnownGpuRoom> gpu_rooms; ///< where any units are parts of devices
};
/// Blocks; pqxx's exceptions pass through.
KnownUse read_use_of_units(pqxx::work& transaction, CycleLedger& ledger, const CatalogSnapshot& catalog);

/// The cursor with the job types whose probes have ended, which the first batch of a cycle looks up. Blocks; pqxx's
/// exceptions pass through. @error what the planner said
Result<CycleCursor> find_metered_types(pqxx::work& transaction, ProbePlanner& planner, CycleCursor cursor);

/// Whether a batch is to be tried again later after this error. False for errors of one job's content, which must not
/// stop the other jobs.
bool may_succeed_again(Errc code);

/// What came of the jobs of a batch before the decision.
struct PreparedJobs {
    std::vector<BatchJob> ready;         ///< to be decided, in the order in which they were prepared
    std::vector<UndividedJob> undivided; ///< first it is decided whether they run whole or in parts
    std::vector<KnownGpuRoom> gpu_rooms; ///< that were read with a fresh catalog
    std::vector<MeteringStart> metering; ///< wait for probes from now on
    std::vector<std::string> metered;    ///< ids of those that wait for probes no longer
    std::vector<NewJobEvent> events;
    std::int64_t overdue{}; ///< ended, since their deadline had passed
    bool has_asked_for_probes{};
};

/// Prepares the jobs of a batch one by one: ends what is overdue, has measured what must be first (M10), makes the
/// requests of the others. Blocks; pqxx's exceptions pass through. Not thread-safe; for one transaction.
class BatchPreparation {
  public:
    /// All of it outlives this.
    BatchPreparation(pqxx::work& transaction, const BatchTools& tools, const CycleCursor& cursor,
                     BatchRequests& requests)
        : transaction_(&transaction), tools_(&tools), cursor_(&cursor), requests_(&requests)
    {
    }

    /// Ends the job, starts its metering, or makes the job ready.
    Result<void> prepare(const WaitingJob& job);
    /// Once, after the last job.
    PreparedJobs take();

  private:
    /// Ends the job if its deadline has passed. @return false when there is time left.
    Result<bool> end_overdue(const WaitingJob& job);
    /// Has it decided whether the job runs whole or in parts, unless enough of the batch are; it is claimed anew, as
    /// what it is then.
    Result<void> leave_undivided(const WaitingJob& job, const RouteRequest& request);
    /// Asks for the measurements that the job lacks. @return true when the job now waits for probes.
    Result<bool> meter(WaitingJob& job);
    void start_metering(const WaitingJob& job, const std::vector<std::string>& places, const RequestedProbes& probes);
    /// Why a job is placed without the probes that it should have had; for its events.
    void note_obstacle(WaitingJob& job, const std::string& obstacle);
    void finish_metering(const WaitingJob& job);
    /// Asks for probes, once for all jobs of this batch that ask for the same.
    Result<RequestedProbes> request_probes(const WaitingJob& job, const std::vector<UnitTypeId>& targets);
    /// The decisions of this batch must not rest on an older catalog than the probes that just ended.
    void ensure_fresh_catalog();

    pqxx::work* transaction_;
    const BatchTools* tools_;
    const CycleCursor* cursor_;
    BatchRequests* requests_;
    bool is_fresh_ = false;
    std::map<std::string, RequestedProbes> requested_; ///< by job type, operators and unit types
    PreparedJobs prepared_;
};

} // namespace fathom::server
