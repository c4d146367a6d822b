#include "server/api/query.hpp"

#include "core/base/parse_number.hpp"

namespace fathom::server {

std::string query_text(const Query& query, const std::string& name)
{
    const auto found = query.find(name);
    return found == query.end() ? std::string() : found->second;
}

std::optional<bool> query_flag(const Query& query, const std::string& name)
{
    const auto found = query.find(name);
    if (found == query.end()) return std::nullopt;
    return found->second == "true";
}

std::optional<std::int64_t> query_integer(const Query& query, const std::string& name)
{
    return parse_number<std::int64_t>(query_text(query, name));
}

TimeRange query_time_range(const Query& query, std::vector<FieldError>& errors)
{
    TimeRange range;
    // The contract has said that they are times.
    if (const Result<Timestamp> since = parse_rfc3339(query_text(query, "since"))) range.since = *since;
    if (const Result<Timestamp> until = parse_rfc3339(query_text(query, "until"))) range.until = *until;
    if (range.since && range.until && *range.until <= *range.since) errors.push_back({"until", "must be after since"});
    return range;
}

} // namespace fathom::server
