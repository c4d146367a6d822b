#pragma once

// A log line whose fields are not all known where it is written. For what builds on the log: core/base/log_limit and
// server/store/log_after_commit; all else calls core/base/log.

#include "core/base/log.hpp"

#include <span>

namespace fathom {

void write_log_line(LogLevel level, std::string_view event, std::span<const LogField> fields);

} // namespace fathom
