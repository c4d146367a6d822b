#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/corun/corun_question.hpp"

namespace fathom {

/// `{"action", "launch", "victims", "considered", "combined_now", "combined_then", "figures", "basis", "reason"}`; what
/// there is none of is null.
Json to_json(const CorunDecision& decision);
/// The decision with how classes, instructions and expectations came about, and how far off such predictions were.
Json to_json(const CorunDecision& decision, const CorunQuestion& question);

} // namespace fathom
