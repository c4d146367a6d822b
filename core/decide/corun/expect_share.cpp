#include "core/decide/corun/expect_share.hpp"

#include "core/decide/corun/choose_device.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

namespace fathom {
namespace {

/// Beside all of a GPU's tenants of which something was measured.
std::optional<ExpectedGpuShare> share_beside(const PairMember& newcomer, const std::vector<GpuTenant>& tenants,
                                             const PairKnowledge& pairs)
{
    ExpectedGpuShare expected{.neighbours = 0};
    ShareBesideSeveral beside;
    for (const GpuTenant& tenant : tenants) {
        const PairShare kept = pairs.expect(newcomer, {tenant.kind, KernelClass::kUnknown});
        if (kept.source < PairSource::kCompleted || !(kept.share > 0)) continue;
        beside.add(kept);
        expected.until_s = std::max(expected.until_s, tenant.release_s);
        expected.basis = std::min(expected.basis, kept.source);
        ++expected.neighbours;
    }
    if (expected.neighbours == 0) return std::nullopt;
    expected.share = std::clamp(beside.share, kMinLearnedGpuShare, 1.0);
    expected.spread = expected.share * std::sqrt(beside.relative_squares);
    return expected;
}

/// Of its tenants, in order.
std::vector<std::string_view> kinds_on(const TenantedGpu& gpu)
{
    std::vector<std::string_view> kinds;
    kinds.reserve(gpu.tenants.size());
    for (const GpuTenant& tenant : gpu.tenants)
        kinds.emplace_back(tenant.kind);
    std::sort(kinds.begin(), kinds.end());
    return kinds;
}

/// Which of the GPUs comes first for the job of those that have a free part.
std::optional<std::size_t> first_open(const PairMember& newcomer, std::span<const TenantedGpu> gpus,
                                      const PairKnowledge& pairs)
{
    std::vector<DeviceOption> options;
    std::vector<std::size_t> open;
    // There may be thousands: of those that are alike the first one comes first.
    std::set<std::pair<std::size_t, std::vector<std::string_view>>> seen;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        const TenantedGpu& gpu = gpus[i];
        if (gpu.free_parts == 0 || !seen.emplace(gpu.free_parts, kinds_on(gpu)).second) continue;
        DeviceOption& option = options.emplace_back();
        option.free_parts = gpu.free_parts;
        for (const GpuTenant& tenant : gpu.tenants)
            option.tenants.push_back({tenant.kind, KernelClass::kUnknown});
        open.push_back(i);
    }
    if (options.empty()) return std::nullopt;
    return open[order_devices(newcomer, options, pairs).front()];
}

} // namespace

std::vector<TenantedGpu> gpus_of(std::int64_t unit_count, std::int64_t units_per_device)
{
    const TenantedGpu free{{}, static_cast<std::size_t>(units_per_device)};
    return std::vector<TenantedGpu>(static_cast<std::size_t>(unit_count / units_per_device), free);
}

std::optional<ExpectedGpuShare> expect_gpu_share(const std::string& kind, std::span<const TenantedGpu> gpus,
                                                 const PairKnowledge& pairs)
{
    if (!pairs.knows(kind)) return std::nullopt;
    const PairMember newcomer{kind, KernelClass::kUnknown};
    const std::optional<std::size_t> first = first_open(newcomer, gpus, pairs);
    return first ? share_beside(newcomer, gpus[*first].tenants, pairs) : std::nullopt;
}

void place_tenant(std::vector<TenantedGpu>& gpus, const GpuTenant& tenant, std::int64_t parts,
                  const PairKnowledge& pairs)
{
    for (std::int64_t left = parts; left > 0;) {
        const std::optional<std::size_t> first = first_open({tenant.kind, KernelClass::kUnknown}, gpus, pairs);
        if (!first) return;
        TenantedGpu& gpu = gpus[*first];
        const std::int64_t given = std::min(left, static_cast<std::int64_t>(gpu.free_parts));
        gpu.free_parts -= static_cast<std::size_t>(given);
        gpu.tenants.push_back(tenant);
        left -= given;
    }
}

void place_alone(std::vector<TenantedGpu>& gpus, const GpuTenant& tenant, std::int64_t parts)
{
    std::int64_t left = parts;
    for (TenantedGpu& gpu : gpus) {
        if (left <= 0) return;
        if (!gpu.tenants.empty() || gpu.free_parts == 0) continue;
        left -= static_cast<std::int64_t>(gpu.free_parts);
        gpu.free_parts = 0;
        gpu.tenants.push_back(tenant);
    }
}

} // namespace fathom
