#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Reading the kernel's text files. Whatever is missing there is no error: containers hide much.
namespace fathom::probes {

/// The whole file; empty when it cannot be read.
std::string proc_text(const std::string& path);

/// The rest of the first line that starts with `key` and, after blanks, a colon: "model name", "MemTotal".
/// Empty when there is none.
std::string proc_value(std::string_view text, std::string_view key);

/// A leading number ("123 kB", "4096\n"); empty for "max" and other words.
std::optional<double> leading_number(std::string_view text);

} // namespace fathom::probes
