// A stand-in for fathom-operators-cuda.so, where there is no GPU: one operator, which the processors compute. It is
// strict as a driver is: it works only for a process that was handed exactly one GPU of the stand-in driver, by its
// UUID. FATHOM_STANDIN_BUS_GB_S is how fast its bus is, in GB/s; 25 where it is not set.
#include "probes/operators/cuda_library.hpp"

#include "probes/operators/blas_gemm.hpp"

#include <array>
#include <cstdlib>
#include <fstream>

namespace fathom::probes {
namespace {

Result<CudaDevice> find_device()
{
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    const char* const path = std::getenv("FATHOM_STANDIN_GPUS");
    const std::string id = visible == nullptr ? "" : visible;
    if (id.find(',') != std::string::npos)
        return Error{Errc::kUnavailable, "the stand-in takes one GPU, and CUDA_VISIBLE_DEVICES is \"" + id + "\""};
    std::ifstream file(path == nullptr ? "" : path);
    for (std::string line; std::getline(file, line);) {
        if (!id.empty() && line.find("\t" + id + "\t") != std::string::npos)
            return CudaDevice{.name = "Stand-in",
                              .compute_capability = "9.0",
                              .runtime_version = "13.0",
                              .driver_version = "13.0",
                              .multiprocessors = 132,
                              .memory_bytes = 8e9,
                              .free_memory_bytes = 8e9};
    }
    return Error{Errc::kUnavailable,
                 "no GPU of the stand-in driver is visible: CUDA_VISIBLE_DEVICES is \"" + id + "\""};
}

std::unique_ptr<ProbeOperator> make_dgemm(const Parameters& parameters, int /*threads*/)
{
    return std::make_unique<BlasGemm<double>>(parameters);
}

double dgemm_memory(const Parameters& parameters)
{
    return blas_gemm_memory<double>(parameters);
}

Result<double> bus()
{
    const char* const gb_s = std::getenv("FATHOM_STANDIN_BUS_GB_S");
    return gb_s == nullptr ? 25e9 : 1e9 * std::strtod(gb_s, nullptr);
}

} // namespace
} // namespace fathom::probes

extern "C" [[gnu::visibility("default")]] const fathom::probes::CudaLibrary* fathom_cuda_library();

const fathom::probes::CudaLibrary* fathom_cuda_library()
{
    using namespace fathom::probes;
    static const std::array operators{CudaImplementation{
        .id = "dgemm", .make = make_dgemm, .host_memory = dgemm_memory, .device_memory = dgemm_memory}};
    static const CudaLibrary library{FATHOM_VERSION, operators, find_device, bus};
    return &library;
}
