#include "server/routing/gpu_shares.hpp"

#include "core/decide/corun/pair_model.hpp"
#include "server/rows/gpu_kind.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace fathom::server {
namespace {

/// As much as a job may ask for: cycles hold no more.
constexpr std::int64_t kMaxLearned_bytes = std::int64_t{1} << 42;

} // namespace

std::vector<TenantedGpu> gpus_of(std::int64_t unit_count, std::int64_t units_per_device)
{
    // What is left beyond full devices counts for none (core/decide/capacity/shared_devices.hpp).
    const TenantedGpu free{{}, static_cast<std::size_t>(units_per_device)};
    return std::vector<TenantedGpu>(static_cast<std::size_t>(unit_count / units_per_device), free);
}

void add_tenant(std::vector<TenantedGpu>& gpus, const GpuTenant& tenant, const std::vector<std::int64_t>& units,
                std::int64_t units_per_device)
{
    std::set<std::size_t> seen;
    for (const std::int64_t unit : units) {
        if (unit < 0) continue;
        const auto gpu = static_cast<std::size_t>(unit / units_per_device);
        if (gpu >= gpus.size()) continue;
        if (gpus[gpu].free_parts > 0) --gpus[gpu].free_parts;
        if (seen.insert(gpu).second) gpus[gpu].tenants.push_back(tenant);
    }
}

GpuShares::GpuShares(GpusInUse gpus, const CatalogSnapshot& catalog)
    : pairs_(catalog.gpu_pairs.model), needs_(catalog.gpu_needs.by_kind), gpus_(std::move(gpus))
{
    if (!pairs_ || pairs_->pair_count() == 0) gpus_.clear();
}

void GpuShares::set(RouteRequest& request)
{
    request.gpu_shares.clear();
    request.learned_gpu_memory = {};
    const bool knows_anything = needs_ != nullptr || !gpus_.empty();
    if (!knows_anything || request.is_probe || request.units.is_exclusive() || request.job_type.empty()) return;
    const std::string kind = gpu_kind_of(request.job_type, request.run_owner(), KernelClass::kUnknown);
    if (needs_ && request.units.gpu_memory.all_bytes() == 0) {
        if (const auto need = needs_->find(kind); need != needs_->end())
            request.learned_gpu_memory = {std::min(need->second.persistent_bytes, kMaxLearned_bytes),
                                          std::min(need->second.temporary_bytes, kMaxLearned_bytes)};
    }
    if (gpus_.empty()) return;
    const auto [shares, is_new] = known_.try_emplace(kind);
    for (auto gpus = gpus_.begin(); is_new && gpus != gpus_.end(); ++gpus) {
        if (const std::optional<ExpectedGpuShare> expected = expect_gpu_share(kind, gpus->second, *pairs_))
            shares->second.emplace(gpus->first, *expected);
    }
    request.gpu_shares = shares->second;
}

} // namespace fathom::server
