#include "core/decide/corun/choose_device.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace fathom {
namespace {

/// Products of the same numbers differ by less than this.
constexpr double kShareStep = 1e-9;

/// Whether more is known than that the classes of both are not.
bool is_known(const PairMember& a, const PairMember& b, const PairKnowledge& pairs)
{
    if (a.kernel_class != KernelClass::kUnknown && b.kernel_class != KernelClass::kUnknown) return true;
    if (pairs.is_excluded(a, b)) return true;
    const PairSource source = pairs.expect(a, b).source;
    return source == PairSource::kMeasured || source == PairSource::kCompleted;
}

/// The lowest first.
using DeviceRank = std::tuple<bool, int, std::int64_t, std::size_t>;

DeviceRank rank_of(const DeviceOption& device, const DeviceExpectation& expected)
{
    const int harm = expected.is_excluded ? 2 : expected.keeps_equal_parts() ? 0 : 1;
    return {device.lacks_memory, harm, -std::llround(expected.combined / kShareStep), device.free_parts};
}

} // namespace

bool DeviceExpectation::keeps_equal_parts() const
{
    const double part = 1.0 / static_cast<double>(known_count + 1);
    return std::min(newcomer_share, least_tenant_share) >= part - kShareStep;
}

DeviceExpectation expect_beside(const PairMember& newcomer, std::span<const PairMember> tenants,
                                const PairKnowledge& pairs)
{
    std::vector<PairMember> members;
    for (const PairMember& tenant : tenants) {
        if (is_known(newcomer, tenant, pairs)) members.push_back(tenant);
    }
    std::sort(members.begin(), members.end(), [](const PairMember& a, const PairMember& b) {
        return std::tie(a.kind, a.kernel_class) < std::tie(b.kind, b.kernel_class);
    });
    DeviceExpectation expected;
    expected.known_count = members.size();
    expected.basis = members.empty() ? PairSource::kDefault : PairSource::kMeasured;
    expected.combined = 0;
    members.push_back(newcomer);
    for (std::size_t i = 0; i < members.size(); ++i) {
        ShareBesideSeveral beside;
        for (std::size_t j = 0; j < members.size(); ++j) {
            if (i == j) continue;
            const PairShare kept = pairs.expect(members[i], members[j]);
            expected.basis = std::min(expected.basis, kept.source);
            beside.add(kept);
        }
        const double share = beside.share;
        expected.combined += share;
        const bool is_newcomer = i + 1 == members.size();
        if (is_newcomer) {
            expected.newcomer_share = share;
            expected.newcomer_spread = share * std::sqrt(beside.relative_squares);
        }
        if (!is_newcomer) expected.least_tenant_share = i == 0 ? share : std::min(expected.least_tenant_share, share);
        expected.is_excluded = expected.is_excluded || (!is_newcomer && pairs.is_excluded(newcomer, members[i]));
    }
    return expected;
}

std::vector<std::size_t> order_devices(const PairMember& newcomer, std::span<const DeviceOption> devices,
                                       const PairKnowledge& pairs)
{
    std::vector<DeviceRank> ranks;
    ranks.reserve(devices.size());
    for (const DeviceOption& device : devices)
        ranks.push_back(rank_of(device, expect_beside(newcomer, device.tenants, pairs)));
    std::vector<std::size_t> order(devices.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return std::tie(ranks[a], a) < std::tie(ranks[b], b); });
    return order;
}

} // namespace fathom
