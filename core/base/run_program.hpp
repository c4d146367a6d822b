#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace fathom {

/// Runs a program to its end and gives what it wrote to standard output. Its standard input is empty, its standard
/// error is ours, and no signal is blocked in it. Blocks for at most `limit`, then kills it with all of its process
/// group, which is its own.
/// @param environment  added to ours; wins over it.
/// @error kNotFound     there is no such program, or it may not be executed.
/// @error kDeadline     it took longer than `limit`.
/// @error kTooLarge     it wrote more than 4 MiB.
/// @error kUnavailable  it ended with another status than 0.
Result<std::string> run_program(const std::vector<std::string>& command,
                                const std::map<std::string, std::string>& environment, std::chrono::milliseconds limit);

/// As run_program(), but the program is ended in the same way, at once, when `stop` is requested.
/// @error kUnavailable  also where it was.
Result<std::string> run_program_until(const std::stop_token& stop, const std::vector<std::string>& command,
                                      const std::map<std::string, std::string>& environment,
                                      std::chrono::milliseconds limit);

/// As run_program(), with `input` on its standard input, and what it writes to standard error dropped.
Result<std::string> run_program_on(const std::string& input, const std::vector<std::string>& command,
                                   const std::map<std::string, std::string>& environment,
                                   std::chrono::milliseconds limit);

/// How a program ended that may fail.
struct ProgramAnswer {
    int exit_code{};  ///< 128 + N when signal N ended it
    std::string text; ///< standard output and standard error, as they came
};

/// As run_program(), but a program that fails is an answer as well.
/// @error kNotFound, kDeadline, kTooLarge  as run_program(), with `most_bytes` of output.
Result<ProgramAnswer> run_program_to_end(const std::vector<std::string>& command,
                                         const std::map<std::string, std::string>& environment,
                                         std::chrono::milliseconds limit, std::size_t most_bytes);

} // namespace fathom
