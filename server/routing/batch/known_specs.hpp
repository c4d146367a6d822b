#pragma once

#include "core/base/result.hpp"
#include "core/model/job.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fathom::server {

/// A specification as it was read.
struct KnownSpec {
    JobSpec spec;                    ///< without the job's type, which the job's row has
    std::optional<Error> unreadable; ///< the specification is empty then
};

/// Specifications by their text. Thousands of jobs of a campaign have the same: it is read once, and what follows from
/// it can be kept by its address. Not thread-safe.
class KnownSpecs {
  public:
    /// @param text  of a JSON document.
    std::shared_ptr<const KnownSpec> get(std::string_view text);

  private:
    std::unordered_map<std::string, std::shared_ptr<const KnownSpec>> by_text_;
};

} // namespace fathom::server
