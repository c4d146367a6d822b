#pragma once

#include "server/operators/operators_service.hpp"
#include "server/probing/probe_ports.hpp"

#include <cstdint>
#include <optional>

namespace fathom::server {

/// Small probes that tell whether a center can run anything well: one operator at its default size on one unit.
/// Thread-safe. All must outlive it.
class HealthProbes {
  public:
    HealthProbes(const OperatorsService& operators, ProbeJobWriter& writer) : operators_(&operators), writer_(&writer)
    {
    }

    /// Queues one with the cause "quarantine".
    /// @param turn  how many there were before: unit types and operators take turns.
    /// @return empty: no room in its budget, or it offers nothing that it could be probed with.
    Result<std::optional<ProbeRunId>> queue(pqxx::work& transaction, const CenterId& center, std::int64_t turn) const;

  private:
    const OperatorsService* operators_;
    ProbeJobWriter* writer_;
};

} // namespace fathom::server
