#include "agent/catalog/nvml.hpp"
#include "agent/gpu/interposer/driver.hpp"
#include "agent/gpu/interposer/entry_points.hpp"
#include "agent/gpu/interposer/share.hpp"

#include <array>
#include <cstring>
#include <dlfcn.h>

/// What NVIDIA's management library says of a GPU's memory: the same as the driver's functions say.
namespace fathom::gpu {
namespace {

constexpr agent::nvml::Return kFunctionNotFound = 13;

template <class Signature>
Signature* of_library(const char* name)
{
    // The program has loaded it, or this is not called.
    static void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<Signature*>(real_dlsym(library, name));
}

std::optional<MemoryView> view_of(agent::nvml::Device device)
{
    static auto* const get_uuid = of_library<agent::nvml::GetText>("nvmlDeviceGetUUID");
    std::array<char, 96> id{};
    if (get_uuid == nullptr || get_uuid(device, id.data(), id.size()) != agent::nvml::kSuccess) return std::nullopt;
    return Share::instance().view_of(std::string(id.data()));
}

} // namespace
} // namespace fathom::gpu

using namespace fathom::gpu;
namespace nvml = fathom::agent::nvml;

#pragma GCC visibility push(default)
extern "C" {

nvml::Return nvmlDeviceGetMemoryInfo(nvml::Device device, nvml::Memory* memory);
nvml::Return nvmlDeviceGetMemoryInfo_v2(nvml::Device device, nvml::MemoryV2* memory);

nvml::Return nvmlDeviceGetMemoryInfo(nvml::Device device, nvml::Memory* memory)
{
    static auto* const of_nvidia = of_library<nvml::GetMemory>("nvmlDeviceGetMemoryInfo");
    const nvml::Return status = of_nvidia == nullptr ? kFunctionNotFound : of_nvidia(device, memory);
    if (status != nvml::kSuccess) return status;
    if (const auto own = view_of(device))
        *memory = {own->total_bytes, own->free_bytes, own->total_bytes - own->free_bytes};
    return status;
}

nvml::Return nvmlDeviceGetMemoryInfo_v2(nvml::Device device, nvml::MemoryV2* memory)
{
    static auto* const of_nvidia = of_library<nvml::GetMemoryV2>("nvmlDeviceGetMemoryInfo_v2");
    const nvml::Return status = of_nvidia == nullptr ? kFunctionNotFound : of_nvidia(device, memory);
    if (status != nvml::kSuccess) return status;
    if (const auto own = view_of(device))
        *memory = {memory->version, own->total_bytes, 0, own->free_bytes, own->total_bytes - own->free_bytes};
    return status;
}

} // extern "C"
#pragma GCC visibility pop

void* fathom::gpu::own_management_function(const char* name)
{
    if (std::strcmp(name, "nvmlDeviceGetMemoryInfo") == 0) return reinterpret_cast<void*>(&nvmlDeviceGetMemoryInfo);
    if (std::strcmp(name, "nvmlDeviceGetMemoryInfo_v2") == 0)
        return reinterpret_cast<void*>(&nvmlDeviceGetMemoryInfo_v2);
    return nullptr;
}
