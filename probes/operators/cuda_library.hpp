#pragma once

#include "core/model/formula.hpp"
#include "probes/operators/operator.hpp"

#include <memory>
#include <span>
#include <string>

/// The border between fathom-probe and fathom-operators-cuda.so. The operators on CUDA devices lie in a library
/// of their own, so that the program needs no CUDA where there is none.
namespace fathom::probes {

/// An operator of the library: the file cuda.cu of a folder probes/operators/<name>, which defines
/// `CudaImplementation <name>_on_cuda()`. Parameters must be complete and within the manifest's ranges.
struct CudaImplementation {
    const char* id{}; ///< the folder's name: set by the build
    std::unique_ptr<ProbeOperator> (*make)(const Parameters& parameters, int threads){};
    double (*host_memory)(const Parameters& parameters){};   ///< bytes, with the check
    double (*device_memory)(const Parameters& parameters){}; ///< bytes
    /// Whether the device can run it.
    /// @error kUnavailable  why not.
    Result<void> (*available)() = available_everywhere;
};

/// Of all folders that have one, sorted by id. Generated.
std::span<const CudaImplementation> cuda_implementations();

/// The device that the operators run on.
struct CudaDevice {
    std::string name;               ///< "NVIDIA H200"
    std::string compute_capability; ///< "9.0"
    std::string runtime_version;    ///< of the CUDA runtime in the library: "13.0"
    std::string driver_version;     ///< the newest CUDA version that the driver supports: "13.0"
    int multiprocessors{};
    double memory_bytes{};
    double free_memory_bytes{};
    double clock_hz{};        ///< the highest; 0 when the device does not tell
    double memory_clock_hz{}; ///< likewise
    bool has_ecc{};           ///< error correction of its memory is on
};

/// What the library exports.
struct CudaLibrary {
    const char* version; ///< FATHOM_VERSION of its build: types of C++ cross the border
    std::span<const CudaImplementation> operators;
    /// The first device that this process may see. Starts the CUDA runtime; call before anything else.
    /// @error kUnavailable  no driver, one too old, or no device; with what would change that.
    Result<CudaDevice> (*device)();
    /// Bytes per second from the host's memory to the device's, from locked pages, the best of several copies. Takes a
    /// fraction of a second, and 128 MiB of both memories. After device().
    /// @error kUnavailable  why it could not be measured.
    Result<double> (*bus_bytes_per_s)();
};

/// The file beside the program, and the only function that it exports: `const CudaLibrary* ()`.
inline constexpr const char* kCudaLibraryFile = "fathom-operators-cuda.so";
inline constexpr const char* kCudaLibraryEntry = "fathom_cuda_library";

} // namespace fathom::probes
