#pragma once

#include "cli/client/command_line.hpp"

/// Each adds its noun, or its verbs, to the command line.
namespace fathom::cli {

void add_job_commands(CLI::App& app, Invocation& invocation);
/// `fathom place`
void add_place_commands(CLI::App& app, Invocation& invocation);
/// `fathom replay`
void add_replay_commands(CLI::App& app, Invocation& invocation);
/// `fathom job submit` and `fathom job preview`
void add_job_submit_commands(CLI::App& job, Invocation& invocation);
/// `fathom job wait`, `logs`
void add_job_follow_commands(CLI::App& job, Invocation& invocation);
void add_accuracy_commands(CLI::App& app, Invocation& invocation);
/// `fathom accuracy operators`
void add_operator_accuracy_command(CLI::App& accuracy, Invocation& invocation);
/// `fathom job count`
void add_job_count_command(CLI::App& job, Invocation& invocation);
/// `fathom job operators`
void add_job_operators_command(CLI::App& job, Invocation& invocation);
/// `fathom job outputs`
void add_job_outputs_command(CLI::App& job, Invocation& invocation);
void add_job_type_commands(CLI::App& app, Invocation& invocation);
void add_event_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
