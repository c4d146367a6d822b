#include "probes/upload/plausible_rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <vector>

namespace fathom::probes {
namespace {

/// Of the instruction sets, those that bound a rate.
std::vector<std::string> instruction_sets()
{
    std::vector<std::string> sets;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) sets.emplace_back("avx2");
    if (__builtin_cpu_supports("avx512f")) {
        // Tiles whether this processor has them or not: older compilers' tests do not know them.
        for (const char* const name : {"avx512f", "avx512_bf16", "avx512_fp16", "amx_tile"})
            sets.emplace_back(name);
    }
#else
    sets = {"asimd", "sve", "bf16"};
#endif
    return sets;
}

std::int64_t socket_count()
{
    std::ifstream file("/proc/cpuinfo");
    std::set<std::string> sockets;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("physical id")) sockets.insert(line);
    }
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(sockets.size()));
}

} // namespace

RateBounds rate_bounds(const std::string& precision, int cores)
{
    return processor_bounds(instruction_sets(), precision, cores, socket_count());
}

Result<void> check_rate(const OperatorManifest& manifest, double operations, double bytes, double seconds, int cores)
{
    const RateBounds bounds = rate_bounds(manifest.precision, cores);
    const auto implausible = [&](double rate, double bound, const char* unit, const char* formula) {
        return Error{
            Errc::kForbidden,
            fmt::format("the uploaded code claims {:.4g} {}, more than the {:.4g} {} that {} {} can do at all: "
                        "it does not compute, or the manifest's {} is wrong ({:.6g} s an execution)",
                        rate / 1e9, unit, bound / 1e9, unit, cores, cores == 1 ? "core" : "cores", formula, seconds)};
    };
    if (operations / seconds > bounds.flops)
        return implausible(operations / seconds, bounds.flops, "GFLOP/s", "operation_count");
    if (bytes / seconds > bounds.bytes_per_s)
        return implausible(bytes / seconds, bounds.bytes_per_s, "GB/s", "byte_count");
    return {};
}

} // namespace fathom::probes
