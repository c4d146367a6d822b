#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/kernel_class.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fathom {

/// What jobs of two kinds kept of their speed when they shared a GPU (C3, C8).
struct GpuPair {
    std::string a{}; ///< kind, a name that jobs alike have in common (gpu_kind)
    std::string b{}; ///< of the other; may be the same
    KernelClass a_class{KernelClass::kUnknown};
    KernelClass b_class{KernelClass::kUnknown};
    double a_share{1};     ///< of the speed alone, the median of the runs
    double b_share{1};     ///< of the other's
    std::int64_t count{1}; ///< runs of that of both of which there are fewer
    double a_spread{};     ///< standard deviation of a_share over its runs
    double b_spread{};

    friend bool operator==(const GpuPair&, const GpuPair&) = default;
};

/// An order names at most so many pairs.
inline constexpr std::size_t kMaxGpuPairs = 64;
/// Bytes of the name of a kind of jobs.
inline constexpr std::size_t kMaxGpuKind = 64;

/// The field of that name, a list of pairs; none where it is missing. A class that newer peers have is unknown here.
/// Errors go to the reader's list.
std::vector<GpuPair> read_gpu_pairs(ObjectReader& reader, std::string_view name, std::vector<FieldError>& errors);
Json to_json(const GpuPair& pair);

} // namespace fathom
