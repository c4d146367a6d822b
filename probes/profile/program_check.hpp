#pragma once

#include "core/base/result.hpp"

#include <string>

namespace fathom::profile {

/// A program that can be started, and whether its operators can be counted.
struct ProgramFacts {
    std::string path;
    /// Why the interposer cannot be loaded into it; empty when it can. What the kernel tells is measured anyway.
    std::string not_counted;
    /// The program would refuse to start with the interposer: it must run without.
    bool must_not_be_loaded{};
};

/// Finds a program as shells do, through PATH when its name has no slash, and looks at its file: scripts are
/// followed to their interpreter, once.
/// @error kNotFound   there is no such file.
/// @error kForbidden  it is there, but cannot be executed; the detail says why and what to do.
Result<ProgramFacts> check_program(const std::string& name);

} // namespace fathom::profile
