#pragma once

#include "cli/text/table.hpp"
#include "core/base/json_reader.hpp"

#include <string>

namespace fathom::cli {

/// What each copy of a probe run took of each operator, over the first by itself, as predictions take it; empty for an
/// ordinary run.
std::string copies_text(const Json& run, const TableStyle& style);

} // namespace fathom::cli
