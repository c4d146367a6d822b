#pragma once

#include "core/model/gpu_share.hpp"
#include "simulator/policies/policy.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace fathom::simulation {

/// What jobs are expected to keep of their speed on devices that others have parts of, as the router expects it
/// (expect_gpu_share(), beside_on_gpu_s()). Not thread-safe.
class DeviceShares {
  public:
    /// As the centers tell at this moment; look() has been called before anything else is asked.
    void look(const PolicyView& view);

    /// How long a run that starts now would be there; as long as by itself where nobody slows it, or nothing is known.
    /// @param alone_s  by itself
    double beside_s(std::uint32_t job_type, std::size_t unit_type, double alone_s);

  private:
    const std::optional<ExpectedGpuShare>& find(std::uint32_t job_type, std::size_t unit_type);

    const DeviceReports* reports_ = nullptr; ///< nullptr: no unit is a part of a device
    const Scenario* scenario_ = nullptr;
    double now_s_{};
    std::uint64_t version_{};                                                                ///< of the reports
    std::map<std::size_t, std::vector<TenantedGpu>> gpus_;                                   ///< by unit type
    std::map<std::pair<std::uint32_t, std::size_t>, std::optional<ExpectedGpuShare>> known_; ///< by both types
};

} // namespace fathom::simulation
