#pragma once

#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace fathom::probes {

/// Where the sandbox's command finds what it copies in: descriptors that it inherits.
constexpr int kHostProgramFd = 5;
constexpr int kObjectFd = 6;

/// What the sandbox is for.
struct SandboxNeeds {
    bool allows_network{};
    int threads{1}; ///< that the operator computes with
};

/// The command that starts fathom-operator-host in a sandbox, with all arguments.
/// @error kUnavailable  bubblewrap is not installed.
Result<std::vector<std::string>> sandbox_command(const SandboxNeeds& needs);

} // namespace fathom::probes
