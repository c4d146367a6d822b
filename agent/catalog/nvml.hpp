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

struct PciInfo {
    std::array<char, 16> bus_id_legacy;
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned pci_device_id;
    unsigned pci_subsystem_id;
    std::array<char, 32> bus_id; ///< "00000000:3B:00.0"
};

using Init = Return();
using Shutdown = Return();
using ErrorText = const char*(Return status);
using GetCount = Return(unsigned* count);
using GetByIndex = Return(unsigned index, Device* device);
using GetText = Return(Device device, char* text, unsigned length);
using GetMemory = Return(Device device, Memory* memory);
using GetNumber = Return(Device device, unsigned* number);
using GetPci = Return(Device device, PciInfo* pci);
using GetMigMode = Return(Device device, unsigned* now, unsigned* after_restart);
using GetMigByIndex = Return(Device device, unsigned index, Device* part);

} // namespace fathom::agent::nvml
