#pragma once

#include "probes/tcp/member.hpp"

namespace fathom::probes {

inline constexpr int kMaxTeam = 4096;
/// How a process that a launcher starts learns of the meeting: by its environment, which only its own user can read.
inline constexpr const char* kMeetVariable = "FATHOM_TCP_MEET";
inline constexpr const char* kSecretVariable = "FATHOM_TCP_SECRET";
/// The interface whose address other hosts reach this one at; not set: any of its addresses.
inline constexpr const char* kInterfaceVariable = "FATHOM_TCP_INTERFACE";

struct TeamOrder {
    int processes{}; ///< 2 to kMaxTeam
    TeamVector vector;
    /// The launcher's words, to which the command of a process is added; empty: they run on this host.
    std::vector<std::string> launcher;
    std::string program; ///< this one's path
};

/// A member as a process: says on standard error what went wrong.
/// @return its exit code
int run_member(const Meeting& meeting, const TeamVector& vector);

/// Starts the team, answers on standard output what is asked on standard input, and ends the team.
/// @error kUnavailable  the team does not come together, or one of it has ended
Result<void> coordinate(const TeamOrder& order);

} // namespace fathom::probes
