#pragma once

#include "schema/link/messages.hpp"

#include <memory>

namespace fathom::server {

/// What agents' sessions need from the room that keeps the operators.
class LibrarySource {
  public:
    virtual ~LibrarySource() = default;

    /// What calls of profiled jobs are to be matched with now (M3). Thread-safe.
    virtual std::shared_ptr<const link::MatchLibrary> match_library() const = 0;
};

} // namespace fathom::server
