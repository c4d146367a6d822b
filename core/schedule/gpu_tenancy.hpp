#pragma once

#include "core/base/id.hpp"
#include "core/decide/corun/expect_share.hpp"
#include "core/decide/corun/pair_table.hpp"
#include "core/decide/routing/gpu_neighbours.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Who has parts of GPUs while jobs are decided together; part of core/schedule/unit_ledger.
namespace fathom {

/// Who is placed on which GPU is not foreseen of unit types with more: each start would look at all of them.
inline constexpr std::int64_t kMaxForeseenGpus = 1024;

/// The GPUs of a unit type of whose GPUs somebody has a part, those that nobody has among them.
struct KnownGpus {
    UnitTypeId unit_type_id;
    std::vector<TenantedGpu> gpus;
};

/// What jobs would keep of their speed on GPUs with these tenants. Not thread-safe: what was asked once is kept.
class GpuTenancy final : public GpuNeighbours {
  public:
    /// Neither may be null.
    GpuTenancy(std::shared_ptr<const std::vector<TenantedGpu>> gpus, std::shared_ptr<const PairTable> pairs);

    bool knows(const std::string& kind) const override;
    std::optional<ExpectedGpuShare> expect(const std::string& kind) const override;

  private:
    std::shared_ptr<const std::vector<TenantedGpu>> gpus_;
    std::shared_ptr<const PairTable> pairs_;
    mutable std::map<std::string, std::optional<ExpectedGpuShare>> known_;
};

} // namespace fathom
