#include "probes/operators/registry.hpp"

#include "probes/operators/cpu_implementation.hpp"
#include "probes/operators/cuda_operators.hpp"
#include "probes/operators/manifests.hpp"

#include <algorithm>
#include <cblas.h>
#include <cstdlib>
#include <dlfcn.h>

namespace fathom::probes {
namespace {

std::vector<RegisteredOperator> register_operators()
{
    const std::span<const CpuImplementation> implementations = cpu_implementations();
    std::vector<RegisteredOperator> operators;
    for (OperatorManifest& manifest : operator_manifests()) {
        const auto found =
            std::find_if(implementations.begin(), implementations.end(),
                         [&](const CpuImplementation& implementation) { return implementation.id == manifest.id; });
        FATHOM_ASSERT(found != implementations.end());
        operators.push_back({.manifest = std::move(manifest),
                             .make = found->make,
                             .memory = found->memory,
                             .available = found->available,
                             .device_memory = {},
                             .has_program_threads = found->has_program_threads});
    }
    return operators;
}

/// What use_resource_type has chosen.
struct Used {
    ResourceType type = ResourceType::kCpu;
    CudaOperators cuda;
};

Used& used()
{
    static Used used;
    return used;
}

/// The smaller of `threads` and what the environment asks for, if it asks for a number.
int limited_by(const char* variable, int threads)
{
    const char* const text = std::getenv(variable);
    if (text == nullptr) return threads;
    const long asked = std::strtol(text, nullptr, 10);
    return asked >= 1 && asked < threads ? static_cast<int>(asked) : threads;
}

} // namespace

Result<ResourceType> parse_resource_type(std::string_view text)
{
    for (const ResourceType type : {ResourceType::kCpu, ResourceType::kCuda}) {
        if (text == to_string(type)) return type;
    }
    return Error{Errc::kInvalid, "there is no resource type \"" + std::string(text) + "\": it is cpu or cuda"};
}

std::string_view to_string(ResourceType type)
{
    return type == ResourceType::kCpu ? "cpu" : "cuda";
}

Result<void> use_resource_type(ResourceType type)
{
    used().type = type;
    if (type == ResourceType::kCpu) return {};
    std::error_code ignored;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    Result<CudaOperators> loaded = load_cuda_operators(program.parent_path());
    if (!loaded) return loaded.error();
    used().cuda = std::move(*loaded);
    return {};
}

ResourceType used_resource_type()
{
    return used().type;
}

const CudaDevice* used_cuda_device()
{
    return used().type == ResourceType::kCuda ? &used().cuda.device : nullptr;
}

Result<double> measure_used_bus()
{
    if (used_cuda_device() == nullptr) return Error{Errc::kUnavailable, "processors have no bus to their memory"};
    // Without a driver or a device nothing was loaded.
    if (used().cuda.bus_bytes_per_s == nullptr) return Error{Errc::kUnavailable, "there is no device to measure"};
    return used().cuda.bus_bytes_per_s();
}

const std::vector<RegisteredOperator>& registered_operators()
{
    if (used().type == ResourceType::kCuda) return used().cuda.operators;
    static const std::vector<RegisteredOperator> operators = register_operators();
    return operators;
}

const RegisteredOperator* find_operator(std::string_view id)
{
    for (const RegisteredOperator& item : registered_operators()) {
        if (item.manifest.id == id) return &item;
    }
    return nullptr;
}

LibraryThreads limit_library_threads(int threads)
{
    openblas_set_num_threads(limited_by("OPENBLAS_NUM_THREADS", limited_by("OMP_NUM_THREADS", threads)));
    // oneDNN computes in the threads of the OpenMP runtime that it was built with. That library is
    // already in this process, but not one that we link ourselves.
    using SetThreads = void (*)(int);
    if (void* const found = dlsym(RTLD_DEFAULT, "omp_set_num_threads"))
        reinterpret_cast<SetThreads>(found)(limited_by("OMP_NUM_THREADS", threads));
    LibraryThreads used{.openblas = openblas_get_num_threads()};
    using GetThreads = int (*)();
    if (void* const found = dlsym(RTLD_DEFAULT, "omp_get_max_threads"))
        used.openmp = reinterpret_cast<GetThreads>(found)();
    return used;
}

BlasCore blas_core()
{
    BlasCore core{.used = openblas_get_corename(), .better = ""};
#if defined(__x86_64__)
    const auto is_one_of = [&](auto... names) { return ((core.used == names) || ...); };
    // Processors of others execute 512 bits in two halves, and the kernels for Haswell are as fast there.
    const bool has_wide_units = __builtin_cpu_is("intel") && __builtin_cpu_supports("avx512f") &&
                                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (has_wide_units) {
        if (!is_one_of("SkylakeX", "Cooperlake", "SapphireRapids", "Zen")) core.better = "SkylakeX";
    } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        if (!is_one_of("Haswell", "Zen", "Excavator", "SkylakeX", "Cooperlake")) core.better = "Haswell";
    }
#endif
    return core;
}

} // namespace fathom::probes
