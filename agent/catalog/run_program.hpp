#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace fathom::agent {

/// Runs a program to its end and gives what it wrote to standard output. Its standard error is ours.
/// Blocks for at most `limit`, then kills it.
/// @param environment  added to ours; wins over it.
/// @error kNotFound     there is no such program, or it may not be executed.
/// @error kDeadline     it took longer than `limit`.
/// @error kTooLarge     it wrote more than 4 MiB.
/// @error kUnavailable  it ended with another status than 0.
Result<std::string> run_program(const std::vector<std::string>& command,
                                const std::map<std::string, std::string>& environment, std::chrono::milliseconds limit);

} // namespace fathom::agent
