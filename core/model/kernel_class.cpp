#include "core/model/kernel_class.hpp"

#include <optional>
#include <string_view>

namespace fathom {

std::string_view to_string(KernelClass kernel_class)
{
    switch (kernel_class) {
    case KernelClass::kUnknown:
        return "unknown";
    case KernelClass::kCompute:
        return "compute";
    case KernelClass::kMemory:
        return "memory";
    }
    return "unknown";
}

std::optional<KernelClass> parse_kernel_class(std::string_view text)
{
    for (const KernelClass one : {KernelClass::kUnknown, KernelClass::kCompute, KernelClass::kMemory}) {
        if (text == to_string(one)) return one;
    }
    return std::nullopt;
}

} // namespace fathom
