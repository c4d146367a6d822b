#pragma once

#include "core/decide/corun/expect_share.hpp"
#include "server/catalog/catalog_snapshot.hpp"
#include "server/routing/attempts_in_use.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fathom::server {

/// Who has parts of the GPUs of unit types at one moment, what jobs are expected to keep of their speed beside them
/// (C8), and what earlier runs of their kinds had of a GPU's memory (G8). Not thread-safe.
class GpuShares {
  public:
    /// Nobody is known of.
    GpuShares() = default;
    /// What is expected by the pairs and needs of the catalog.
    GpuShares(GpusInUse gpus, const CatalogSnapshot& catalog);

    /// Says in a request what the job is expected to keep at each of these unit types, and where it says no need of GPU
    /// memory what earlier runs had; its type and owner must be set. Nothing of a probe, and of a job that shares no
    /// GPU.
    void set(RouteRequest& request);

  private:
    using Shares = std::map<std::string, ExpectedGpuShare>; ///< by id of the unit type

    std::shared_ptr<const PairModel> pairs_;                               ///< nullptr: none
    std::shared_ptr<const std::map<std::string, GpuMemoryRequest>> needs_; ///< by kind; nullptr: none
    GpusInUse gpus_;                                                       ///< empty: nothing is known
    std::map<std::string, Shares> known_;                                  ///< by kind of the job
};

/// The GPUs of a unit type, those that nobody has among them.
/// @param units_per_device  above 1.
std::vector<TenantedGpu> gpus_of(std::int64_t unit_count, std::int64_t units_per_device);
/// One has these units of it. Those that the unit type does not have any more are passed over.
/// @param gpus  of gpus_of().
void add_tenant(std::vector<TenantedGpu>& gpus, const GpuTenant& tenant, const std::vector<std::int64_t>& units,
                std::int64_t units_per_device);

} // namespace fathom::server
