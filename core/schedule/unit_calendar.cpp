#include "core/schedule/unit_calendar.hpp"

namespace fathom {
namespace {

double seconds_until(Timestamp time, Timestamp now)
{
    return std::chrono::duration<double>(time - now).count();
}

} // namespace

Hold hold_from(const KnownHold& hold, Timestamp now)
{
    return {hold.project, seconds_until(hold.from, now), seconds_until(hold.to, now), hold.unit_count};
}

Closure closure_from(const KnownClosure& closure, Timestamp now)
{
    return {seconds_until(closure.from, now), seconds_until(closure.to, now)};
}

} // namespace fathom
