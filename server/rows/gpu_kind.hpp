#pragma once

#include "core/base/secret.hpp"
#include "core/decide/history/run_history.hpp"
#include "core/model/kernel_class.hpp"

#include <string>
#include <string_view>

namespace fathom::server {

/// Of a kind's name, hexadecimal digits.
inline constexpr std::size_t kGpuKindDigits = 16;

/// What jobs like this one are called where pairs of jobs are learned (AttemptOrder::gpu_kind): those of a type, of one
/// submitter and project, have a digest of these, so that no center is told a name (one that knows a submitter's id and
/// project can still try which types it fits); jobs without a type the name of their class. Empty: neither is known.
/// Pure.
inline std::string gpu_kind_of(std::string_view job_type, RunOwner owner, KernelClass kernel_class)
{
    if (!job_type.empty()) {
        // PostgreSQL's texts do not hold the separator.
        std::string text(job_type);
        for (const std::string_view part : {owner.owner, owner.project})
            (text += '\0') += part;
        return "type:" + sha256_hex(text).substr(0, kGpuKindDigits);
    }
    if (kernel_class == KernelClass::kUnknown) return {};
    return "class:" + std::string(to_string(kernel_class));
}

} // namespace fathom::server
