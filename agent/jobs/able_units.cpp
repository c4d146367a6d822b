#include "agent/jobs/able_units.hpp"

#include "core/base/utf8_prefix.hpp"

#include <algorithm>

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxReasonLength = 1000;

bool offers(const UnitTypeReport& type, const OperatorNeed& need)
{
    if (need.is_uploaded) return type.facts.value("accepts_uploads", false);
    return std::find(type.operators.begin(), type.operators.end(), need.id) != type.operators.end();
}

} // namespace

std::string why_unable(const UnitTypeReport& type, std::span<const OperatorNeed> operators)
{
    std::string missing;
    for (const OperatorNeed& need : operators) {
        if (offers(type, need)) continue;
        missing += (missing.empty() ? "" : ", ") + need.id + (need.is_uploaded ? " (uploaded)" : "");
    }
    if (missing.empty()) return {};
    return std::string(utf8_prefix("does not offer " + missing, kMaxReasonLength));
}

std::vector<std::string> able_unit_types(const UnitPlan& plan, std::span<const OperatorNeed> operators)
{
    std::vector<std::string> names;
    for (const UnitType& type : plan) {
        if (why_unable(type.report, operators).empty()) names.push_back(type.report.name);
    }
    return names;
}

link::UnitTypesAnswer answer_query(const link::UnitTypesQuery& query, const UnitAllocator& units)
{
    link::UnitTypesAnswer answer;
    answer.query_id = query.query_id;
    for (const UnitType& type : units.plan()) {
        std::string reason = why_unable(type.report, query.operators);
        const std::int64_t unit_count = units.unit_count(type);
        if (reason.empty() && unit_count == 0) reason = "has no units now: its sub-units are at other centers";
        if (reason.empty())
            answer.able.push_back({type.report.name, unit_count, units.free_count(type)});
        else
            answer.unable.push_back({type.report.name, reason});
    }
    return answer;
}

link::AttemptStarted started_message(const StoredAttempt& attempt, Timestamp started_at, const UnitAllocator& units)
{
    const UnitPlan& plan = units.plan();
    link::AttemptStarted started{attempt.order.attempt_id, started_at, attempt.cpus, attempt.units,
                                 attempt.unit_type,        {}};
    for (const UnitType& type : plan) {
        if (type.report.name == attempt.unit_type && type.place) started.cpus.clear(); // they only stood for units
    }
    if (!attempt.order.operators.empty()) started.able_unit_types = able_unit_types(plan, attempt.order.operators);
    started.neighbours = units.neighbours_of(attempt.order.attempt_id);
    return started;
}

} // namespace fathom::agent
