#pragma once

#include "core/base/open_file.hpp"
#include "core/base/result.hpp"
#include "server/app/backup/stop_request.hpp"
#include "server/app/child_process.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace fathom::server {

/// What to do while programs run.
struct ToolWatch {
    /// A line that one of them wrote to standard error; false: it is of no worth when they fail.
    std::function<bool(std::string_view line)> on_line;
    /// Twice a second.
    std::function<void()> on_tick;
};

/// Runs programs beside each other to their ends; a stop request ends them. Blocks.
/// @param held  closed here once all have started: the ends of pipes between them.
/// @error kConflict     a stop was requested.
/// @error kUnavailable  one could not be started or failed; the detail has the end of what they wrote.
Result<void> run_tools(std::vector<ChildOptions> programs, std::vector<OpenFile> held, StopRequest& stop,
                       const ToolWatch& watch);

} // namespace fathom::server
