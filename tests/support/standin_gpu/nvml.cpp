// A stand-in for NVIDIA's management library, where there is no driver: what it tells of GPUs stands in the file that
// FATHOM_STANDIN_GPUS names, one line each, tabs between fields:
//   gpu  UUID name bytes    a whole GPU          lost UUID name bytes   one that does not answer
//   cut  UUID name bytes    one that is cut into the parts that follow    part UUID name bytes
// It is strict: a call before nvmlInit_v2, an unknown handle, and text that does not fit are errors, as with NVIDIA.
#include "agent/catalog/nvml.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace fathom::agent::nvml;

constexpr Return kUninitialized = 1;
constexpr Return kInvalidArgument = 2;
constexpr Return kNotFound = 6;
constexpr Return kInsufficientSize = 7;
constexpr Return kDriverNotLoaded = 9;
constexpr Return kGpuIsLost = 15;

struct StandIn {
    std::string kind;
    std::string id;
    std::string name;
    unsigned long long bytes{};
    unsigned number{};
    std::vector<std::unique_ptr<StandIn>> parts;
};

struct Driver {
    bool is_started = false;
    std::vector<std::unique_ptr<StandIn>> gpus;
};

Driver& driver()
{
    static Driver driver;
    return driver;
}

bool read_gpus(std::vector<std::unique_ptr<StandIn>>& gpus)
{
    const char* const path = std::getenv("FATHOM_STANDIN_GPUS");
    std::ifstream file(path == nullptr ? "" : path);
    if (!file) return false;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        auto one = std::make_unique<StandIn>();
        std::string bytes;
        std::getline(fields, one->kind, '\t');
        std::getline(fields, one->id, '\t');
        std::getline(fields, one->name, '\t');
        std::getline(fields, bytes, '\t');
        one->bytes = std::strtoull(bytes.c_str(), nullptr, 10);
        one->number = static_cast<unsigned>(gpus.size());
        auto& list = one->kind == "part" ? gpus.back()->parts : gpus;
        list.push_back(std::move(one));
    }
    return true;
}

/// The device of a handle that was given out; an error in `status` otherwise.
const StandIn* find(Device handle, Return& status)
{
    status = kUninitialized;
    if (!driver().is_started) return nullptr;
    for (const auto& gpu : driver().gpus) {
        status = gpu->kind == "lost" ? kGpuIsLost : kSuccess;
        if (gpu.get() == handle) return status == kSuccess ? gpu.get() : nullptr;
        status = kSuccess;
        for (const auto& part : gpu->parts) {
            if (part.get() == handle) return part.get();
        }
    }
    status = kInvalidArgument;
    return nullptr;
}

Return give_text(const std::string& text, char* to, unsigned length)
{
    if (text.size() + 1 > length) return kInsufficientSize;
    std::memcpy(to, text.c_str(), text.size() + 1);
    return kSuccess;
}

} // namespace

extern "C" {

Return nvmlInit_v2();
Return nvmlShutdown();
const char* nvmlErrorString(Return status);
Return nvmlDeviceGetCount_v2(unsigned* count);
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device);
Return nvmlDeviceGetUUID(Device device, char* text, unsigned length);
Return nvmlDeviceGetName(Device device, char* text, unsigned length);
Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory);
Return nvmlDeviceGetMinorNumber(Device device, unsigned* number);
Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci);
Return nvmlDeviceGetMigMode(Device device, unsigned* now, unsigned* after_restart);
Return nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count);
Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* part);

Return nvmlInit_v2()
{
    driver().gpus.clear();
    if (!read_gpus(driver().gpus)) return kDriverNotLoaded;
    driver().is_started = true;
    return kSuccess;
}

Return nvmlShutdown()
{
    if (!driver().is_started) return kUninitialized;
    driver() = {};
    return kSuccess;
}

const char* nvmlErrorString(Return status)
{
    if (status == kDriverNotLoaded) return "Driver Not Loaded";
    return status == kGpuIsLost ? "GPU is lost" : "Unknown Error";
}

Return nvmlDeviceGetCount_v2(unsigned* count)
{
    if (!driver().is_started) return kUninitialized;
    *count = static_cast<unsigned>(driver().gpus.size());
    return kSuccess;
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device)
{
    if (!driver().is_started) return kUninitialized;
    if (index >= driver().gpus.size()) return kInvalidArgument;
    *device = driver().gpus[index].get();
    return kSuccess;
}

Return nvmlDeviceGetUUID(Device device, char* text, unsigned length)
{
    Return status = kSuccess;
    const StandIn* const found = find(device, status);
    return found == nullptr ? status : give_text(found->id, text, length);
}

Return nvmlDeviceGetName(Device device, char* text, unsigned length)
{
    Return status = kSuccess;
    const StandIn* const found = find(device, status);
    return found == nullptr ? status : give_text(found->name, text, length);
}

Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory)
{
    Return status = kSuccess;
    const StandIn* const found = find(device, status);
    if (found != nullptr) *memory = {found->bytes, found->bytes, 0};
    return status;
}

Return nvmlDeviceGetMinorNumber(Device device, unsigned* number)
{
    Return status = kSuccess;
    const StandIn* const found = find(device, status);
    if (found != nullptr && found->kind == "part") return kInvalidArgument;
    if (found != nullptr) *number = found->number;
    return status;
}

Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci)
{
    Return status = kSuccess;
    if (find(device, status) != nullptr) *pci = {};
    return status;
}

Return nvmlDeviceGetMigMode(Device device, unsigned* now, unsigned* after_restart)
{
    Return status = kSuccess;
    const StandIn* const found = find(device, status);
    if (found != nullptr) *now = *after_restart = found->kind == "cut" ? 1 : 0;
    return status;
}

Return nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count)
{
    Return status = kSuccess;
    if (find(device, status) != nullptr) *count = 7;
    return status;
}

Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* part)
{
    Return status = kSuccess;
    const StandIn* const found = find(device, status);
    if (found == nullptr) return status;
    if (index >= found->parts.size()) return kNotFound;
    *part = found->parts[index].get();
    return kSuccess;
}

} // extern "C"
