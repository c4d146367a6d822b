#pragma once

#include "core/base/clock.hpp"
#include "core/model/attempt.hpp"
#include "server/jobs/attempts_store.hpp"

namespace fathom::server {

/// A moment of the attempt as its center says it, by our own clock: after its order was sent, and not after now.
/// Centers' clocks differ, and a center may lie; the job's times are what people and prices go by.
Timestamp within_attempt(Timestamp said, const AttemptJob& job, Timestamp now);

/// What a center says that an attempt took, held against our own clock: no longer than since its order was sent, but
/// for a hundredth by which clocks may differ; what is cut is logged. Where our clock has gone back since then it says
/// nothing.
void limit_run(AttemptEnd& end, const AttemptJob& job);

/// Holds both moments of the end within the attempt, and its end not before its start.
void limit_times(AttemptEnd& end, const AttemptJob& job, Timestamp now);

} // namespace fathom::server
