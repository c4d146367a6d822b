#pragma once

#include "cli/text/console.hpp"
#include "core/base/json_reader.hpp"

#include <string>

namespace fathom::cli {

/// Reads a YAML or JSON file, or standard input for "-". A name that ends in .json, or content that
/// starts like JSON, is read as JSON, whose messages are the better ones.
/// @error kInvalid  cannot be read, or is neither; the detail names the file.
Result<Json> read_input_file(const std::string& path, const Console& console, JsonLimits limits = {});

/// The error with the file's name in front, as kInvalid.
Error in_file(const std::string& path, const Error& error);

} // namespace fathom::cli
