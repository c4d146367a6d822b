#include "server/jobs/attempt_queues_store.hpp"

#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

#include <map>
#include <set>
#include <string_view>

namespace fathom::server {
namespace {

// A table of its own: nobody who changes an attempt waits for this, nor the other way round.
constexpr Statement kUpsertQueues{"jobs_upsert_attempt_queues", R"sql(
    INSERT INTO attempt_queue (attempt_id, reason, expected_start)
    SELECT a.id, n.reason, n.expected_start
    FROM unnest($2::text[], $3::text[], $4::timestamptz[]) AS n (id, reason, expected_start)
    JOIN attempt a ON a.id = n.id AND a.center_id = $1 AND a.state IN ('placed', 'dispatched')
    ORDER BY a.id
    ON CONFLICT (attempt_id)
    DO UPDATE SET reason = excluded.reason, expected_start = excluded.expected_start, told_at = now())sql"};

constexpr Statement kUpsertTypeQueues{"jobs_upsert_type_queues", R"sql(
    INSERT INTO unit_type_queue (unit_type_id, expected_start)
    SELECT u.id, n.expected_start
    FROM unnest($2::text[], $3::timestamptz[]) AS n (name, expected_start)
    JOIN unit_type u ON u.center_id = $1 AND u.name = n.name
    ORDER BY u.id
    ON CONFLICT (unit_type_id) DO UPDATE SET expected_start = excluded.expected_start, told_at = now())sql"};

} // namespace

void upsert_attempt_queues(pqxx::work& transaction, const CenterId& center,
                           const std::vector<link::QueuedAttempt>& attempts)
{
    SqlArray ids;
    SqlArray reasons;
    SqlArray starts;
    std::set<AttemptId> seen; // one statement changes a row once
    for (auto one = attempts.rbegin(); one != attempts.rend(); ++one) {
        if (!seen.insert(one->attempt_id).second) continue;
        ids.add(one->attempt_id.value);
        reasons.add(one->reason);
        if (one->expected_start)
            starts.add(format_rfc3339(*one->expected_start));
        else
            starts.add_null();
    }
    if (!seen.empty()) exec(transaction, kUpsertQueues, center.value, ids.take(), reasons.take(), starts.take());
}

void upsert_type_queues(pqxx::work& transaction, const CenterId& center, const std::vector<TypeQueue>& queues)
{
    std::map<std::string_view, const TypeQueue*> newest; // one statement changes a row once
    for (const TypeQueue& queue : queues)
        newest[queue.unit_type] = &queue;
    SqlArray names;
    SqlArray starts;
    for (const auto& [name, queue] : newest) {
        names.add(name);
        if (queue->expected_start)
            starts.add(format_rfc3339(*queue->expected_start));
        else
            starts.add_null();
    }
    if (!newest.empty()) exec(transaction, kUpsertTypeQueues, center.value, names.take(), starts.take());
}

} // namespace fathom::server
