#include "probes/operators/cuda_device.hpp"

#include "probes/operators/cuda_architecture.hpp"
#include "probes/operators/cuda_operator.hpp"

#include <cstdlib>
#include <cuda_runtime_api.h>

namespace fathom::probes {
namespace {

Error unavailable(const std::string& cause, const std::string& way_out)
{
    return {Errc::kUnavailable, cause + "; " + way_out};
}

/// Why there is no device, and what would change that.
Error why_no_device(cudaError_t status, int driver_version)
{
    int runtime_version = 0;
    cudaRuntimeGetVersion(&runtime_version);
    const std::string runtime = cuda_version_text(runtime_version);
    if (driver_version == 0)
        return unavailable("no NVIDIA driver is loaded on this machine (libcuda.so.1)",
                           "install one for CUDA " + runtime + " or newer, or use the resource type cpu");
    if (status == cudaErrorInsufficientDriver)
        return unavailable("the NVIDIA driver is for CUDA " + cuda_version_text(driver_version) +
                               ", and the operators were built with CUDA " + runtime,
                           "install a newer driver, or build Fathom with an older CUDA toolkit");
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible != nullptr)
        return unavailable(std::string("CUDA finds no usable device: ") + cudaGetErrorString(status),
                           std::string("CUDA_VISIBLE_DEVICES is \"") + visible + "\"");
    return unavailable(std::string("CUDA finds no usable device: ") + cudaGetErrorString(status),
                       "nvidia-smi tells what the driver sees");
}

/// In units of 1000, as the runtime tells clocks; 0 when it does not.
double attribute_in_thousands(cudaDeviceAttr attribute, int device)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, attribute, device) != cudaSuccess) return 0;
    return 1000.0 * value;
}

/// Bytes of a copy: long enough that its start counts for nothing.
constexpr std::size_t kBusBytes = 128UL << 20U;
constexpr int kBusCopies = 5;

/// What one copy takes, with both memories and the events made for it.
class BusCopy {
  public:
    BusCopy()
    {
        note(cudaMallocHost(&host_, kBusBytes));
        note(cudaMalloc(&device_, kBusBytes));
        note(cudaEventCreate(&begin_));
        note(cudaEventCreate(&end_));
    }
    ~BusCopy()
    {
        cudaFreeHost(host_);
        cudaFree(device_);
        if (begin_ != nullptr) cudaEventDestroy(begin_);
        if (end_ != nullptr) cudaEventDestroy(end_);
    }
    BusCopy(const BusCopy&) = delete;
    BusCopy& operator=(const BusCopy&) = delete;

    cudaError_t status() const { return status_; }

    /// Seconds, by the device's clock.
    double copy()
    {
        float milliseconds = 0;
        if (status_ != cudaSuccess) return 0;
        note(cudaEventRecord(begin_));
        note(cudaMemcpyAsync(device_, host_, kBusBytes, cudaMemcpyHostToDevice));
        note(cudaEventRecord(end_));
        note(cudaEventSynchronize(end_));
        note(cudaEventElapsedTime(&milliseconds, begin_, end_));
        return 1e-3 * milliseconds;
    }

  private:
    void note(cudaError_t status)
    {
        if (status_ == cudaSuccess) status_ = status;
    }

    void* host_ = nullptr;
    void* device_ = nullptr;
    cudaEvent_t begin_{};
    cudaEvent_t end_{};
    cudaError_t status_ = cudaSuccess;
};

} // namespace

Result<double> measure_cuda_bus()
{
    BusCopy bus;
    double least_s = 0;
    for (int i = 0; i < kBusCopies; ++i) {
        const double taken_s = bus.copy();
        if (taken_s > 0 && (least_s == 0 || taken_s < least_s)) least_s = taken_s;
    }
    if (bus.status() != cudaSuccess || least_s == 0)
        return Error{Errc::kUnavailable,
                     std::string("the bus cannot be measured: ") + cudaGetErrorString(bus.status())};
    return static_cast<double>(kBusBytes) / least_s;
}

Result<CudaDevice> find_cuda_device()
{
    constexpr int kDevice = 0;
    int driver_version = 0;
    if (cudaDriverGetVersion(&driver_version) != cudaSuccess) driver_version = 0;
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count == 0) status = cudaErrorNoDevice;
    if (status == cudaSuccess) status = cudaSetDevice(kDevice);
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    if (status == cudaSuccess) status = cudaMemGetInfo(&free_bytes, &all_bytes);
    cudaDeviceProp properties{};
    if (status == cudaSuccess) status = cudaGetDeviceProperties(&properties, kDevice);
    if (status != cudaSuccess) return why_no_device(status, driver_version);
    const std::string capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    if (find_kernels_for_device() != cudaSuccess)
        return unavailable(
            std::string("the operators were built for the CUDA architectures " FATHOM_CUDA_ARCHITECTURES ", and ") +
                properties.name + " has compute capability " + capability,
            "build Fathom with -DCMAKE_CUDA_ARCHITECTURES=" + std::to_string(properties.major) +
                std::to_string(properties.minor));

    int runtime_version = 0;
    cudaRuntimeGetVersion(&runtime_version);
    return CudaDevice{.name = properties.name,
                      .compute_capability = capability,
                      .runtime_version = cuda_version_text(runtime_version),
                      .driver_version = cuda_version_text(driver_version),
                      .multiprocessors = properties.multiProcessorCount,
                      .memory_bytes = static_cast<double>(all_bytes),
                      .free_memory_bytes = static_cast<double>(free_bytes),
                      .clock_hz = attribute_in_thousands(cudaDevAttrClockRate, kDevice),
                      .memory_clock_hz = attribute_in_thousands(cudaDevAttrMemoryClockRate, kDevice),
                      .has_ecc = properties.ECCEnabled != 0};
}

} // namespace fathom::probes
