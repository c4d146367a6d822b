#include "probes/operators/onednn_name.hpp"

#include <oneapi/dnnl/dnnl.hpp>

namespace fathom::probes {
namespace {

std::string isa_name(dnnl_cpu_isa_t isa)
{
    switch (isa) {
    case dnnl_cpu_isa_sse41:
        return "SSE4.1";
    case dnnl_cpu_isa_avx:
        return "AVX";
    case dnnl_cpu_isa_avx2:
        return "AVX2";
    case dnnl_cpu_isa_avx2_vnni:
        return "AVX2-VNNI";
    case dnnl_cpu_isa_avx512_core:
        return "AVX512";
    case dnnl_cpu_isa_avx512_core_vnni:
        return "AVX512-VNNI";
    case dnnl_cpu_isa_avx512_core_bf16:
        return "AVX512-BF16";
    case dnnl_cpu_isa_avx512_core_amx:
        return "AMX";
    default:
        return "ISA " + std::to_string(static_cast<int>(isa)); // a C enum that grows
    }
}

} // namespace

std::string onednn_name()
{
    const dnnl_version_t* const version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch) + " " + isa_name(dnnl_get_effective_cpu_isa());
}

} // namespace fathom::probes
