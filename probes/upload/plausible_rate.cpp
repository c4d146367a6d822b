#include "probes/upload/plausible_rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace fathom::probes {
namespace {

constexpr double kClockHz = 6e9;
constexpr double kMultiplyAddUnits = 2;
constexpr double kOperationsOfMultiplyAdd = 2;
constexpr double kTileVectors = 16;
constexpr double kSocketBytesPerS = 2e12;
constexpr double kCacheBytesPerClock = 128;

double bits_of(const std::string& precision)
{
    if (precision == "fp64") return 64;
    if (precision == "fp32") return 32;
    if (precision == "fp16" || precision == "bf16") return 16;
    return 8;
}

struct VectorUnit {
    double bits{512};
    bool has_tiles{};
};

VectorUnit vector_unit()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return {512, true};
    return {__builtin_cpu_supports("avx2") ? 256.0 : 128.0, false};
#else
    return {};
#endif
}

double socket_count()
{
    std::ifstream file("/proc/cpuinfo");
    std::set<std::string> sockets;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("physical id")) sockets.insert(line);
    }
    return std::max<double>(1, static_cast<double>(sockets.size()));
}

} // namespace

RateBounds rate_bounds(const std::string& precision, int cores)
{
    const VectorUnit unit = vector_unit();
    const double bits = bits_of(precision);
    double lanes = unit.bits / bits;
    if (unit.has_tiles && bits <= 16) lanes *= kTileVectors;
    return {.flops = cores * kMultiplyAddUnits * lanes * kOperationsOfMultiplyAdd * kClockHz,
            .bytes_per_s = std::max(socket_count() * kSocketBytesPerS, cores * kCacheBytesPerClock * kClockHz)};
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
