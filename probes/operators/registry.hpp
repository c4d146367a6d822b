#pragma once

#include "core/model/operator_manifest.hpp"
#include "probes/operators/operator.hpp"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace fathom::probes {

struct CudaDevice; // cuda_library.hpp

/// An operator that a task may use: its manifest and how to make it.
struct RegisteredOperator {
    OperatorManifest manifest;
    std::function<std::unique_ptr<ProbeOperator>(const Parameters& parameters, int threads)> make;
    std::function<double(const Parameters& parameters)> memory; ///< bytes
    /// Whether it can run on this machine and in this environment. It may also depend on the size: then its
    /// preparation says so.
    /// @error kUnavailable  why not, and what would change that.
    Result<void> (*available)(){};
    /// Bytes in the memory of the device; empty for operators that use none.
    std::function<double(const Parameters& parameters)> device_memory{};
    bool has_program_threads{}; ///< CpuImplementation::has_program_threads
};

/// What a process can measure.
enum class ResourceType {
    kCpu,  ///< its processors
    kCuda, ///< the first CUDA device that it may see
};

/// @error kInvalid  neither "cpu" nor "cuda".
Result<ResourceType> parse_resource_type(std::string_view text);
std::string_view to_string(ResourceType type);

/// Makes the operators below those of a resource type; they are those of kCpu before. Call it before anything else
/// of this file, at most once; not thread-safe.
/// @error kUnavailable  its code or its device is missing: there are no operators then.
Result<void> use_resource_type(ResourceType type);
ResourceType used_resource_type();

/// The device in use; nullptr on processors.
const CudaDevice* used_cuda_device();
/// Measures its bus: bytes per second from the host's memory to the device's. Takes a fraction of a second.
/// @error kUnavailable  no device is in use, or it could not be measured.
Result<double> measure_used_bus();

/// All operators of this program for the resource type in use, sorted by id. Made at first use; thread-safe.
const std::vector<RegisteredOperator>& registered_operators();

/// nullptr when this program does not have it.
const RegisteredOperator* find_operator(std::string_view id);

/// How many threads numerical libraries compute in, as they say themselves.
struct LibraryThreads {
    int openblas{};
    int openmp{}; ///< oneDNN's; 0: there is no OpenMP in this process
};

/// Tells every numerical library how many threads to use, at most. Never more than what
/// OPENBLAS_NUM_THREADS and OMP_NUM_THREADS ask for, each for its library: whoever set them meant it.
/// @return what the libraries made of that: OpenBLAS has no more threads than it was built for, and does not say so.
LibraryThreads limit_library_threads(int threads);

/// What OpenBLAS took this processor for ("SkylakeX"), and the core type that fits the instruction
/// set better, if there is one.
struct BlasCore {
    std::string used;
    std::string better; ///< empty when the choice fits
};
BlasCore blas_core();

} // namespace fathom::probes
