#pragma once

#include <string_view>

namespace fathom::link {

/// How AttemptEnd::detail begins when an attempt failed to start because the job's own program could not be executed:
/// not there, not executable. Every other failure to start is the center's.
inline constexpr std::string_view kProgramNotStarted = "cannot start \"";

} // namespace fathom::link
