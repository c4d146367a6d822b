#pragma once

#include "agent/catalog/nvml.hpp"
#include "core/base/result.hpp"

#include <memory>
#include <string>

namespace fathom::agent {

/// NVIDIA's management library, as far as balancing uses it, with one GPU of it. Loaded for as long as this lives.
class GpuDriver {
  public:
    /// @param library  a file or a name that the system finds.
    /// @error kUnavailable  there is no driver (the detail begins with "absent"), it does not start, or has no such
    /// GPU.
    static Result<std::shared_ptr<GpuDriver>> open(const std::string& library, const std::string& uuid);
    ~GpuDriver();
    GpuDriver(const GpuDriver&) = delete;
    GpuDriver& operator=(const GpuDriver&) = delete;

    /// The larger of both directions, bytes a second over the last 20 ms. Blocks for as long.
    /// @error kUnavailable
    Result<double> transfer_bytes_per_s() const;
    /// Part of the driver's last sampling period in which a kernel ran.
    /// @error kUnavailable
    Result<double> busy_part() const;
    /// Of its bus in one direction, as generation and width have it at most.
    /// @error kUnavailable
    Result<double> bus_bytes_per_s() const;

    struct ClockRange {
        unsigned least_mhz{};
        unsigned most_mhz{};
    };
    /// @error kUnavailable
    Result<ClockRange> clock_range() const;
    /// @error kForbidden    the driver lets only root do that.
    /// @error kUnavailable
    Result<void> lock_clock(unsigned least_mhz, unsigned most_mhz) const;
    Result<void> unlock_clock() const;

  private:
    GpuDriver() = default;
    Result<void> load(const std::string& library);
    Result<void> answer(nvml::Return status, const char* question) const;
    template <class Function>
    bool find(Function*& function, const char* symbol);

    void* handle_{};
    bool is_started_ = false;
    nvml::Device gpu_{};
    std::string missing_;
    nvml::Shutdown* shutdown_{};
    nvml::ErrorText* text_{};
    nvml::GetByUuid* by_uuid_{};
    nvml::GetUtilization* utilization_{};
    nvml::GetThroughput* throughput_{};
    nvml::GetNumber* bus_generation_{};
    nvml::GetNumber* bus_width_{};
    nvml::GetClockRange* clock_range_{};
    nvml::SetLockedClocks* lock_clocks_{};
    nvml::ResetLockedClocks* reset_clocks_{};
};

} // namespace fathom::agent
