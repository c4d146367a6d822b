#pragma once

#include "probes/profile/hot_loops.hpp"

#include <set>
#include <string>

namespace fathom::profile {

/// Whether an ELF file offers one of the names to others (its dynamic symbols). The file may be anything; tables of
/// more than 32 MiB are not read.
bool defines_any(const ReadCode& read, const std::set<std::string, std::less<>>& names);

/// Whether a file is an ELF file whose code is not that of kThisProcessor: of 32 bits, or emulated.
bool is_of_another_processor(const ReadCode& read);

} // namespace fathom::profile
