#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "core/model/gpu_memory.hpp"
#include "server/identity/job_scope.hpp"
#include "server/store/page.hpp"

#include <string>

namespace pqxx {
class transaction_base;
}

/// Rows of GPUs whose memory jobs share (G9). All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

struct SharedGpuRecord {
    std::string center;
    CenterId center_id;
    Timestamp reported_at{}; ///< when the figures last changed
    Json report;             ///< of SharedGpu
};

struct SharedGpuFilter {
    std::string center{}; ///< name or id; empty: all
    std::string job{};    ///< GPUs with programs of this job; empty: all
    JobScope scope{};     ///< jobs that are named
};

/// The GPUs of a center, instead of those that it told of before.
/// @return whether jobs may have more or less of them than before, which routing is to know.
bool replace_shared_gpus(pqxx::transaction_base& transaction, const CenterId& center, const GpuMemoryReport& report);

/// Ordered by center and GPU, `after` a key of the page before; without revoked centers.
Page<SharedGpuRecord> select_shared_gpus(pqxx::transaction_base& transaction, const SharedGpuFilter& filter,
                                         std::int64_t size, const std::string& after);

Json to_json(const SharedGpuRecord& record);

} // namespace fathom::server
