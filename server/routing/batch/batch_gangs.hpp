#pragma once

#include "core/schedule/schedule.hpp"
#include "server/routing/batch/gang_store.hpp"
#include "server/routing/batch/planned_batch.hpp"
#include "server/store/transaction.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

/// Jobs of a batch that start together or not at all.
namespace fathom::server {

/// The key of the job's gang as text; empty: it has none.
std::string gang_text(const WaitingJob& job);

/// Which jobs of a batch are decided now.
struct DecidableJobs {
    std::vector<std::size_t> jobs;
    WaitNotes notes;        ///< of the others
    std::int64_t waiting{}; ///< how many these are
};
/// All but members of gangs that are not complete, or beyond what their gang takes. Says in each member how many its
/// gang takes. Blocks; pqxx's exceptions pass through.
DecidableJobs leave_out_gangs(pqxx::work& transaction, std::vector<BatchJob>& jobs);

/// Gangs that even an idle network could not start together.
struct ImpossibleGangs {
    std::set<std::string> members; ///< ids of jobs
    std::vector<GangEnd> ends;     ///< of those that have been so for a while: missing units may come back
    WaitNotes notes;               ///< of the others
    std::int64_t waiting{};        ///< how many these are
};
/// @param waits    what was decided, of the jobs that `decided` lists.
/// @param decided  indices into `jobs`.
ImpossibleGangs find_impossible_gangs(const UnitLedger& network, const std::vector<ScheduledWait>& waits,
                                      const std::vector<BatchJob>& jobs, const std::vector<std::size_t>& decided);

} // namespace fathom::server
