#include "agent/balance/gpu_balance.hpp"
#include "agent/balance/processor_clock.hpp"
#include "agent/balance/processor_sensor.hpp"
#include "agent/balance/put_back.hpp"
#include "tests/agent/balance/balance_fixture.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <thread>

namespace fathom::agent {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::StartsWith;

/// What a sensor says over a real tenth of a second, in which the counters grow as told for a second.
Result<Occupancies> over_a_tenth(ProcessorSensor& sensor, const std::function<void(double seconds)>& count)
{
    EXPECT_EQ(sensor.measure().error().detail, "counting begins");
    const auto begin = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    count(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    return sensor.measure();
}

TEST(ProcessorSensorTest, DividesWhatItsControlGroupCountsByWhatItCanDo)
{
    const BalancedHost host;
    ProcessorSensor sensor(host.unit(), host.files(), 5);
    const Occupancies occupancies =
        over_a_tenth(sensor, [&](double seconds) { host.count(seconds, 0.25e9 * seconds); }).value();

    // The period is what the sensor saw, on a busy machine a little more than here: half and a quarter at most.
    EXPECT_LE(occupancies.load, 0.501) << "one of two processors was busy";
    EXPECT_LE(occupancies.transfer, 0.251);
    EXPECT_NEAR(occupancies.load / occupancies.transfer, 2, 0.01);
}

TEST(ProcessorSensorTest, ReadsProcessorsAndMemoryWhereThereIsNoControlGroup)
{
    const BalancedHost host;
    BalancedUnit unit = host.unit();
    unit.cgroup = "";
    const auto count = [&](double busy_s, double bytes) {
        const std::string ticks = std::to_string(std::llround(busy_s * 100));
        write(host.files().proc / "stat", "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 " + ticks + " 0 0 999 0 0 0 0 0 0\ncpu1 " +
                                              ticks + " 0 0 999 0 0 0 0 0 0\ncpu10 5 5 5 5 5 5 5 5 0 0\nintr 1\n");
        write(host.files().resctrl / "mon_data" / "mon_L3_00" / "mbm_total_bytes",
              std::to_string(std::llround(bytes)) + "\n");
    };
    count(10, 0);
    ProcessorSensor sensor(unit, host.files(), 5);
    const Occupancies occupancies =
        over_a_tenth(sensor, [&](double seconds) { count(10 + 0.5 * seconds, 0.5e9 * seconds); }).value();

    EXPECT_LE(occupancies.transfer, 0.501);
    EXPECT_NEAR(occupancies.load / occupancies.transfer, 1, 0.15) << "ticks are a hundredth of a second";
}

TEST(ProcessorSensorTest, SaysWhatIsAbsentAndNeverZero)
{
    const BalancedHost host;
    BalancedUnit unit = host.unit();
    unit.cgroup = "elsewhere";
    ProcessorSensor no_group(unit, host.files(), 5);
    EXPECT_THAT(no_group.measure().error().detail, StartsWith("absent: "));
    unit.cgroup = "";
    write(host.files().proc / "stat", "cpu0 1 0 0 1 0 0 0 0 0 0\n");
    ProcessorSensor offline(unit, host.files(), 5);
    EXPECT_THAT(offline.measure().error().detail, HasSubstr("a processor of the unit is offline"));
    write(host.files().proc / "stat", "cpu0 1 0 0 1 0 0 0 0 0 0\ncpu1 1 0 0 1 0 0 0 0 0 0\n");
    ProcessorSensor unmoved(unit, host.files(), 5);
    EXPECT_THAT(unmoved.measure().error().detail, HasSubstr("absent: counters of what is moved"));
}

TEST(ProcessorSensorTest, TakesNothingFromCountersThatWentBackwards)
{
    const BalancedHost host;
    host.count(100, 1e9);
    ProcessorSensor sensor(host.unit(), host.files(), 5);
    const Result<Occupancies> occupancies = over_a_tenth(sensor, [&](double) { host.count(0, 0); });
    ASSERT_FALSE(occupancies);
    EXPECT_THAT(occupancies.error().detail, HasSubstr("backwards"));
}

TEST(ProcessorClockTest, MovesTheLimitOfAllItsProcessorsAndCanPutItBack)
{
    const BalancedHost host;
    ProcessorClock clock(host.unit(), host.files());
    UnitPosition position;
    ASSERT_TRUE(clock.look(position));
    EXPECT_EQ(position.clock->mhz, 1500);
    EXPECT_EQ(position.clock->least_mhz, 1000);
    EXPECT_EQ(position.clock->most_mhz, 3000);

    const Json undo = clock.undo();
    ASSERT_TRUE(clock.act({.clock_mhz = 300}, {}));
    EXPECT_EQ(read(host.limit(0)), "1800000");
    EXPECT_EQ(read(host.limit(1)), "1800000");
    NoSubUnits none;
    ASSERT_TRUE(put_back(undo, none));
    EXPECT_EQ(read(host.limit(0)), "1500000");
    EXPECT_EQ(read(host.limit(1)), "1500000");
}

TEST(ProcessorClockTest, IsAbsentWithoutCpufreq)
{
    const BalancedHost host;
    std::filesystem::remove(host.limit(1));
    ProcessorClock clock(host.unit(), host.files());
    UnitPosition position;
    EXPECT_THAT(clock.look(position).error().detail, StartsWith("absent: "));
    EXPECT_FALSE(position.clock);
}

/// The stand-in driver with one GPU: PCI Express 4.0 x16 (31.5 GB/s), 210 to 1980 MHz.
class BalancedGpu : public testing::Test {
  protected:
    void SetUp() override
    {
        set("FATHOM_STANDIN_GPUS", folder_.path() / "gpus");
        set("FATHOM_STANDIN_CLOCKS", folder_.path() / "clocks");
        describe(15'753'600, 1'000'000, 80);
    }
    void TearDown() override
    {
        ::unsetenv("FATHOM_STANDIN_GPUS");   // NOLINT(concurrency-mt-unsafe): no other thread
        ::unsetenv("FATHOM_STANDIN_CLOCKS"); // NOLINT(concurrency-mt-unsafe)
    }
    static void set(const char* name, const std::filesystem::path& value)
    {
        ::setenv(name, value.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
    }
    void describe(int received_kb_s, int sent_kb_s, int busy_percent) const
    {
        write(folder_.path() / "gpus", "gpu\tGPU-aa\tNVIDIA A100\t42949672960\t" + std::to_string(sent_kb_s) + "\t" +
                                           std::to_string(received_kb_s) + "\t" + std::to_string(busy_percent) +
                                           "\t4\t16\t210\t1980\n");
    }
    static std::shared_ptr<GpuDriver> driver() { return GpuDriver::open(FATHOM_STANDIN_NVML, "GPU-aa").value(); }
    std::string clocks() const { return is_there(folder_.path() / "clocks") ? read(folder_.path() / "clocks") : ""; }

    TemporaryFolder folder_;
    BalancedUnit unit_{.name = "gpu0", .device = "GPU-aa", .cpus = {}, .cgroup = "", .link_bytes_per_s = 0};
};

TEST_F(BalancedGpu, IsMeasuredByItsBusAndItsKernels)
{
    GpuSensor sensor(unit_, driver());
    sensor.sample();
    const Occupancies occupancies = sensor.measure().value();
    EXPECT_NEAR(occupancies.transfer, 0.5, 0.001);
    EXPECT_DOUBLE_EQ(occupancies.load, 0.8);
}

TEST_F(BalancedGpu, IsMeasuredByTheMeanOfItsSamples)
{
    GpuSensor sensor(unit_, driver());
    sensor.sample();
    describe(0, 0, 0);
    EXPECT_NEAR(sensor.measure().value().load, 0.4, 1e-9);
    EXPECT_EQ(sensor.measure().value().load, 0) << "earlier samples count in their own period only";
}

TEST_F(BalancedGpu, HasItsClockLockedAndUnlockedAgain)
{
    GpuClock clock(unit_, FATHOM_STANDIN_NVML, driver());
    UnitPosition position;
    ASSERT_TRUE(clock.look(position));
    EXPECT_EQ(position.clock->mhz, 1980);
    ASSERT_TRUE(clock.act({.clock_mhz = -300}, {}));
    EXPECT_EQ(clocks(), "lock GPU-aa 210 1680\n");
    ASSERT_TRUE(clock.look(position));
    EXPECT_EQ(position.clock->mhz, 1680);

    NoSubUnits none;
    ASSERT_TRUE(put_back(clock.undo(), none));
    EXPECT_EQ(clocks(), "lock GPU-aa 210 1680\nreset GPU-aa\n");
    clock.was_put_back();
    ASSERT_TRUE(clock.look(position));
    EXPECT_EQ(position.clock->mhz, 1980) << "the next job begins with an unlocked clock";
}

TEST_F(BalancedGpu, ThatIsLockedWithoutTheLoopBeginsThereAndIsLockedThereAgain)
{
    unit_.clock_mhz = 1000;
    GpuClock clock(unit_, FATHOM_STANDIN_NVML, driver());
    UnitPosition position;
    ASSERT_TRUE(clock.look(position));
    EXPECT_EQ(position.clock->mhz, 1000);
    EXPECT_EQ(position.clock->most_mhz, 1980) << "it may be raised";
    ASSERT_TRUE(clock.act({.clock_mhz = 100}, {}));
    NoSubUnits none;
    ASSERT_TRUE(put_back(clock.undo(), none));
    EXPECT_EQ(clocks(), "lock GPU-aa 210 1100\nlock GPU-aa 210 1000\n");
    clock.was_put_back();
    ASSERT_TRUE(clock.look(position));
    EXPECT_EQ(position.clock->mhz, 1000);
}

TEST_F(BalancedGpu, ThatIsLockedToMoreThanItCanBeginsWithTheMost)
{
    unit_.clock_mhz = 3000;
    GpuClock clock(unit_, FATHOM_STANDIN_NVML, driver());
    UnitPosition position;
    ASSERT_TRUE(clock.look(position));
    EXPECT_EQ(position.clock->mhz, 1980);
    NoSubUnits none;
    ASSERT_TRUE(put_back(clock.undo(), none));
    EXPECT_EQ(clocks(), "lock GPU-aa 210 1980\n");
}

TEST_F(BalancedGpu, RefusesItsClockToWhoIsNotRoot)
{
    ::unsetenv("FATHOM_STANDIN_CLOCKS"); // NOLINT(concurrency-mt-unsafe)
    GpuClock clock(unit_, FATHOM_STANDIN_NVML, driver());
    UnitPosition position;
    ASSERT_TRUE(clock.look(position));
    const Result<void> refused = clock.act({.clock_mhz = -300}, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kForbidden);
    EXPECT_THAT(refused.error().detail, StartsWith("refused: "));
}

TEST_F(BalancedGpu, ThatIsNotThereIsSaidToBe)
{
    EXPECT_FALSE(GpuDriver::open(FATHOM_STANDIN_NVML, "GPU-zz"));
    EXPECT_THAT(GpuDriver::open("/nowhere/libnvidia-ml.so.1", "GPU-aa").error().detail, StartsWith("absent: "));
}

} // namespace
} // namespace fathom::agent
