#pragma once

#include "core/base/log_limit.hpp"
#include "core/decide/probing/job_type.hpp"

#include <optional>
#include <string>

namespace fathom::server {

/// A mix of operators as column job_type.mix has it. Empty, and a line in the log that names the type, for what no
/// replica of today writes: the type is as if nothing was known of it, and the others still serve.
inline std::optional<OperatorMix> read_mix(const Json& json, const std::string& job_type)
{
    OperatorMix mix;
    bool is_good = json.is_object();
    for (const auto& [part, share] : json.items()) {
        is_good = is_good && share.is_number();
        if (is_good) mix[part] = share.get<double>();
    }
    if (is_good) return mix;
    log_limited("job_type_unreadable", {{"job_type", job_type}, {"error", "the mix holds other than numbers"}});
    return std::nullopt;
}

} // namespace fathom::server
