#pragma once

#include "core/base/open_inside.hpp"
#include "core/base/own_user.hpp"

namespace fathom::agent {

/// STATE/agent: all that the process which hears the network writes, that is key, certificate, spool and the request
/// for probes. It is that process's own, mode 0700. What else is in the state folder, the jobs' folders above all, is
/// of whoever starts the agent, often root.
struct AgentFolder {
    OpenFile folder;
    std::optional<UnixUser> user; ///< whose it is; empty: ours, as we are not root or there is no other user
};

/// Whether a center's key and certificate are in the state folder, as of now or where older agents had them.
bool is_enrolled(const std::filesystem::path& state_dir);

/// Makes it, moves there what an older agent left in the state folder itself, and gives it to the account
/// `fathom-agent`; where there is none, it keeps the id it has unless somebody else has that meanwhile (own_user). Only
/// while no agent runs there. Started as root, nobody else may write in the state folder.
/// @error kUnavailable  it cannot be made, or something stands there that does not belong there; the detail has more.
Result<AgentFolder> prepare_agent_folder(const std::filesystem::path& state_dir);

/// As it stands.
/// @error kNotFound     there is none.
/// @error kUnavailable  it cannot be opened.
Result<AgentFolder> open_agent_folder(const std::filesystem::path& state_dir);

/// Makes it this process's working folder: from then on its files are reached by their names alone, whatever the
/// folders above let its user see.
Result<void> enter(const AgentFolder& folder);

} // namespace fathom::agent
