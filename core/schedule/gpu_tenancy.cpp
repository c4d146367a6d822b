#include "core/schedule/gpu_tenancy.hpp"

#include <utility>

namespace fathom {

GpuTenancy::GpuTenancy(std::shared_ptr<const std::vector<TenantedGpu>> gpus, std::shared_ptr<const PairTable> pairs)
    : gpus_(std::move(gpus)), pairs_(std::move(pairs))
{
}

bool GpuTenancy::knows(const std::string& kind) const
{
    return pairs_->knows(kind);
}

std::optional<ExpectedGpuShare> GpuTenancy::expect(const std::string& kind) const
{
    const auto [found, is_new] = known_.try_emplace(kind);
    if (is_new) found->second = expect_gpu_share(kind, *gpus_, *pairs_);
    return found->second;
}

} // namespace fathom
