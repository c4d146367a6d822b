#include "core/decide/measurement/processor_peak.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace fathom {
namespace {

constexpr double kClockHz = 6e9;
constexpr double kMultiplyAddUnits = 2;
constexpr double kOperationsOfMultiplyAdd = 2;
constexpr double kSocketBytesPerS = 2e12;
constexpr double kCacheBytesPerCycle = 128;

constexpr double kGpuClockHz = 3e9;
constexpr double kGpuBytesPerS = 20e12;

/// A tile instruction multiplies 16 rows with 16 columns in 16 cycles: as many as 16 vectors of 512 bits, once in the
/// time of two.
constexpr double kTileVectors = 16;

bool has_any(std::span<const std::string> isa, std::initializer_list<std::string_view> wanted)
{
    return std::any_of(isa.begin(), isa.end(), [&](const std::string& name) {
        return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
    });
}

double vector_bits(std::span<const std::string> isa)
{
    if (has_any(isa, {"avx512f", "sve", "sve2"})) return 512;
    return has_any(isa, {"avx", "avx2", "asimd"}) ? 256 : 128;
}

/// Of the numbers that the multiplying instructions take.
double element_bits(std::span<const std::string> isa, std::string_view precision)
{
    if (precision == "fp64") return 64;
    if (precision == "fp32") return 32;
    if (precision == "bf16") return has_any(isa, {"avx512_bf16", "amx_bf16", "bf16"}) ? 16 : 32;
    if (precision == "fp16") return has_any(isa, {"avx512_fp16", "amx_tile", "asimd", "sve"}) ? 16 : 32;
    return 8;
}

} // namespace

double peak_flops_per_cycle(std::span<const std::string> isa, std::string_view precision)
{
    const double bits = element_bits(isa, precision);
    double lanes = vector_bits(isa) / bits;
    if (bits <= 16 && has_any(isa, {"amx_tile", "amx_bf16", "amx_int8"})) lanes *= kTileVectors;
    return kMultiplyAddUnits * lanes * kOperationsOfMultiplyAdd;
}

RateBounds processor_bounds(std::span<const std::string> isa, std::string_view precision, std::int64_t cores,
                            std::int64_t sockets)
{
    const auto core_count = static_cast<double>(cores);
    return {.flops = core_count * peak_flops_per_cycle(isa, precision) * kClockHz,
            .bytes_per_s =
                std::max(static_cast<double>(sockets) * kSocketBytesPerS, core_count * kCacheBytesPerCycle * kClockHz)};
}

RateBounds gpu_bounds(std::string_view precision, std::int64_t multiprocessors)
{
    double per_cycle = 16384;
    if (precision == "fp64") per_cycle = 512;
    if (precision == "fp32") per_cycle = 4096;
    return {.flops = static_cast<double>(multiprocessors) * per_cycle * kGpuClockHz, .bytes_per_s = kGpuBytesPerS};
}

} // namespace fathom
