#include "agent/balance/gpu_driver.hpp"

#include <algorithm>
#include <array>
#include <dlfcn.h>

namespace fathom::agent {
namespace {

/// Bytes a second of a lane in one direction, by generation of PCI Express.
constexpr std::array<double, 6> kLaneBytesPerS{250e6, 500e6, 984.6e6, 1969.2e6, 3938.5e6, 7563e6};

} // namespace

template <class Function>
bool GpuDriver::find(Function*& function, const char* symbol)
{
    function = reinterpret_cast<Function*>(::dlsym(handle_, symbol));
    if (function == nullptr && missing_.empty()) missing_ = symbol;
    return function != nullptr;
}

Result<void> GpuDriver::load(const std::string& library)
{
    handle_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) return Error{Errc::kUnavailable, "absent: NVIDIA's driver"};
    nvml::Init* init = nullptr;
    const bool has_all =
        find(init, "nvmlInit_v2") && find(shutdown_, "nvmlShutdown") && find(text_, "nvmlErrorString") &&
        find(by_uuid_, "nvmlDeviceGetHandleByUUID") && find(utilization_, "nvmlDeviceGetUtilizationRates") &&
        find(throughput_, "nvmlDeviceGetPcieThroughput") &&
        find(bus_generation_, "nvmlDeviceGetMaxPcieLinkGeneration") &&
        find(bus_width_, "nvmlDeviceGetMaxPcieLinkWidth") && find(clock_range_, "nvmlDeviceGetMinMaxClockOfPState") &&
        find(lock_clocks_, "nvmlDeviceSetGpuLockedClocks") && find(reset_clocks_, "nvmlDeviceResetGpuLockedClocks");
    if (!has_all) return Error{Errc::kUnavailable, "NVIDIA's management library is too old: it has no " + missing_};
    const nvml::Return status = init();
    is_started_ = status == nvml::kSuccess;
    return answer(status, "start");
}

Result<std::shared_ptr<GpuDriver>> GpuDriver::open(const std::string& library, const std::string& uuid)
{
    const std::shared_ptr<GpuDriver> driver(new GpuDriver); // the constructor is private
    if (const Result<void> loaded = driver->load(library); !loaded) return loaded.error();
    const Result<void> found = driver->answer(driver->by_uuid_(uuid.c_str(), &driver->gpu_), "find the GPU");
    if (!found) return found.error();
    return driver;
}

GpuDriver::~GpuDriver()
{
    if (is_started_) shutdown_();
    if (handle_ != nullptr) ::dlclose(handle_);
}

Result<void> GpuDriver::answer(nvml::Return status, const char* question) const
{
    if (status == nvml::kSuccess) return {};
    const char* const text = text_ == nullptr ? nullptr : text_(status);
    return Error{status == nvml::kNoPermission ? Errc::kForbidden : Errc::kUnavailable,
                 std::string(status == nvml::kNoPermission ? "refused: " : "failed: ") + question + ": " +
                     (text == nullptr ? "an error without a text" : text) + " (NVML " + std::to_string(status) + ")"};
}

Result<double> GpuDriver::transfer_bytes_per_s() const
{
    unsigned sent = 0;
    unsigned received = 0;
    if (const Result<void> told = answer(throughput_(gpu_, nvml::kSentToHost, &sent), "what it sends"); !told)
        return told.error();
    if (const Result<void> told = answer(throughput_(gpu_, nvml::kReceivedFromHost, &received), "what it receives");
        !told)
        return told.error();
    return 1000.0 * std::max(sent, received);
}

Result<double> GpuDriver::busy_part() const
{
    nvml::Utilization utilization{};
    if (const Result<void> told = answer(utilization_(gpu_, &utilization), "how busy it is"); !told)
        return told.error();
    return utilization.gpu / 100.0;
}

Result<double> GpuDriver::bus_bytes_per_s() const
{
    unsigned generation = 0;
    unsigned width = 0;
    if (const Result<void> told = answer(bus_generation_(gpu_, &generation), "its bus"); !told) return told.error();
    if (const Result<void> told = answer(bus_width_(gpu_, &width), "its bus"); !told) return told.error();
    if (generation < 1 || generation > kLaneBytesPerS.size() || width < 1)
        return Error{Errc::kUnavailable, "the driver says PCI Express generation " + std::to_string(generation) +
                                             ", which is not known here: set link_bytes_per_s"};
    return kLaneBytesPerS.at(generation - 1) * width;
}

Result<GpuDriver::ClockRange> GpuDriver::clock_range() const
{
    ClockRange range;
    const Result<void> told =
        answer(clock_range_(gpu_, nvml::kMultiprocessorClock, nvml::kFullPower, &range.least_mhz, &range.most_mhz),
               "the range of its clock");
    if (!told) return told.error();
    return range;
}

Result<void> GpuDriver::lock_clock(unsigned least_mhz, unsigned most_mhz) const
{
    return answer(lock_clocks_(gpu_, least_mhz, most_mhz), "lock its clock");
}

Result<void> GpuDriver::unlock_clock() const
{
    return answer(reset_clocks_(gpu_), "unlock its clock");
}

} // namespace fathom::agent
