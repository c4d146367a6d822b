#pragma once

#include <cstdint>

namespace fathom::probes {

struct HostLimits {
    std::uint64_t memory_bytes{}; ///< that the operator may use
    std::uint32_t threads{1};
    bool allows_network{};
};

/// Binds this process for ever: memory, files, threads and core dumps by resource limits, then system calls by a
/// seccomp filter. A forbidden call raises SIGSYS in the thread that made it and is not carried out. No other
/// program and no other process can be started afterwards.
/// @return nullptr, or which step failed; errno says why.
const char* limit_this_process(const HostLimits& limits);

} // namespace fathom::probes
