#pragma once

#include "core/base/open_file.hpp"
#include "core/base/result.hpp"
#include "probes/upload/sandbox_command.hpp"

#include <string_view>

namespace fathom::probes {

/// A sandbox that was just started; it may still fail.
struct StartedProcess {
    int pid{-1};            ///< of bubblewrap
    OpenFile socket;        ///< our end; records keep their borders
    OpenFile result_memory; ///< of no size yet
    OpenFile stderr_memory; ///< what bubblewrap and the guest write to standard error
};

/// Starts fathom-operator-host, which lies beside this program, in a sandbox; as nobody when this process is root.
/// @error kUnavailable  a program is missing or the system refuses; the detail says what.
Result<StartedProcess> start_in_sandbox(std::string_view object, const SandboxNeeds& needs);

} // namespace fathom::probes
