#pragma once

#include "schema/link/messages.hpp"
#include "server/operators/operator_library.hpp"

namespace fathom::server {

/// What is said to agents of the library (M3).
struct MatchLibraryPart {
    link::MatchLibrary library;
    std::int64_t left_out{}; ///< operators without room in it (link::kMaxLibraryBytes, link::kMaxLibraryOperators)
};

/// The newest of each operator that is not withdrawn, without what only people and probes read of it. Of two libraries
/// with the same such part the digest is the same. Pure.
MatchLibraryPart make_match_library(const OperatorLibrary& library);

} // namespace fathom::server
