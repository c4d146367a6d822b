#pragma once

#include "core/base/metrics.hpp"
#include "server/learning/health_store.hpp"
#include "server/probing/refresh/health_probes.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

/// Keeps jobs away from centers that fail them, and lets those centers back in when their probes are good again. A
/// quarantined center still runs probes; how often it is probed is decided by pause_before_probe().
///
/// A center with failures that too few submitters met is suspected: one small probe at a time is queued there, at
/// distances by pause_before_next_check(), and the center is closed when such a probe fails.
///
/// A periodic task: one transaction a turn, one replica at a time. Thread-safe. All must outlive it.
class QuarantineWatch {
  public:
    /// @param actor  for the audit log.
    QuarantineWatch(const HealthProbes& probes, const QuarantineRule& rule, const Clock& clock, Metrics& metrics,
                    std::string actor)
        : probes_(&probes), rule_(rule), clock_(&clock), metrics_(&metrics), actor_(std::move(actor))
    {
    }

    Result<void> look(pqxx::work& transaction) const;

  private:
    Result<void> judge_all(pqxx::work& transaction, Timestamp now) const;
    Result<void> check_suspect(pqxx::work& transaction, const std::string& name, const HealthProbePlace& where,
                               Timestamp now) const;
    void quarantine(pqxx::work& transaction, const CenterAttempts& center, const QuarantineVerdict& verdict) const;
    Result<void> follow(pqxx::work& transaction, const QuarantinedCenter& center, Timestamp now) const;

    const HealthProbes* probes_;
    QuarantineRule rule_;
    const Clock* clock_;
    Metrics* metrics_;
    std::string actor_;
};

} // namespace fathom::server
