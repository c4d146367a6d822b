#pragma once

#include "core/decide/corun/expect_share.hpp"
#include "core/decide/corun/pair_model.hpp"
#include "core/decide/corun/pair_table.hpp"
#include "core/schedule/schedule.hpp"
#include "server/catalog/catalog_snapshot.hpp"
#include "server/routing/in_use/attempts_in_use.hpp"

#include <map>
#include <memory>
#include <span>
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
    /// @param coming  are taken to get the GPUs that their centers are expected to choose.
    GpuShares(GpusInUse gpus, const ComingTenants& coming, const CatalogSnapshot& catalog);

    /// Says in a request what the job is expected to keep at each of these unit types, and where it says no need of GPU
    /// memory what earlier runs had; its type and owner must be set. Nothing of a probe, and of a job that shares no
    /// GPU.
    void set(RouteRequest& request);
    /// What the jobs, whose requests were set, and those who have parts of GPUs keep beside each other; nullptr:
    /// nothing is known of any of the jobs.
    /// @param placed  the GPUs of which jobs have parts, with who was placed there since.
    std::shared_ptr<const PairTable> pairs_among(std::span<const ReadyJob> jobs,
                                                 std::span<const KnownGpus> placed) const;
    /// The GPUs of unit types of which somebody has parts.
    std::vector<KnownGpus> gpus() const;

  private:
    void place(const ComingTenants& coming, const CatalogSnapshot& catalog);

    using Shares = std::map<std::string, ExpectedGpuShare>; ///< by id of the unit type

    std::shared_ptr<const PairModel> pairs_;                               ///< nullptr: none was learned
    std::shared_ptr<const std::map<std::string, GpuMemoryRequest>> needs_; ///< by kind; nullptr: none
    GpusInUse gpus_;                                                       ///< empty: nothing is known
    std::map<std::string, Shares> known_;                                  ///< by kind of the job
};

/// One has these units of it. Those that the unit type does not have any more are passed over.
/// @param gpus  of gpus_of().
void add_tenant(std::vector<TenantedGpu>& gpus, const GpuTenant& tenant, const std::vector<std::int64_t>& units,
                std::int64_t units_per_device);

} // namespace fathom::server
