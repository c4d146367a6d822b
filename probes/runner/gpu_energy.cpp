#include "probes/runner/gpu_energy.hpp"

#include <dlfcn.h>
#include <optional>

namespace fathom::probes {
namespace {

// What is used of the library's binary interface, by NVIDIA's "NVML API Reference".
using Return = int;
using Device = void*;
constexpr Return kSuccess = 0;
constexpr Return kNotSupported = 3;
using Call = Return();
using GetByUuid = Return(const char* uuid, Device* device);
using GetEnergy = Return(Device device, unsigned long long* millijoules);

} // namespace

/// From the loading of the library to the reading of a counter; `why_absent` says which step failed.
struct GpuEnergyMeter::Counter {
    void* library = nullptr;
    Call* shutdown = nullptr;
    GetEnergy* get_energy = nullptr;
    Device device = nullptr;
    unsigned long long before_mj{};
    std::string why_absent;

    template <class Function>
    Function* find(const char* symbol)
    {
        return library == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library, symbol));
    }

    void open(const std::string& name, const char* path)
    {
        why_absent = "NVIDIA's management library does not answer";
        library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
        auto* const init = find<Call>("nvmlInit_v2");
        auto* const by_uuid = find<GetByUuid>("nvmlDeviceGetHandleByUUID");
        get_energy = find<GetEnergy>("nvmlDeviceGetTotalEnergyConsumption");
        auto* const ending = find<Call>("nvmlShutdown");
        if (init == nullptr || by_uuid == nullptr || get_energy == nullptr || ending == nullptr) return;
        if (init() != kSuccess) return;
        shutdown = ending;
        if (!name.starts_with("GPU-")) {
            why_absent = "the counter is of whole GPUs, named by their UUID";
            return;
        }
        if (by_uuid(name.c_str(), &device) != kSuccess) return;
        const Return status = get_energy(device, &before_mj);
        if (status == kSuccess) why_absent.clear();
        if (status == kNotSupported) why_absent = "this GPU has no energy counter";
    }

    std::optional<double> joules() const
    {
        unsigned long long now_mj = 0;
        if (!why_absent.empty() || get_energy(device, &now_mj) != kSuccess || now_mj < before_mj) return std::nullopt;
        return static_cast<double>(now_mj - before_mj) * 1e-3;
    }
};

GpuEnergyMeter::GpuEnergyMeter(const std::string& device, const char* library) : counter_(std::make_unique<Counter>())
{
    counter_->open(device.substr(0, device.find(',')), library);
}

GpuEnergyMeter::~GpuEnergyMeter()
{
    if (counter_->shutdown != nullptr) counter_->shutdown();
    if (counter_->library != nullptr) ::dlclose(counter_->library);
}

Json GpuEnergyMeter::read() const
{
    if (!counter_->why_absent.empty()) return {{"absent", counter_->why_absent}};
    const std::optional<double> joules = counter_->joules();
    if (!joules) return {{"absent", "the GPU's energy counter began anew, or is gone"}}; // the driver was loaded again
    return {{"joules", *joules}};
}

} // namespace fathom::probes
