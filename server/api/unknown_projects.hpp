#pragma once

namespace fathom::server {

/// What becomes of requests for a project that has no settings, no jobs so far, and is not "default".
enum class UnknownProjects {
    kAccept,
    kRefuse,
    kRefuseOnceMembers, ///< accepted until the first project has members: who has no right there invents no other
};

} // namespace fathom::server
