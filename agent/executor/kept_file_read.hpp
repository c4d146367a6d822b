#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace fathom::agent {

/// At most `max_bytes`, from `offset`, of an input or output that the center keeps a copy of; fewer where it ends.
/// Any thread may call it, also when the executor is gone. It blocks for as long as the file system does, which on a
/// network that is down may be for ever: never call it where anything else waits.
/// @param sha256  of its content, 64 lower-case hex digits
/// @error kNotFound     no copy is kept.
/// @error kUnavailable  it cannot be read now.
using KeptFileRead =
    std::function<Result<std::string>(const std::string& sha256, std::int64_t offset, std::size_t max_bytes)>;

} // namespace fathom::agent
