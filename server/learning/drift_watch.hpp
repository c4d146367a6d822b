#pragma once

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/decide/trust/drift.hpp"
#include "server/store/transaction.hpp"

#include <chrono>
#include <string>

namespace fathom::server {

struct DriftRule {
    std::int64_t least_jobs = 5;      ///< since the last measurement; 0: nothing is ever found
    double threshold = 1.1;           ///< times longer or shorter
    std::chrono::seconds pause{3600}; ///< between two requests for one unit type
};

/// Looks for unit types whose jobs go otherwise than predicted (find_drift), and asks for new measurements of them,
/// which ProbeRefresh::serve_drift() queues.
///
/// A periodic task: one transaction a turn, one replica at a time. Thread-safe.
class DriftWatch {
  public:
    /// @param actor  for the audit log. @param metrics  must outlive it.
    DriftWatch(const DriftRule& rule, Metrics& metrics, std::string actor)
        : rule_(rule), metrics_(&metrics), actor_(std::move(actor))
    {
    }

    Result<void> look(pqxx::work& transaction) const;

  private:
    DriftRule rule_;
    Metrics* metrics_;
    std::string actor_;
};

} // namespace fathom::server
