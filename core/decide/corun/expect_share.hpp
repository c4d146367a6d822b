#pragma once

#include "core/decide/corun/pair_knowledge.hpp"
#include "core/model/gpu_share.hpp"

#include <cstddef>
#include <cstdint>
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

    friend bool operator==(const GpuTenant&, const GpuTenant&) = default;
};

/// A GPU of which jobs have parts.
struct TenantedGpu {
    std::vector<GpuTenant> tenants; ///< each once
    std::size_t free_parts{};

    friend bool operator==(const TenantedGpu&, const TenantedGpu&) = default;
};

/// The GPUs of a unit type of which nobody has a part. What is left beyond full GPUs counts for none.
/// @param units_per_device  above 1.
std::vector<TenantedGpu> gpus_of(std::int64_t unit_count, std::int64_t units_per_device);

/// On the GPU that comes first for the job (order_devices()) of those that have a free part. By pairs that were
/// measured, or completed from measured ones: classes tell an order and no figures. Empty: nothing is known so, nobody
/// is there, or no GPU has a free part.
/// @param gpus  all of the unit type, those that nobody has as well.
std::optional<ExpectedGpuShare> expect_gpu_share(const std::string& kind, std::span<const TenantedGpu> gpus,
                                                 const PairKnowledge& pairs);

/// Gives a job so many parts, of the GPUs that come first for it (order_devices()), as its center will; as far as there
/// are free ones.
void place_tenant(std::vector<TenantedGpu>& gpus, const GpuTenant& tenant, std::int64_t parts,
                  const PairKnowledge& pairs);
/// Gives a job that shares no GPU those of which nobody has a part, the first ones, until it has so many parts.
void place_alone(std::vector<TenantedGpu>& gpus, const GpuTenant& tenant, std::int64_t parts);

} // namespace fathom
