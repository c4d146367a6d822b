// A stand-in for NVIDIA's management library, where there is no driver: what it tells of GPUs stands in the file that
// FATHOM_STANDIN_GPUS names, one line each, tabs between fields:
//   gpu  UUID name bytes    a whole GPU          lost UUID name bytes   one that does not answer
//   cut  UUID name bytes    one that is cut into the parts that follow    part UUID name bytes
// A whole GPU may have more fields, which are read anew with each question: what it sends and receives in KB/s, the
// percent of time in which it computes, generation and width of its bus, least and most clock in MHz. Each change of a
// clock is a line in the file that FATHOM_STANDIN_CLOCKS names, `lock UUID least most` or `reset UUID`; without it
// changes are refused, as NVIDIA refuses them to who is not root. It is strict: a call before nvmlInit_v2, an unknown
// handle, and text that does not fit are errors, as with NVIDIA.
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
constexpr Return kNotSupported = 3;
constexpr Return kNotFound = 6;
constexpr Return kInsufficientSize = 7;
constexpr Return kDriverNotLoaded = 9;
constexpr Return kGpuIsLost = 15;
constexpr Return kVersionMismatch = 25;

struct StandIn {
    std::string kind;
    std::string id;
    std::string name;
    unsigned long long bytes{};
    unsigned number{};
    std::vector<std::unique_ptr<StandIn>> parts;
};

/// What a whole GPU does; absent where its line says nothing of it.
struct Activity {
    bool is_told = false;
    unsigned sent{};
    unsigned received{};
    unsigned busy_percent{};
    unsigned bus_generation{};
    unsigned bus_width{};
    unsigned least_mhz{};
    unsigned most_mhz{};
};

struct Driver {
    int starts = 0; ///< that were not shut down again; the library counts them, too
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
    if (driver().starts == 0) return nullptr;
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

/// As the file says now.
Activity activity_of(const StandIn& gpu)
{
    const char* const path = std::getenv("FATHOM_STANDIN_GPUS");
    std::ifstream file(path == nullptr ? "" : path);
    Activity activity;
    for (std::string line; std::getline(file, line);) {
        std::vector<std::string> words;
        std::istringstream fields(line);
        for (std::string word; std::getline(fields, word, '\t');)
            words.push_back(word);
        if (words.size() != 11 || words[1] != gpu.id) continue;
        std::vector<unsigned> numbers;
        for (std::size_t i = 4; i < words.size(); ++i)
            numbers.push_back(static_cast<unsigned>(std::strtoul(words[i].c_str(), nullptr, 10)));
        activity = {true, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]};
    }
    return activity;
}

/// The activity of a device that was found; an error in `status` otherwise.
Activity ask_activity(Device handle, Return& status)
{
    const StandIn* const found = find(handle, status);
    if (found == nullptr) return {};
    const Activity activity = activity_of(*found);
    if (!activity.is_told) status = kNotSupported;
    return activity;
}

/// A line in the file of changes, where changes are allowed.
Return note_change(const std::string& line)
{
    const char* const path = std::getenv("FATHOM_STANDIN_CLOCKS");
    if (path == nullptr) return kNoPermission;
    std::ofstream(path, std::ios::app) << line << std::endl;
    return kSuccess;
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
Return nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory);
Return nvmlDeviceGetMinorNumber(Device device, unsigned* number);
Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci);
Return nvmlDeviceGetMigMode(Device device, unsigned* now, unsigned* after_restart);
Return nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count);
Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* part);

Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* device);
Return nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoules);
Return nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization);
Return nvmlDeviceGetPcieThroughput(Device device, unsigned counter, unsigned* kilobytes_per_s);
Return nvmlDeviceGetMaxPcieLinkGeneration(Device device, unsigned* generation);
Return nvmlDeviceGetMaxPcieLinkWidth(Device device, unsigned* width);
Return nvmlDeviceGetMinMaxClockOfPState(Device device, unsigned clock, unsigned state, unsigned* least, unsigned* most);
Return nvmlDeviceSetGpuLockedClocks(Device device, unsigned least_mhz, unsigned most_mhz);
Return nvmlDeviceResetGpuLockedClocks(Device device);

