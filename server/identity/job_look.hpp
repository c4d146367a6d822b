#pragma once

#include "server/identity/principal.hpp"
#include "server/store/transaction.hpp"

#include <string>
#include <string_view>

namespace fathom::server {

/// Who looks at jobs, or cancels them.
struct JobReader {
    Principal principal;
    std::string request_id; ///< of the request, for the audit log
};

struct LookedAtJob {
    std::string id;
    std::string label; ///< probes are nobody's
    std::string submitted_by;
    std::string project;
};

/// Records in the audit log, once an hour for each reader, action and job, that the reader sees the job by its role
/// alone. Before the answer, in the transaction that reads it: without the record there is no answer. Blocks; pqxx's
/// exceptions pass through.
/// @param action  "job.read" and its like.
void record_job_look(pqxx::transaction_base& transaction, const JobReader& reader, std::string_view action,
                     const LookedAtJob& job);

} // namespace fathom::server
