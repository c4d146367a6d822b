#pragma once

namespace fathom::server {

/// Who is named as the creator of tasks and runs that the metascheduler makes by itself.
inline constexpr const char* kOwnActor = "fathom";

} // namespace fathom::server
