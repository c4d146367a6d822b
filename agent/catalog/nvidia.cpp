#include "agent/catalog/nvidia.hpp"

#include "agent/catalog/nvml.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <dlfcn.h>
#include <fstream>

namespace fathom::agent {
namespace {

constexpr unsigned kMaxGpus = 1024;

/// The functions of the library that are used here.
class Nvml {
  public:
    explicit Nvml(const char* library) : handle_(::dlopen(library, RTLD_NOW | RTLD_LOCAL)) {}
    ~Nvml()
    {
        if (started_ && shutdown_ != nullptr) shutdown_();
        if (handle_ != nullptr) ::dlclose(handle_);
    }
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    bool is_there() const { return handle_ != nullptr; }

    Result<void> start()
    {
        nvml::Init* init = nullptr;
        const bool has_all = load(init, "nvmlInit_v2") && load(shutdown_, "nvmlShutdown") &&
                             load(text_, "nvmlErrorString") && load(count, "nvmlDeviceGetCount_v2") &&
                             load(by_index, "nvmlDeviceGetHandleByIndex_v2") && load(uuid, "nvmlDeviceGetUUID") &&
                             load(name, "nvmlDeviceGetName") && load(memory, "nvmlDeviceGetMemoryInfo") &&
                             load(minor_number, "nvmlDeviceGetMinorNumber") && load(pci, "nvmlDeviceGetPciInfo_v3") &&
                             load(mig_mode, "nvmlDeviceGetMigMode") &&
                             load(mig_count, "nvmlDeviceGetMaxMigDeviceCount") &&
                             load(mig_by_index, "nvmlDeviceGetMigDeviceHandleByIndex");
        if (!has_all) return Error{Errc::kUnavailable, "NVIDIA's management library is too old: it has no " + missing_};
        const nvml::Return status = init();
        started_ = status == nvml::kSuccess;
        if (started_) return {};
        return Error{Errc::kUnavailable, "NVIDIA's driver does not start: " + why(status)};
    }

    std::string why(nvml::Return status) const
    {
        const char* const text = text_(status);
        return (text != nullptr ? std::string(text) : std::string("an error without a text")) + " (NVML " +
               std::to_string(status) + ")";
    }

    nvml::GetCount* count{};
    nvml::GetByIndex* by_index{};
    nvml::GetText* uuid{};
    nvml::GetText* name{};
    nvml::GetMemory* memory{};
    nvml::GetNumber* minor_number{};
    nvml::GetPci* pci{};
    nvml::GetMigMode* mig_mode{};
    nvml::GetNumber* mig_count{};
    nvml::GetMigByIndex* mig_by_index{};

  private:
    template <class Function>
    bool load(Function*& function, const char* symbol)
    {
        function = reinterpret_cast<Function*>(::dlsym(handle_, symbol));
        if (function == nullptr) missing_ = symbol;
        return function != nullptr;
    }

    void* handle_;
    bool started_ = false;
    nvml::Shutdown* shutdown_{};
    nvml::ErrorText* text_{};
    std::string missing_;
};

/// The first failure of several questions on one device.
class Questions {
  public:
    bool good(nvml::Return status)
    {
        if (status != nvml::kSuccess && status_ == nvml::kSuccess) status_ = status;
        return status == nvml::kSuccess;
    }
    nvml::Return status() const { return status_; }

  private:
    nvml::Return status_ = nvml::kSuccess;
};

/// Of the PCI device, as the kernel tells it; -1 when it does not.
std::int64_t numa_node_of(const nvml::PciInfo& pci)
{
    // NVML writes "00000000:3B:00.0", the kernel 0000:3b:00.0.
    std::string address(pci.bus_id.data(), ::strnlen(pci.bus_id.data(), pci.bus_id.size()));
    if (address.size() > 12) address.erase(0, address.size() - 12);
    for (char& c : address)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::ifstream file("/sys/bus/pci/devices/" + address + "/numa_node");
    std::int64_t node = -1;
    return file >> node ? node : -1;
}

/// What whole devices and parts have in common.
HostDevice describe_device(const Nvml& library, nvml::Device handle, Questions& questions)
{
    std::array<char, 96> id{};
    std::array<char, 96> name{};
    nvml::Memory memory{};
    questions.good(library.uuid(handle, id.data(), id.size()));
    questions.good(library.name(handle, name.data(), name.size()));
    questions.good(library.memory(handle, &memory));
    return HostDevice{.kind = "cuda",
                      .id = id.data(),
                      .model = name.data(),
                      .memory_bytes = static_cast<std::int64_t>(memory.total),
                      .variable = "CUDA_VISIBLE_DEVICES",
                      .value = id.data()};
}

bool is_cut_by_mig(const Nvml& library, nvml::Device handle)
{
    unsigned now = 0;
    unsigned after_restart = 0;
    return library.mig_mode(handle, &now, &after_restart) == nvml::kSuccess && now == 1;
}

/// A GPU, or its parts.
nvml::Return add_gpu(const Nvml& library, unsigned index, std::vector<HostDevice>& devices)
{
    Questions questions;
    nvml::Device handle = nullptr;
    if (!questions.good(library.by_index(index, &handle))) return questions.status();
    HostDevice gpu = describe_device(library, handle, questions);
    nvml::PciInfo pci{};
    unsigned number = 0;
    if (questions.good(library.pci(handle, &pci))) gpu.numa_node = numa_node_of(pci);
    if (questions.good(library.minor_number(handle, &number)))
        gpu.files = {"/dev/nvidia" + std::to_string(number), "/dev/nvidiactl", "/dev/nvidia-uvm"};
    if (questions.status() != nvml::kSuccess) return questions.status();
    if (!is_cut_by_mig(library, handle)) {
        devices.push_back(std::move(gpu));
        return nvml::kSuccess;
    }
    unsigned parts = 0;
    questions.good(library.mig_count(handle, &parts));
    for (unsigned part = 0; part < parts; ++part) {
        nvml::Device part_handle = nullptr;
        if (library.mig_by_index(handle, part, &part_handle) != nvml::kSuccess) continue; // a place with no part
        HostDevice device = describe_device(library, part_handle, questions);
        if (questions.status() != nvml::kSuccess) return questions.status();
        device.is_mig_part = true;
        device.numa_node = gpu.numa_node;
        device.files = gpu.files;
        devices.push_back(std::move(device));
    }
    return questions.status();
}

} // namespace

Result<std::vector<HostDevice>> find_nvidia_gpus(const char* library, std::vector<std::string>& missing)
{
    Nvml nvml(library);
    std::vector<HostDevice> devices;
    if (!nvml.is_there()) return devices;
    if (const Result<void> started = nvml.start(); !started) return started.error();
    unsigned count = 0;
    if (const nvml::Return status = nvml.count(&count); status != nvml::kSuccess)
        return Error{Errc::kUnavailable, "NVIDIA's driver does not tell its GPUs: " + nvml.why(status)};
    for (unsigned index = 0; index < std::min(count, kMaxGpus); ++index) {
        if (const nvml::Return status = add_gpu(nvml, index, devices); status != nvml::kSuccess)
            missing.push_back("GPU " + std::to_string(index) + " does not answer: " + nvml.why(status));
    }
    return devices;
}

} // namespace fathom::agent
