#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/probing/cron.hpp"

#include <optional>
#include <string>

namespace fathom::server {

/// For answers: the first moments that a schedule runs for, so that a person sees whether the cron text says what was
/// meant.
/// @param first  the next one; empty: it does not run.
inline Json next_times_json(const std::string& cron_text, const std::optional<Timestamp>& first)
{
    constexpr std::size_t kShown = 5;
    Json times = Json::array();
    const Result<CronSchedule> cron = parse_cron(cron_text);
    if (!cron || !first) return times;
    for (Timestamp time = *first; times.size() < kShown; time = next_time(*cron, time))
        times.push_back(format_rfc3339(time));
    return times;
}

} // namespace fathom::server
