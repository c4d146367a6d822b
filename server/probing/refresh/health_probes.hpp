#pragma once

#include "core/base/clock.hpp"
#include "server/operators/operators_service.hpp"
#include "server/ports/probe_ports.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// What came of a wish for a probe.
struct HealthProbe {
    std::optional<ProbeRunId> run{}; ///< queued now
    std::string obstacle{};          ///< why there is none, for people; the same words as long as it stays so
};

/// Where to probe.
struct HealthProbePlace {
    CenterId center;
    std::vector<std::string> unit_types{}; ///< ids of those that are asked about; empty: all of the center
    std::int64_t turn{};                   ///< how many there were before: unit types and operators take turns
};

/// Small probes that tell whether a center can run anything well: one operator at its default size on one unit.
/// Thread-safe. All must outlive it.
class HealthProbes {
  public:
    HealthProbes(const OperatorsService& operators, ProbeJobWriter& writer) : operators_(&operators), writer_(&writer)
    {
    }

    /// Queues one with the cause "quarantine", which has failed when it has not run within the hour: the next one may
    /// find units that this one did not get. Unit types whose units are all kept for others are passed over, and so are
    /// probes that somebody else has waiting.
    Result<HealthProbe> queue(pqxx::work& transaction, const HealthProbePlace& where, Timestamp now) const;

  private:
    const OperatorsService* operators_;
    ProbeJobWriter* writer_;
};

} // namespace fathom::server
