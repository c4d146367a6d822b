#pragma once

#include "core/base/json_reader.hpp"

#include <string>

namespace fathom::cli {

/// What staging took of an attempt: "in 3.20 s (1.20 GiB, 200 MiB of it kept of earlier jobs), out 500 ms (3.00 MiB)";
/// while its inputs are fetched, how far that is, as far as its center has told: "1 of 3 inputs, 4.85 GiB of 19.1 GiB
/// in 70.0 s". Empty for one without inputs and outputs, or of which nothing is known.
std::string staging_text(const Json& attempt);

} // namespace fathom::cli
