#pragma once

#include "core/base/result.hpp"

#include <optional>
#include <string>
#include <sys/types.h>

namespace fathom {

/// Whom a process runs as.
struct UnixUser {
    std::string name;
    uid_t uid{};
    gid_t gid{};
};

/// Gives root up for a user, groups included, for good. In a process with one thread; async-signal-safe.
/// False when that is not allowed.
bool become(const UnixUser& user);

/// What a process that hears a network needs not: becomes `user`, if there is one, gains no rights by programs that it
/// starts, shows its memory to nobody, and ends with `parent`, which started it. In a process with one thread.
/// @error kUnavailable  that is not allowed, or the parent has ended.
Result<void> give_up_rights(const std::optional<UnixUser>& user, pid_t parent);

/// Whom a process may run as that shares its user with no other program: the account `name` where there is one, else an
/// id that no account has and no process runs as now, from those that systemd, too, gives to services for a while.
/// Never `nobody`, which is whoever else has no user of its own. At start, before other threads use the user database.
/// @error kUnavailable  there is no such id here, as in some containers; the detail says what to make.
Result<UnixUser> find_own_user(const std::string& name);

/// Whether `uid` is one of those ids, no account has it, no process runs as it, and this process may become it.
bool is_free_own_id(uid_t uid);

} // namespace fathom
