#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>

namespace fathom::server {

/// Compressed by zlib, quickly, behind its length.
std::string deflated(std::string_view bytes);

/// What deflated() was given. @error kInternal  it is broken, or larger than a gigabyte
Result<std::string> inflated(std::string_view bytes);

} // namespace fathom::server
