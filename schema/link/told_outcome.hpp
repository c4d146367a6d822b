#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/attempt.hpp"

namespace fathom::link {

// How an end tells its outcome and the detail, also to a side that does not know the outcome: `outcome` is one that all
// know, `exact_outcome` the true one where that is another.

void write_outcome(Json& json, const AttemptEnd& end);

/// A newer agent may name an outcome that is not known here. The attempt has ended all the same: by the outcome that
/// the agent gives for such servers, else as lost.
void read_outcome(ObjectReader& reader, AttemptEnd& end);

} // namespace fathom::link
