#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/model/gpu_memory.hpp"
#include "server/centers/gpus/gpu_pairs_store.hpp"
#include "server/identity/job_look.hpp"
#include "server/identity/job_scope.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pqxx {
class transaction_base;
}

/// Rows of what is kept of the GPUs that jobs have shared (G9): what `shared_gpu` says only while their programs run.
/// All functions take the caller's transaction, block, and let pqxx's exceptions through to Database::run.
namespace fathom::server {

/// So many GPUs are kept of an attempt, and of each so many programs and names of neighbours.
inline constexpr std::int64_t kMaxGpusOfAttempt = 64;
inline constexpr std::int64_t kMaxKeptOfGpu = 64;

/// A GPU on which programs of a job were.
struct JobGpuRecord {
    AttemptId attempt_id;
    std::string center;
    CenterId center_id;
    std::string gpu; ///< its UUID
    std::int64_t capacity_bytes{};
    Timestamp first_told_at{};
    Timestamp last_told_at{};
    Json programs;                       ///< list of SharedGpuJob, each as it was last told of
    std::vector<std::string> neighbours; ///< jobs that shared it, of those that the reader may know, by id
    std::int64_t other_count{};          ///< neighbours besides these
    std::vector<PairOfJob> pairs{};      ///< with these, where both were measured beside each other
};

/// Keeps what a report says of the attempts that have not ended at its center. What a program says of its job is its
/// word, also here; it cannot add to a job that has ended or is elsewhere.
void keep_gpus_of_attempts(pqxx::transaction_base& transaction, const CenterId& center, const GpuMemoryReport& report);

/// The job, if it is in the scope.
std::optional<LookedAtJob> select_job_with_gpus(pqxx::transaction_base& transaction, const std::string& job,
                                                const JobScope& scope);
/// Of all attempts of a job, ordered by attempt and GPU, `after` a key of the page before.
/// @param scope  jobs that are named as neighbours.
Page<JobGpuRecord> select_job_gpus(pqxx::transaction_base& transaction, const std::string& job, const JobScope& scope,
                                   std::int64_t size, const std::string& after);

Json to_json(const JobGpuRecord& record);

} // namespace fathom::server
