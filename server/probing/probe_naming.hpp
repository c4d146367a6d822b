#pragma once
#include <cstddef>

namespace fathom::server {

/// Who is named as the creator of tasks and runs that the metascheduler makes by itself.
inline constexpr const char* kOwnActor = "fathom";

/// Bytes of the name of a probe run, and of the job that it is at its center.
inline constexpr std::size_t kMaxRunNameLength = 200;

} // namespace fathom::server
