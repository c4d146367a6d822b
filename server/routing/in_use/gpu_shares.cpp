#include "server/routing/in_use/gpu_shares.hpp"

#include "core/decide/corun/pair_model.hpp"
#include "server/routing/in_use/gpu_rooms.hpp"
#include "server/rows/gpu_kind.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace fathom::server {
namespace {

/// Of the kinds in a table of pairs so many at most are of jobs that wait.
constexpr std::size_t kMaxJobKinds = kMaxPairTableKinds * 2 / 3;

} // namespace

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

GpuShares::GpuShares(GpusInUse gpus, const ComingTenants& coming, const CatalogSnapshot& catalog)
    : pairs_(catalog.gpu_pairs.model), needs_(catalog.gpu_needs.by_kind), gpus_(std::move(gpus))
{
    if (pairs_ && pairs_->pair_count() == 0) pairs_.reset();
    if (pairs_)
        place(coming, catalog);
    else
        gpus_.clear();
}

void GpuShares::place(const ComingTenants& coming, const CatalogSnapshot& catalog)
{
    for (const auto& [id, tenants] : coming) {
        const UnitTypeView* const view = catalog.find_unit_type(id);
        if (view == nullptr || view->units_per_device <= 1) continue;
        if (view->unit_count / view->units_per_device > kMaxForeseenGpus) continue;
        const auto [known, is_new] = gpus_.try_emplace(id);
        if (is_new) known->second = gpus_of(view->unit_count, view->units_per_device);
        for (const ComingTenant& one : tenants) {
            if (one.is_exclusive)
                place_alone(known->second, one.tenant, one.unit_count);
            else
                place_tenant(known->second, one.tenant, one.unit_count, *pairs_);
        }
    }
}

void GpuShares::set(RouteRequest& request)
{
    request.gpu_shares.clear();
    request.learned_gpu_memory = {};
    request.gpu_kind.clear();
    const bool knows_anything = needs_ != nullptr || pairs_ != nullptr;
    if (!knows_anything || request.is_probe || request.units.is_exclusive() || request.job_type.empty()) return;
    const std::string kind = gpu_kind_of(request.job_type, request.run_owner(), KernelClass::kUnknown);
    if (needs_ && request.units.gpu_memory.all_bytes() == 0) request.learned_gpu_memory = learned_need(*needs_, kind);
    if (pairs_ && pairs_->knows(kind)) request.gpu_kind = kind;
    if (gpus_.empty()) return;
    const auto [shares, is_new] = known_.try_emplace(kind);
    for (auto gpus = gpus_.begin(); is_new && gpus != gpus_.end(); ++gpus) {
        if (const std::optional<ExpectedGpuShare> expected = expect_gpu_share(kind, gpus->second, *pairs_))
            shares->second.emplace(gpus->first, *expected);
    }
    request.gpu_shares = shares->second;
}

std::shared_ptr<const PairTable> GpuShares::pairs_among(std::span<const ReadyJob> jobs,
                                                        std::span<const KnownGpus> placed) const
{
    std::set<std::string> kinds;
    for (const ReadyJob& job : jobs) {
        if (!job.request.gpu_kind.empty() && kinds.size() < kMaxJobKinds) kinds.insert(job.request.gpu_kind);
    }
    if (!pairs_ || kinds.empty()) return nullptr;
    for (const KnownGpus& known : placed) {
        for (const TenantedGpu& gpu : known.gpus) {
            for (const GpuTenant& tenant : gpu.tenants) {
                if (kinds.size() < kMaxPairTableKinds && pairs_->knows(tenant.kind)) kinds.insert(tenant.kind);
            }
        }
    }
    return std::make_shared<const PairTable>(kinds, *pairs_);
}

std::vector<KnownGpus> GpuShares::gpus() const
{
    std::vector<KnownGpus> all;
    for (const auto& [unit_type, gpus] : gpus_)
        all.push_back({{unit_type}, gpus});
    return all;
}

} // namespace fathom::server
