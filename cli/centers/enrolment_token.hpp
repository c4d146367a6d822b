#pragma once

#include "cli/client/command_line.hpp"

#include <string>

namespace fathom::cli {

/// `fathom enrolment-token`.
void add_enrolment_token_commands(CLI::App& app, Invocation& invocation);
/// `fathom center enrol-token`: the same as `fathom enrolment-token create`.
void add_enrolment_token_create(CLI::App& noun, const std::string& verb, Invocation& invocation);

} // namespace fathom::cli
