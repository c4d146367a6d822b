#pragma once

namespace fathom::server {

/// What becomes of requests for a project that has no settings, no jobs so far, and is not "default".
enum class UnknownProjects { kAccept, kRefuse };

} // namespace fathom::server
