#include "probes/operators/cuda_operators.hpp"

#include "probes/operators/manifests.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <string_view>

namespace fathom::probes {
namespace {

Result<const CudaLibrary*> open_library(const std::filesystem::path& path)
{
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return Error{Errc::kUnavailable, "this build has no operators for CUDA devices (" + path.string() +
                                             " is missing); build Fathom where the CUDA toolkit's nvcc is"};
    // Never closed: the CUDA runtime has threads and handlers of its own.
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr)
        return Error{Errc::kUnavailable, std::string("cannot load the operators for CUDA devices: ") + dlerror() +
                                             "; install the CUDA toolkit's libraries, or name their folder in "
                                             "LD_LIBRARY_PATH"};
    using Entry = const CudaLibrary* (*)();
    const auto entry = reinterpret_cast<Entry>(dlsym(handle, kCudaLibraryEntry));
    const CudaLibrary* const library = entry != nullptr ? entry() : nullptr;
    if (library == nullptr || std::string_view(library->version) != FATHOM_VERSION)
        return Error{Errc::kUnavailable, path.string() + " is not of this build (" + FATHOM_VERSION +
                                             "): install both "
                                             "together"};
    return library;
}

std::vector<RegisteredOperator> register_operators(const CudaLibrary& library)
{
    std::vector<RegisteredOperator> operators;
    for (OperatorManifest& manifest : operator_manifests()) { // sorted
        const auto found =
            std::find_if(library.operators.begin(), library.operators.end(),
                         [&](const CudaImplementation& implementation) { return implementation.id == manifest.id; });
        if (found == library.operators.end() || !manifest.runs_on("cuda")) continue;
        operators.push_back({.manifest = std::move(manifest),
                             .make = found->make,
                             .memory = found->host_memory,
                             .available = found->available,
                             .device_memory = found->device_memory});
    }
    return operators;
}

} // namespace

Result<CudaOperators> load_cuda_operators(const std::filesystem::path& folder)
{
    const Result<const CudaLibrary*> library = open_library(folder / kCudaLibraryFile);
    if (!library) return library.error();
    Result<CudaDevice> device = (*library)->device();
    if (!device) return device.error();
    return CudaOperators{std::move(*device), register_operators(**library), (*library)->bus_bytes_per_s};
}

} // namespace fathom::probes
