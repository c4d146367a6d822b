#pragma once

#include <string>
#include <string_view>

namespace fathom::agent {

/// The kernel's id of this start of the host, which containers share with it; empty where it cannot be told. Blocks.
std::string boot_id();

/// link::Hello::host_id of the host with this boot_id(): a SHA-256, which does not tell the boot id. The same for all
/// agents of a host until it starts anew; empty for an empty one. Pure.
std::string host_id(std::string_view boot);

} // namespace fathom::agent
