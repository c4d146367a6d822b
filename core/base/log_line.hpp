#pragma once

// Internal to core/base: a log line whose fields are not all known where it is written.

#include "core/base/log.hpp"

#include <span>

namespace fathom {

void write_log_line(LogLevel level, std::string_view event, std::span<const LogField> fields);

} // namespace fathom
