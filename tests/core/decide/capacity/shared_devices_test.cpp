#include "core/decide/capacity/shared_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SharedDevices, AJobThatSharesNoneTakesAllPartsOfEnoughOfThem)
{
    EXPECT_EQ(units_of_whole_devices(1, 4), 4);
    EXPECT_EQ(units_of_whole_devices(4, 4), 4);
    EXPECT_EQ(units_of_whole_devices(5, 4), 8);
    EXPECT_EQ(units_of_whole_devices(3, 1), 3);
}

TEST(SharedDevices, ADeviceIsNotWholeUntilTheLastOfItsTenantsEnds)
{
    // Units 0 to 3 are device 0, 4 to 7 device 1; 8 and 9 are all that is offered of a third one.
    const std::vector<DeviceTenant> tenants{
        {{0}, 1, false, 100}, {{1, 4}, 2, false, 300}, {{5}, 1, false, 200}, {{8}, 1, false, 900}};

    EXPECT_THAT(whole_device_takes(tenants, 10, 4), ElementsAre(0, 8, 0, 0));
    EXPECT_THAT(whole_device_takes({}, 10, 4), IsEmpty());
}

TEST(SharedDevices, WhoHasNotToldYetMayBeOnAsManyDevicesAsItHasUnits)
{
    const std::vector<DeviceTenant> tenants{{{}, 2, false, 100}, {{}, 4, true, 100}};

    EXPECT_THAT(whole_device_takes(tenants, 16, 4), ElementsAre(8, 4));
}

TEST(SharedDevices, DevicesThatSomebodyHasAPartOfAreFilledFirst)
{
    Availability free(8);
    Availability whole(8);
    free.take(0, 100, 1); // of one of two devices
    whole.take(0, 100, 4);

    EXPECT_EQ(newly_shared_units(free, whole, 0, 50, 3, 4), 0) << "beside the one that runs";
    EXPECT_EQ(newly_shared_units(free, whole, 0, 50, 4, 4), 4);
    EXPECT_EQ(newly_shared_units(free, whole, 0, 200, 1, 4), 4) << "alone on a device once the other has ended";
}

} // namespace
} // namespace fathom
