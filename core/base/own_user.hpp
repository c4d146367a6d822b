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

/// For a process that hears a network: becomes `user`, if there is one, gains no rights by programs that it starts, and
/// shows its memory to nobody. In a process with one thread.
/// @error kUnavailable  that is not allowed.
Result<void> give_up_rights(const std::optional<UnixUser>& user);

/// From now on this process ends with the thread that started it, and was `parent`. Call it after give_up_rights(),
/// which would undo it.
/// @error kUnavailable  it has ended already.
Result<void> end_with_parent(pid_t parent);

/// Whom a process may run as that shares its user with no other program: the account `name` where there is one, else an
/// id that no account has and no process runs as now, from those that systemd, too, gives to services for a while.
/// Never `nobody`, which is whoever else has no user of its own. At start, before other threads use the user database.
/// @error kUnavailable  there is no such id here, as in some containers; the detail says what to make.
Result<UnixUser> find_own_user(const std::string& name);

/// Whether `uid` is one of those ids, no account has it, no process runs as it, and this process may become it.
bool is_free_own_id(uid_t uid);

} // namespace fathom