Return nvmlInit_v2()
{
    if (driver().starts == 0) {
        driver().gpus.clear();
        if (!read_gpus(driver().gpus)) return kDriverNotLoaded;
    }
    ++driver().starts;
    return kSuccess;
}

Return nvmlShutdown()
{
    if (driver().starts == 0) return kUninitialized;
    if (--driver().starts == 0) driver() = {};
    return kSuccess;
}

const char* nvmlErrorString(Return status)
{
    if (status == kDriverNotLoaded) return "Driver Not Loaded";
    return status == kGpuIsLost ? "GPU is lost" : "Unknown Error";
}

Return nvmlDeviceGetCount_v2(unsigned* count)
{
    if (driver().starts == 0) return kUninitialized;
    *count = static_cast<unsigned>(driver().gpus.size());
    return kSuccess;
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device)
{
    if (driver().starts == 0) return kUninitialized;
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

Return nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* memory)
{
    Return status = kSuccess;
    const StandIn* const found = find(device, status);
    if (found == nullptr) return status;
    if (memory->version != kMemoryV2) return kVersionMismatch;
    *memory = {kMemoryV2, found->bytes, 0, found->bytes, 0};
    return kSuccess;
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

Return nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoules)
{
    Return status = kSuccess;
    const StandIn* const found = find(device, status);
    if (found == nullptr) return status;
    if (found->kind == "part" || found->name.find("K80") != std::string::npos) return kNotSupported;
    static unsigned long long counter = 1'000'000;
    *millijoules = counter += 2500; // with each question
    return kSuccess;
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

Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* device)
{
    if (driver().starts == 0) return kUninitialized;
    for (const auto& gpu : driver().gpus) {
        if (gpu->id != uuid) continue;
        *device = gpu.get();
        return gpu->kind == "lost" ? kGpuIsLost : kSuccess;
    }
    return kNotFound;
}

Return nvmlDeviceGetUtilizationRates(Device device, Utilization* utilization)
{
    Return status = kSuccess;
    const Activity activity = ask_activity(device, status);
    *utilization = {activity.busy_percent, 0};
    return status;
}

Return nvmlDeviceGetPcieThroughput(Device device, unsigned counter, unsigned* kilobytes_per_s)
{
    Return status = kSuccess;
    const Activity activity = ask_activity(device, status);
    if (counter > kReceivedFromHost) return kInvalidArgument;
    *kilobytes_per_s = counter == kSentToHost ? activity.sent : activity.received;
    return status;
}

Return nvmlDeviceGetMaxPcieLinkGeneration(Device device, unsigned* generation)
{
    Return status = kSuccess;
    *generation = ask_activity(device, status).bus_generation;
    return status;
}

Return nvmlDeviceGetMaxPcieLinkWidth(Device device, unsigned* width)
{
    Return status = kSuccess;
    *width = ask_activity(device, status).bus_width;
    return status;
}

Return nvmlDeviceGetMinMaxClockOfPState(Device device, unsigned clock, unsigned state, unsigned* least, unsigned* most)
{
    Return status = kSuccess;
    const Activity activity = ask_activity(device, status);
    if (clock != kMultiprocessorClock || state != kFullPower) return kInvalidArgument;
    *least = activity.least_mhz;
    *most = activity.most_mhz;
    return status;
}

Return nvmlDeviceSetGpuLockedClocks(Device device, unsigned least_mhz, unsigned most_mhz)
{
    Return status = kSuccess;
    const StandIn* const found = find(device, status);
    if (found == nullptr) return status;
    if (least_mhz > most_mhz || most_mhz > activity_of(*found).most_mhz) return kInvalidArgument;
    return note_change("lock " + found->id + " " + std::to_string(least_mhz) + " " + std::to_string(most_mhz));
}

Return nvmlDeviceResetGpuLockedClocks(Device device)
{
    Return status = kSuccess;
    const StandIn* const found = find(device, status);
    return found == nullptr ? status : note_change("reset " + found->id);
}
} // extern "C"
