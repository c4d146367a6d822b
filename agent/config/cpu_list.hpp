#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::agent {

/// Processor numbers as the kernel writes them: `0-3,6`. Empty text is an empty list.
/// @return ascending, each once.
/// @error kInvalid  anything else, or a number above 65535.
Result<std::vector<std::int64_t>> parse_cpu_list(std::string_view text);

/// The shortest such text: `0-3,6`.
std::string format_cpu_list(std::span<const std::int64_t> cpus);

/// The processors that this process may use, ascending.
std::vector<std::int64_t> allowed_cpus();

} // namespace fathom::agent
