#pragma once

#include "agent/catalog/catalog.hpp"
#include "agent/catalog/unit_plan.hpp"
#include "tests/agent/support/builders.hpp"

#include <gtest/gtest.h>

/// Machines whose configuration describes devices.
namespace fathom::agent::test {

inline bool is_there(const std::string& /*path*/)
{
    return true;
}

inline AgentTables tables(const std::string& toml)
{
    const Result<AgentTables> tables = parse_agent_tables(toml);
    EXPECT_TRUE(tables) << describe(tables.error());
    return tables.value();
}

/// A machine with the devices that its configuration describes, and GPUs.
inline Host machine(std::int64_t cores, const AgentTables& tables, std::int64_t gpus = 0)
{
    Host machine = host(cores);
    std::vector<std::string> missing;
    machine.devices = described_devices(tables.devices, is_there, missing);
    EXPECT_TRUE(missing.empty());
    for (std::int64_t number = 0; number < gpus; ++number) {
        const std::string id = "GPU-" + std::to_string(number);
        machine.devices.push_back({.kind = "cuda",
                                   .id = id,
                                   .model = "NVIDIA H100",
                                   .memory_bytes = 80LL << 30U,
                                   .variable = "CUDA_VISIBLE_DEVICES",
                                   .value = id});
    }
    return machine;
}

inline constexpr const char* kGolden = R"(
    [[device]]
    kind = "npu"
    count = 100
    memory_bytes = 34359738368
    variable = "ASCEND_RT_VISIBLE_DEVICES"
    file = "/dev/davinci{}"
    shared_files = ["/dev/davinci_manager"]
    [[unit_type]]
    name = "cpu5"
    cores_per_unit = 5
    [[unit_type]]
    name = "gpu5"
    resource_type = "cuda"
    devices_per_unit = 5
    cores_per_unit = 0
    memory_bytes_per_unit = 1000
    [[unit_type]]
    name = "npu5"
    resource_type = "npu"
    devices_per_unit = 5
    cores_per_unit = 0
    memory_bytes_per_unit = 1000
)";

/// Two GPUs of four parts.
inline UnitPlan parts_of_two()
{
    const AgentTables config = tables("[[unit_type]]\nname = \"part\"\nresource_type = \"cuda\"\n"
                                      "sharing = \"time-slice\"\nparts_per_device = 4\n");
    return cut_units(machine(8, config, 2), config, {}).value();
}

} // namespace fathom::agent::test
