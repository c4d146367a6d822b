#pragma once

#include "core/decide/scaling.hpp"
#include "server/probing/probe_ports.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <span>

namespace fathom::server {

/// The one more count that is worth measuring when the curves of a task's operators have been fitted: of the curve
/// whose interval is widest there, the count at which the models disagree most. Empty when every curve is known well
/// enough, its 80 % interval within ±10 %, or nothing is left to measure. Pure.
/// @param measured  counts that were measured already.
std::optional<std::int64_t> next_scaling_count(std::span<const ScalingCurve> curves, std::int64_t unit_count,
                                               std::span<const std::int64_t> measured);

/// Adds one run to orders whose counts were chosen for scaling (M14, M19), where five counts left the curve open.
/// For the DutyRunner. Thread-safe.
class ScalingStep {
  public:
    explicit ScalingStep(ProbeJobWriter& writer) : writer_(&writer) {}

    /// Blocks; pqxx's exceptions pass through. @error as queue_run(), but for a center whose budget is spent.
    Result<void> look(pqxx::work& transaction) const;

  private:
    ProbeJobWriter* writer_;
};

} // namespace fathom::server
