#pragma once

#include "core/base/own_user.hpp"

#include <filesystem>

namespace fathom::agent {

/// The path by which `user` reaches fathom-probe and what lies beside it. Where a folder above is closed to that user
/// (a clone below root's home, say), this process gets a view of its own that shows the program's folder elsewhere and
/// hides nothing; where there are no mount namespaces, the program alone is reached. As root, in a process with one
/// thread, before it becomes that user.
std::filesystem::path let_reach(const std::filesystem::path& probe_program, const UnixUser& user);

} // namespace fathom::agent
