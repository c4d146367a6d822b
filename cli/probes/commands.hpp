#pragma once

#include "cli/client/command_line.hpp"

/// Each adds its noun, or its verbs, to the command line.
namespace fathom::cli {

void add_probe_commands(CLI::App& app, Invocation& invocation);
/// `fathom probe task`
void add_probe_task_commands(CLI::App& probe, Invocation& invocation);
/// `fathom probe schedule`
void add_probe_schedule_commands(CLI::App& probe, Invocation& invocation);
/// Under `probe`.
void add_probe_compare(CLI::App& probe, Invocation& invocation);
/// `fathom probe task compose`
void add_probe_task_compose(CLI::App& task, Invocation& invocation);
void add_policy_commands(CLI::App& app, Invocation& invocation);
void add_score_commands(CLI::App& app, Invocation& invocation);
/// `fathom score history`
void add_score_history(CLI::App& score, Invocation& invocation);
void add_scaling_commands(CLI::App& app, Invocation& invocation);
void add_window_commands(CLI::App& app, Invocation& invocation);
void add_trust_commands(CLI::App& app, Invocation& invocation);
void add_finding_commands(CLI::App& app, Invocation& invocation);

} // namespace fathom::cli
