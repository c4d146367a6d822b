#pragma once

#include "core/base/id.hpp"
#include "core/base/result.hpp"
#include "server/store/transaction.hpp"

#include <string>

namespace fathom::server {

/// What routing asks of jobs: to end one that can no longer be placed.
class WaitingJobTerminator {
  public:
    virtual ~WaitingJobTerminator() = default;
    /// Ends a job that waits, as failed. The caller has locked it. Blocks; pqxx's exceptions pass through.
    /// @param reason  for people
    virtual Result<void> end_waiting_job(pqxx::work& transaction, const JobId& id, const std::string& label,
                                         const std::string& reason) = 0;
};

} // namespace fathom::server
