#include "probes/runner/energy.hpp"
#include "probes/runner/gpu_energy.hpp"
#include "probes/runner/machine_facts.hpp"
#include "probes/runner/resources.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fathom::probes {
namespace {

/// A folder that looks like /sys; gone with the test.
class System {
  public:
    System()
    {
        static int made = 0;
        root_ = std::filesystem::temp_directory_path() /
                ("fathom-system-" + std::to_string(getpid()) + "-" + std::to_string(++made));
        std::filesystem::create_directories(root_);
    }
    ~System() { std::filesystem::remove_all(root_); }
    System(const System&) = delete;
    System& operator=(const System&) = delete;

    void write(const std::string& path, const std::string& text) const
    {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text << "\n";
    }

    void add_cpu(int cpu, const std::string& core, int node) const
    {
        const std::string folder = "devices/system/cpu/cpu" + std::to_string(cpu);
        write(folder + "/topology/core_cpus_list", core);
        std::filesystem::create_directories(root_ / (folder + "/node" + std::to_string(node)));
    }

    std::string path() const { return root_.string(); }
    Json facts(const std::vector<int>& cpus) const { return machine_facts(root_.string(), cpus); }

  private:
    std::filesystem::path root_;
};

TEST(MachineFacts, CountCoresSiblingsAndNodes)
{
    const System system; // two nodes of two cores with two hardware threads each
    for (const int cpu : {0, 4})
        system.add_cpu(cpu, "0,4", 0);
    for (const int cpu : {1, 5})
        system.add_cpu(cpu, "1,5", 0);
    for (const int cpu : {2, 6})
        system.add_cpu(cpu, "2,6", 1);

    const Json pair = system.facts({0, 4});
    EXPECT_EQ(pair.at("cpus_allowed_count"), 2);
    EXPECT_EQ(pair.at("cores_allowed"), 1);
    EXPECT_EQ(pair.at("siblings_outside"), 0);
    EXPECT_EQ(pair.at("numa_nodes_used"), 1);

    const Json spread = system.facts({0, 1, 2});
    EXPECT_EQ(spread.at("cores_allowed"), 3);
    EXPECT_EQ(spread.at("siblings_outside"), 3);
    EXPECT_EQ(spread.at("numa_nodes_used"), 2);
}

TEST(MachineFacts, AddUpTheLastLevelCachesOfTheProcessors)
{
    const System system; // four processors, two of which share a cache each
    for (const int cpu : {0, 1, 2, 3}) {
        const std::string folder = "devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index3";
        system.write(folder + "/level", "3");
        system.write(folder + "/type", "Unified");
        system.write(folder + "/size", "32768K");
        system.write(folder + "/shared_cpu_list", cpu < 2 ? "0-1" : "2-3");
    }

    EXPECT_EQ(system.facts({0, 1}).at("last_level_cache_bytes"), 32LL << 20U);
    EXPECT_EQ(system.facts({1, 2}).at("last_level_cache_bytes"), 64LL << 20U);
    EXPECT_EQ(system.facts({1, 2}).at("caches").at("L3"),
              (Json{{"one_bytes", 32LL << 20U}, {"all_bytes", 64LL << 20U}}));
}

TEST(MachineFacts, ReadFrequencyPagesAndChannels)
{
    const System system;
    system.write("devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave");
    system.write("devices/system/cpu/cpu3/cpufreq/scaling_driver", "acpi-cpufreq");
    system.write("devices/system/cpu/cpu3/cpufreq/cpuinfo_max_freq", "3600000");
    system.write("kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
    for (const int controller : {0, 1}) {
        const std::string folder = "devices/system/edac/mc/mc" + std::to_string(controller);
        system.write(folder + "/max_location", "channel 3 slot 1 ");
        system.write(folder + "/dimm0/dimm_location", "channel 0 slot 0 ");
        system.write(folder + "/dimm1/dimm_location", "channel 0 slot 1 ");
        system.write(folder + "/dimm2/dimm_location", "channel 2 slot 0 ");
    }

    const Json facts = system.facts({3});

    EXPECT_EQ(facts.at("cpu_governor"), "powersave");
    EXPECT_EQ(facts.at("cpu_frequency_driver"), "acpi-cpufreq");
    EXPECT_EQ(facts.at("cpu_max_hz"), 3.6e9);
    EXPECT_EQ(facts.at("transparent_hugepages"), "never");
    EXPECT_EQ(facts.at("memory_channels"), 8);
    EXPECT_EQ(facts.at("memory_channels_used"), 4);
}

TEST(MachineFacts, LeaveOutWhatIsNotKnown)
{
    const System system;

    const Json facts = system.facts({0});

    EXPECT_EQ(facts.size(), 2U) << facts;
    EXPECT_EQ(facts.at("cpus_allowed_count"), 1);
    EXPECT_TRUE(facts.at("last_level_cache_bytes").contains("absent")) << "never zero";
}

TEST(MachineFacts, AreThoseOfThisMachine)
{
    const Json facts = machine_facts("/sys", allowed_cpus());

    EXPECT_EQ(facts.at("cpus_allowed_count"), allowed_cpus().size());
    if (facts.contains("cores_allowed")) {
        EXPECT_LE(facts.at("cores_allowed"), facts.at("cpus_allowed_count"));
    }
}

/// A machine with two packages, one of them with a memory counter, and what is not to be counted.
void add_counters(const System& system)
{
    const auto add = [&](const std::string& zone, const std::string& name, const std::string& microjoules) {
        const std::string folder = "class/powercap/" + zone;
        system.write(folder + "/name", name);
        system.write(folder + "/energy_uj", microjoules);
        system.write(folder + "/max_energy_range_uj", "10000000");
    };
    add("intel-rapl:0", "package-0", "1000000");
    add("intel-rapl:0:0", "core", "900000");
    add("intel-rapl:0:1", "dram", "500000");
    add("intel-rapl:1", "package-1", "9000000");
    add("intel-rapl:2", "psys", "3000000");
    add("intel-rapl-mmio:0", "package-0", "1000000");
}

TEST(EnergyMeter, CountsPackagesAndMemoryOnceAlsoWhenACounterBeginsAnew)
{
    const System system;
    add_counters(system);
    const EnergyMeter meter(system.path());
    system.write("class/powercap/intel-rapl:0/energy_uj", "3000000");   // 2 J
    system.write("class/powercap/intel-rapl:0:1/energy_uj", "1000000"); // 0.5 J
    system.write("class/powercap/intel-rapl:1/energy_uj", "2000000");   // 3 J, over the end
    system.write("class/powercap/intel-rapl:2/energy_uj", "9000000");

    const Json energy = meter.read();

    EXPECT_DOUBLE_EQ(energy.at("joules").get<double>(), 5.5);
    EXPECT_EQ(energy.at("of"), Json::array({"package-0", "dram", "package-1"}));
}

TEST(EnergyMeter, SaysWhyThereIsNoneAndNeverNothing)
{
    const System none;
    EXPECT_EQ(EnergyMeter(none.path()).read(), (Json{{"absent", "this host has no energy counters (powercap)"}}));

    const System closed;
    closed.write("class/powercap/intel-rapl:0/name", "package-0");
    const std::string why = EnergyMeter(closed.path()).read().at("absent");
    EXPECT_NE(why.find("may not be read by this user"), std::string::npos) << why;
}

TEST(GpuEnergyMeter, CountsAWholeGpuAndSaysWhyThereIsNothingToCount)
{
    const System system;
    system.write("gpus", "gpu\tGPU-new\tTesla V100\t16000000000\ngpu\tGPU-old\tTesla K80\t12000000000\n");
    ::setenv("FATHOM_STANDIN_GPUS", (system.path() + "/gpus").c_str(), 1);
    const auto read = [](const std::string& device, const char* library) {
        return GpuEnergyMeter(device, library).read().dump();
    };

    const GpuEnergyMeter meter("GPU-new,GPU-old", FATHOM_STANDIN_NVML);
    EXPECT_DOUBLE_EQ(meter.read().at("joules").get<double>(), 2.5);
    EXPECT_DOUBLE_EQ(meter.read().at("joules").get<double>(), 5);
    EXPECT_EQ(read("GPU-old", FATHOM_STANDIN_NVML), R"({"absent":"this GPU has no energy counter"})");
    EXPECT_EQ(read("MIG-1", FATHOM_STANDIN_NVML), R"({"absent":"the counter is of whole GPUs, named by their UUID"})");
    EXPECT_EQ(read("GPU-none", FATHOM_STANDIN_NVML), R"({"absent":"NVIDIA's management library does not answer"})");
    EXPECT_EQ(read("GPU-new", "libnone-of-these.so"), R"({"absent":"NVIDIA's management library does not answer"})");
}

TEST(Sensors, TellTheMeanClockAndTheHottestProcessorOrThatThereIsNone)
{
    const System system;
    system.write("devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000");
    system.write("devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000");
    system.write("class/hwmon/hwmon0/name", "nvme");
    system.write("class/hwmon/hwmon0/temp1_input", "90000");
    system.write("class/hwmon/hwmon1/name", "coretemp");
    system.write("class/hwmon/hwmon1/temp1_input", "51000");
    system.write("class/hwmon/hwmon1/temp3_input", "63500");
    const Json facts = read_sensors(system.path(), {0, 1});
    const System none;
    const Json missing = read_sensors(none.path(), {0});

    EXPECT_EQ(facts.at("cpu_hz"), 2.5e9);
    EXPECT_EQ(facts.at("cpu_celsius"), 63.5);
    EXPECT_TRUE(missing.at("cpu_hz").contains("absent"));
    EXPECT_TRUE(missing.at("cpu_celsius").contains("absent"));
}

} // namespace
} // namespace fathom::probes
