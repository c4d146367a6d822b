#pragma once

#include "core/base/result.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <string>

namespace fathom::server {

/// What the library of operators asks of probing: to end the runs of an uploaded version that is withdrawn.
class ProbeRunTerminator {
  public:
    virtual ~ProbeRunTerminator() = default;
    /// Ends the probe runs that have not ended and name this version, as cancelled, and stops their jobs; jobs that
    /// wait for such a run go on. The version is withdrawn already in this transaction. Blocks; pqxx's exceptions pass
    /// through.
    /// @return how many runs it ended
    virtual Result<std::int64_t> end_withdrawn_runs(pqxx::work& transaction, const std::string& operator_id,
                                                    std::int64_t version) = 0;
};

} // namespace fathom::server
