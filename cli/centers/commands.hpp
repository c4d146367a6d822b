#pragma once

#include "cli/client/command_line.hpp"

/// Each adds its noun, or its verbs, to the command line.
namespace fathom::cli {

void add_center_commands(CLI::App& app, Invocation& invocation);
void add_enrolment_token_commands(CLI::App& app, Invocation& invocation);
/// `fathom center enrol-token`: the same as `fathom enrolment-token create`.
void add_enrolment_token_create(CLI::App& noun, const std::string& verb, Invocation& invocation);
/// `fathom center resources`.
void add_center_resource_commands(CLI::App& center, Invocation& invocation);
void add_unit_commands(CLI::App& app, Invocation& invocation);
void add_reservation_commands(CLI::App& app, Invocation& invocation);
void add_maintenance_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
