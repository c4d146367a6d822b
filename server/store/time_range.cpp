#include "server/store/time_range.hpp"

namespace fathom::server {

TimeRangeText to_sql_text(const TimeRange& range)
{
    return {.since = range.since ? format_rfc3339(*range.since) : "-infinity",
            .until = range.until ? format_rfc3339(*range.until) : "infinity"};
}

} // namespace fathom::server
