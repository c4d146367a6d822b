#pragma once

#include <array>

/// What is used of the binary interface of NVIDIA's management library, which is loaded where it is there: neither its
/// header nor the library is needed to build. By NVIDIA's "NVML API Reference"; names with a version, as `_v2`, never
/// change what they mean.
namespace fathom::agent::nvml {

using Return = int;
inline constexpr Return kSuccess = 0;

using Device = void*;

struct Memory {
    unsigned long long total; ///< bytes
    unsigned long long free;
    unsigned long long used;
};

/// Its version is the structure's size and, from bit 24 on, 2.
struct MemoryV2 {
    unsigned version;
    unsigned long long total; ///< bytes
    unsigned long long reserved;
    unsigned long long free;
    unsigned long long used; ///< without what is reserved
};
inline constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2U << 24U;

struct PciInfo {
    std::array<char, 16> bus_id_legacy;
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned pci_device_id;
    unsigned pci_subsystem_id;
    std::array<char, 32> bus_id; ///< "00000000:3B:00.0"
};

struct Utilization {
    unsigned gpu;    ///< percent of the last sampling period in which a kernel ran
    unsigned memory; ///< the same of reading or writing device memory
};

/// Counters of nvmlDeviceGetPcieThroughput: KB/s over the last 20 ms.
inline constexpr unsigned kSentToHost = 0;
inline constexpr unsigned kReceivedFromHost = 1;
/// The clock of the multiprocessors, and the state of full power.
inline constexpr unsigned kMultiprocessorClock = 1;
inline constexpr unsigned kFullPower = 0;
inline constexpr Return kNoPermission = 4;

using Init = Return();
using Shutdown = Return();
using ErrorText = const char*(Return status);
using GetCount = Return(unsigned* count);
using GetByIndex = Return(unsigned index, Device* device);
using GetText = Return(Device device, char* text, unsigned length);
using GetMemory = Return(Device device, Memory* memory);
using GetMemoryV2 = Return(Device device, MemoryV2* memory);
using GetNumber = Return(Device device, unsigned* number);
using GetPci = Return(Device device, PciInfo* pci);
using GetMigMode = Return(Device device, unsigned* now, unsigned* after_restart);
using GetByUuid = Return(const char* uuid, Device* device);
using GetUtilization = Return(Device device, Utilization* utilization);
using GetThroughput = Return(Device device, unsigned counter, unsigned* kilobytes_per_s);
using GetClockRange = Return(Device device, unsigned clock, unsigned state, unsigned* least_mhz, unsigned* most_mhz);
using SetLockedClocks = Return(Device device, unsigned least_mhz, unsigned most_mhz);
using ResetLockedClocks = Return(Device device);
using GetMigByIndex = Return(Device device, unsigned index, Device* part);

} // namespace fathom::agent::nvml
