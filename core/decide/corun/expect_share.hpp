#pragma once

#include "core/decide/corun/pair_model.hpp"
#include "core/model/gpu_share.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// What sharing a GPU of a unit type would cost a job, before its center has chosen which one (C8).
namespace fathom {

/// Has parts of a GPU.
struct GpuTenant {
    std::string kind; ///< what pairs know it by; empty: they do not
    double release_s{};
};

/// A GPU of which jobs have parts.
struct TenantedGpu {
    std::vector<GpuTenant> tenants; ///< each once
    std::size_t free_parts{};
};

/// On the GPU that comes first for the job (order_devices()) of those that have a free part. By pairs that were
/// measured, or completed from measured ones: classes tell an order and no figures. Empty: nothing is known so, nobody
/// is there, or no GPU has a free part.
/// @param gpus  all of the unit type, those that nobody has as well.
std::optional<ExpectedGpuShare> expect_gpu_share(const std::string& kind, std::span<const TenantedGpu> gpus,
                                                 const PairModel& pairs);

} // namespace fathom
