#include "core/decide/corun/choose_device.hpp"
#include "core/decide/corun/pair_model.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace fathom {
namespace {

using testing::ElementsAre;

constexpr PairMember kComputeJob{"", KernelClass::kCompute};
constexpr PairMember kMemoryJob{"", KernelClass::kMemory};
constexpr PairMember kUnknownJob{"", KernelClass::kUnknown};

DeviceOption with(std::vector<PairMember> tenants, std::size_t free_parts = 2)
{
    return {.tenants = std::move(tenants), .free_parts = free_parts, .lacks_memory = false};
}

std::vector<std::size_t> order_of(const PairMember& newcomer, const std::vector<DeviceOption>& devices,
                                  const PairModel& pairs = {})
{
    return order_devices(newcomer, devices, pairs);
}

TEST(ChooseDevice, ByDefaultComputeGoesBesideMemoryThenBesideComputeAndMemoryBesideMemoryLast)
{
    const std::vector<DeviceOption> devices{with({kComputeJob}), with({kMemoryJob})};

    EXPECT_THAT(order_of(kComputeJob, devices), ElementsAre(1, 0));
    EXPECT_THAT(order_of(kMemoryJob, devices), ElementsAre(0, 1));
    EXPECT_NEAR(expect_beside(kComputeJob, devices[1].tenants, PairModel()).combined, 0.70 + 0.60, 1e-12);
    EXPECT_NEAR(expect_beside(kComputeJob, devices[0].tenants, PairModel()).combined, 0.55 + 0.55, 1e-12);
    EXPECT_NEAR(expect_beside(kMemoryJob, devices[1].tenants, PairModel()).combined, 0.50 + 0.50, 1e-12);
}

TEST(ChooseDevice, SaysWhatTheJobAndItsTenantsAreExpectedToKeep)
{
    const std::vector<PairMember> tenants{kMemoryJob};

    const DeviceExpectation expected = expect_beside(kComputeJob, tenants, PairModel());

    EXPECT_NEAR(expected.newcomer_share, 0.70, 1e-12);
    EXPECT_NEAR(expected.least_tenant_share, 0.60, 1e-12);
    EXPECT_EQ(expected.known_count, 1U);
    EXPECT_EQ(expected.basis, PairSource::kDefault);
    EXPECT_TRUE(expected.keeps_equal_parts());
}

TEST(ChooseDevice, WhatWasMeasuredCountsForMoreThanClasses)
{
    PairModel pairs;
    const PairMember conv{"conv", KernelClass::kCompute};
    const PairMember norm{"norm", KernelClass::kMemory};
    const PairMember gemm{"gemm", KernelClass::kCompute};
    pairs.add({.a = conv, .b = norm, .a_share = 0.55, .b_share = 0.5}).value();
    pairs.add({.a = conv, .b = gemm, .a_share = 0.9, .b_share = 0.8}).value();
    pairs.refit();
    const std::vector<DeviceOption> devices{with({norm}), with({gemm})};

    EXPECT_THAT(order_of(conv, devices, pairs), ElementsAre(1, 0));
    const DeviceExpectation expected = expect_beside(conv, devices[1].tenants, pairs);
    EXPECT_NEAR(expected.newcomer_share, 0.9, 1e-12);
    EXPECT_NEAR(expected.least_tenant_share, 0.8, 1e-12);
    EXPECT_EQ(expected.basis, PairSource::kMeasured);
}

TEST(ChooseDevice, AWholeDeviceIsTakenWhereSharingGainsNothing)
{
    PairModel pairs;
    const PairMember copy{"copy", KernelClass::kMemory};
    const PairMember sort{"sort", KernelClass::kMemory};
    pairs.add({.a = copy, .b = sort, .a_share = 0.45, .b_share = 0.5}).value();
    pairs.refit();

    EXPECT_THAT(order_of(copy, {with({sort}), with({}, 4)}, pairs), ElementsAre(1, 0));
    EXPECT_THAT(order_of(kMemoryJob, {with({}, 4), with({kMemoryJob}, 3)}), ElementsAre(1, 0))
        << "as much is done as alone: the whole device stays free";
}

TEST(ChooseDevice, NobodyIsPutBelowAnEqualPartWhileThereIsAnotherDevice)
{
    PairModel pairs;
    const PairMember train{"train", KernelClass::kCompute};
    const PairMember serve{"serve", KernelClass::kMemory};
    pairs.add({.a = train, .b = serve, .a_share = 0.98, .b_share = 0.3}).value();
    pairs.refit();
    const std::vector<DeviceOption> devices{with({serve}), with({}, 4)};

    EXPECT_GT(expect_beside(train, devices[0].tenants, pairs).combined, 1.2);
    EXPECT_FALSE(expect_beside(train, devices[0].tenants, pairs).keeps_equal_parts());
    EXPECT_THAT(order_of(train, devices, pairs), ElementsAre(1, 0)) << "although both together would do more";
    EXPECT_THAT(order_of(serve, {with({train}), with({}, 4)}, pairs), ElementsAre(1, 0)) << "nor is the newcomer";
}

TEST(ChooseDevice, ThoseThatCannotRunTogetherComeLast)
{
    PairModel pairs;
    const PairMember big{"big", KernelClass::kCompute};
    const PairMember large{"large", KernelClass::kMemory};
    pairs.exclude(big, large);

    EXPECT_THAT(order_of(big, {with({large}), with({kComputeJob, kComputeJob, kComputeJob}), with({}, 4)}, pairs),
                ElementsAre(2, 1, 0));
}

TEST(ChooseDevice, OfJobsOfWhichNothingIsKnownDevicesWithATenantAreFilled)
{
    const std::vector<DeviceOption> devices{with({}, 4), with({kMemoryJob, kMemoryJob}, 2), with({kComputeJob}, 3)};

    EXPECT_THAT(order_of(kUnknownJob, devices), ElementsAre(1, 2, 0));
    EXPECT_THAT(order_of(kComputeJob, {with({}, 4), with({kUnknownJob, kUnknownJob, kUnknownJob}, 1)}),
                ElementsAre(1, 0));
    EXPECT_EQ(expect_beside(kComputeJob, std::vector{kUnknownJob}, PairModel()).known_count, 0U);
    EXPECT_THAT(order_of(kComputeJob, {with({kUnknownJob}), with({kMemoryJob})}), ElementsAre(1, 0));
}

TEST(ChooseDevice, ADeviceWithTheMemoryComesBeforeABetterNeighbour)
{
    std::vector<DeviceOption> devices{with({kMemoryJob}), with({kComputeJob})};
    devices[0].lacks_memory = true;

    EXPECT_THAT(order_of(kComputeJob, devices), ElementsAre(1, 0));
}

/// Any devices with any tenants.
std::vector<DeviceOption> any_devices()
{
    static constexpr std::array<std::string_view, 4> kKinds{"", "conv", "norm", "gemm"};
    const auto any_member = [] {
        return PairMember{kKinds.at(*rc::gen::inRange<std::size_t>(0, kKinds.size())),
                          *rc::gen::element(KernelClass::kUnknown, KernelClass::kCompute, KernelClass::kMemory)};
    };
    std::vector<DeviceOption> devices(*rc::gen::inRange<std::size_t>(1, 6));
    for (DeviceOption& device : devices) {
        const std::size_t count = *rc::gen::inRange<std::size_t>(0, 4);
        for (std::size_t i = 0; i < count; ++i)
            device.tenants.push_back(any_member());
        device.free_parts = 4 - count;
        device.lacks_memory = *rc::gen::arbitrary<bool>();
    }
    return devices;
}

PairModel some_pairs()
{
    PairModel pairs;
    pairs
        .add(
            {.a = {"conv", KernelClass::kCompute}, .b = {"norm", KernelClass::kMemory}, .a_share = 0.8, .b_share = 0.7})
        .value();
    pairs
        .add(
            {.a = {"gemm", KernelClass::kCompute}, .b = {"norm", KernelClass::kMemory}, .a_share = 0.9, .b_share = 0.2})
        .value();
    pairs.refit();
    return pairs;
}

RC_GTEST_PROP(ChooseDeviceProperty, EachDeviceComesOnceAndNoneBeforeABetterOne, ())
{
    const std::vector<DeviceOption> devices = any_devices();
    const PairModel pairs = some_pairs();

    const std::vector<std::size_t> order = order_devices(kMemoryJob, devices, pairs);

    std::vector<std::size_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
        RC_ASSERT(sorted[i] == i);
    const DeviceOption& best = devices[order.front()];
    const DeviceExpectation chosen = expect_beside(kMemoryJob, best.tenants, pairs);
    for (const DeviceOption& device : devices) {
        const DeviceExpectation other = expect_beside(kMemoryJob, device.tenants, pairs);
        if (device.lacks_memory != best.lacks_memory) continue;
        RC_ASSERT(chosen.keeps_equal_parts() || !other.keeps_equal_parts());
        if (chosen.keeps_equal_parts() != other.keeps_equal_parts()) continue;
        RC_ASSERT(chosen.combined >= other.combined - 1e-9);
    }
}

RC_GTEST_PROP(ChooseDeviceProperty, TheOrderOfTenantsDoesNotMatter, ())
{
    std::vector<DeviceOption> devices = any_devices();
    const PairModel pairs = some_pairs();
    const std::vector<std::size_t> order = order_devices(kComputeJob, devices, pairs);

    for (DeviceOption& device : devices)
        std::reverse(device.tenants.begin(), device.tenants.end());

    RC_ASSERT(order_devices(kComputeJob, devices, pairs) == order);
}

RC_GTEST_PROP(ChooseDeviceProperty, OfAnUnknownJobOnlyMemoryAndFreePartsCount, ())
{
    const std::vector<DeviceOption> devices = any_devices();

    const std::vector<std::size_t> order = order_devices(kUnknownJob, devices, PairModel());

    for (std::size_t i = 1; i < order.size(); ++i) {
        const DeviceOption& before = devices[order[i - 1]];
        const DeviceOption& after = devices[order[i]];
        RC_ASSERT(std::tie(before.lacks_memory, before.free_parts) <= std::tie(after.lacks_memory, after.free_parts));
    }
}

} // namespace
} // namespace fathom
