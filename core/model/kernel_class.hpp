#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace fathom {

/// What work on a GPU is bound by, a kernel's or a job's as a whole.
enum class KernelClass { kUnknown, kCompute, kMemory };
inline constexpr std::size_t kKernelClasses = 3;

/// "unknown", "compute", "memory"
std::string_view to_string(KernelClass kernel_class);
std::optional<KernelClass> parse_kernel_class(std::string_view text);

} // namespace fathom
