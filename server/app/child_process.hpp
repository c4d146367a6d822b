#pragma once

#include "core/base/own_user.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace fathom::server {

struct ChildOptions {
    std::vector<std::string> arguments; ///< [0] is the program's absolute path, to which its user needs no way
    std::optional<UnixUser> user;       ///< given up to, groups included; needs root
    int output = -1;                    ///< descriptor for standard output and error; -1 for /dev/null
    int inherited = -1;                 ///< one further descriptor that stays open in the child, under its number
    int signal_on_parent_death = 0;     ///< sent when the *thread* that started the child ends; 0 for none
    std::string folder = "/";           ///< it starts there; ours may be closed to its user
    /// "NAME=value", instead of our environment; empty: ours.
    std::vector<std::string> environment;
    bool is_background = false; ///< it gets the processors when nobody else wants them (enter_background)
    std::string group_file;     ///< the `cgroup.procs` of a control group that it joins; empty: stays in ours
    std::uint64_t address_space_bytes = 0; ///< RLIMIT_AS; 0: as ours
    /// run_child() tells it the child's id, and 0 before the child is reaped: in between it may be killed.
    std::function<void(pid_t)> started;
    int input = -1;  ///< descriptor for standard input; -1 for /dev/null
    int errors = -1; ///< descriptor for standard error; -1: where standard output goes
};

/// Starts a child in a session of its own (a Ctrl-C at the terminal must not reach it before we stop it in
/// order), with default signals and no other descriptor of ours. Reap it with waitpid.
/// @error kUnavailable  it could not be started; the detail says why.
Result<pid_t> start_child(const ChildOptions& options);

/// How long programs may take that only say what they are, also on a machine that is very busy.
inline constexpr std::chrono::seconds kAnswerLimit{60};

/// Runs a program to its end and returns what it wrote. Blocks, for `limit` at most: then the program is killed, with
/// all of its process group.
/// @error kDeadline     it took longer.
/// @error kUnavailable  it could not be started or ended with a code other than 0. The detail has the end of
///                      what it wrote.
Result<std::string> run_child(ChildOptions options, std::chrono::milliseconds limit);

/// "exit code 1", "signal 9 (Killed)" for a status of waitpid.
std::string describe_exit(int status);

} // namespace fathom::server
