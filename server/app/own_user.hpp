#pragma once

#include "server/app/child_process.hpp"

#include <string>

namespace fathom::server {

/// Whom a child may run as that shares its user with no other program: the account `name` where there is one, else an
/// id that no account has and no process runs as now, from those that systemd, too, gives to services for a while.
/// Never `nobody`, which is whoever else has no user of its own. At start, before other threads use the user database.
/// @error kUnavailable  there is no such id here, as in some containers; the detail says what to make.
Result<UnixUser> find_own_user(const std::string& name);

} // namespace fathom::server
