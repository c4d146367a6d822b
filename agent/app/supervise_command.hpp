#pragma once

namespace fathom::agent {

/// `fathom-agent supervise DESCRIPTORS ISOLATION`: runs one attempt after another; started by the daemon only.
int supervise_command(int argc, const char* const* argv);

} // namespace fathom::agent
