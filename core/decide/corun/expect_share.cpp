#include "core/decide/corun/expect_share.hpp"

#include "core/decide/corun/choose_device.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// Beside all of a GPU's tenants of which something was measured.
std::optional<ExpectedGpuShare> share_beside(const PairMember& newcomer, const std::vector<GpuTenant>& tenants,
                                             const PairModel& pairs)
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

} // namespace

std::optional<ExpectedGpuShare> expect_gpu_share(const std::string& kind, std::span<const TenantedGpu> gpus,
                                                 const PairModel& pairs)
{
    if (!pairs.knows(kind)) return std::nullopt;
    std::vector<DeviceOption> options;
    std::vector<const TenantedGpu*> open;
    std::optional<std::size_t> empty_parts;
    for (const TenantedGpu& gpu : gpus) {
        if (gpu.free_parts == 0) continue;
        if (gpu.tenants.empty()) { // all of these are alike but for their parts, and there may be thousands
            if (empty_parts && *empty_parts <= gpu.free_parts) continue;
            empty_parts = gpu.free_parts;
        }
        DeviceOption& option = options.emplace_back();
        option.free_parts = gpu.free_parts;
        for (const GpuTenant& tenant : gpu.tenants)
            option.tenants.push_back({tenant.kind, KernelClass::kUnknown});
        open.push_back(&gpu);
    }
    if (options.empty()) return std::nullopt;
    const PairMember newcomer{kind, KernelClass::kUnknown};
    const std::size_t first = order_devices(newcomer, options, pairs).front();
    return share_beside(newcomer, open[first]->tenants, pairs);
}

} // namespace fathom
