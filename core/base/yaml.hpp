#pragma once

#include "core/base/json_reader.hpp"

namespace fathom {

/// Reads one YAML document as the JSON value that it stands for (YAML 1.2 core schema: plain
/// scalars become null, booleans, numbers or strings; quoted ones are strings).
/// @error kInvalid   not YAML; the detail gives line and column. Also aliases, which could expand
///                   without end, nesting over `limits.max_depth`, and text that is not UTF-8.
/// @error kTooLarge  over `limits.max_bytes`.
Result<Json> parse_yaml(std::string_view text, JsonLimits limits = {});

} // namespace fathom
