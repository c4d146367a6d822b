#pragma once

#include "cli/client/session.hpp"

#include <string>

namespace fathom::cli {

enum class TestWaiting { kNone, kUntilEnd };

/// Tries a probe task (M7) and gives it as it stands then.
Result<Json> test_probe_task(Session& session, const std::string& id, TestWaiting waiting);

/// How a task stands and what to do next, for people.
std::string describe_probe_task(const Json& task);

} // namespace fathom::cli
