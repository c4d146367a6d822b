#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/attempt.hpp"

namespace fathom::link {

/// Whether a cause is told of such an end: others have none.
bool may_have_cause(const AttemptEnd& end);

/// Why an attempt ended so, by the field `cause`. One that a newer agent names and that is not known here is kNone, and
/// so is one that another outcome has. An older agent has no such field: the beginning of its detail says it, which
/// nothing but this looks at.
/// @param end  with its outcome, exit code and detail
AttemptCause read_cause(ObjectReader& reader, const AttemptEnd& end);

} // namespace fathom::link
