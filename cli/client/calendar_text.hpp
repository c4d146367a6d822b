#pragma once

#include "cli/text/table.hpp"
#include "core/base/json_reader.hpp"

#include <string>

namespace fathom::cli {

/// "2026-12-01 08:00:00 UTC" of a member that is a time; "-" when absent.
std::string moment_of(const Json& json, std::string_view name);

/// The state of a reservation or a maintenance, with its colour.
Cell calendar_state_of(const Json& entry);

/// How long it lasts, "2 h".
std::string length_of(const Json& entry);

/// How far ahead `--starts-at` and `--ends-at` may lie is the server's to say; this is how they are written.
inline constexpr const char* kMomentHelp = "RFC 3339: 2026-12-01T08:00:00Z";

} // namespace fathom::cli
