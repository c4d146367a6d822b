#include "server/calendar/period.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// Between the client's "now" and ours.
constexpr auto kGrace = 1min;

} // namespace

Period read_period(ObjectReader& reader, Timestamp now, std::chrono::days longest)
{
    const std::optional<Timestamp> start = reader.optional_time("starts_at");
    const std::optional<Timestamp> end = reader.optional_time("ends_at");
    if (!reader.has("ends_at")) reader.fail("ends_at", "is required");
    const Period period{start.value_or(now), end.value_or(now)};
    if (start && *start < now - kGrace) reader.fail("starts_at", "has passed: it is " + format_rfc3339(now));
    if (start && *start > now + kFurthestStart)
        reader.fail("starts_at", "is more than " + std::to_string(kFurthestStart.count()) + " days ahead");
    if (!end) return period;
    if (*end <= period.starts_at)
        reader.fail("ends_at", "must lie behind starts_at");
    else if (*end <= now)
        reader.fail("ends_at", "has passed: it is " + format_rfc3339(now));
    if (*end - period.starts_at > longest)
        reader.fail("ends_at", "must not lie more than " + std::to_string(longest.count()) + " days behind starts_at");
    return period;
}

} // namespace fathom::server
