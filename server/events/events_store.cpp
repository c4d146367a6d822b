#include "server/events/events_store.hpp"

#include "server/store/column.hpp"
#include "server/store/index_order.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// now() is when the transaction began, which can be before it got the lock of a job that others were changing. The
// times of a job's events are in the order of their numbers, also where the clock of the database goes back.
constexpr Statement kInsertJobEvents{"events_insert_job_events", R"sql(
    WITH added AS (
        INSERT INTO job_event (job_id, at, state, cause, evidence)
        SELECT e.job_id, greatest(clock_timestamp(), last.at), e.state, e.cause, e.evidence::jsonb
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS e (job_id, state, cause, evidence)
        LEFT JOIN LATERAL (SELECT at FROM job_event WHERE job_id = e.job_id ORDER BY id DESC LIMIT 1) last ON true
        RETURNING id)
    SELECT pg_notify('fathom', 'event ' || max(id)), CASE WHEN $5::boolean THEN pg_notify('fathom', 'route ') END
    FROM added)sql"};

constexpr const char* kSelectJobEvents = R"sql(
    SELECT e.id, e.job_id, e.at, e.state, e.cause, e.evidence::text AS evidence, j.submitted_by, j.project
    FROM job_event e JOIN job j ON j.id = e.job_id
    WHERE e.id > $1 AND e.id <= $6 AND ($2 = '' OR e.job_id = $2) AND )sql" FATHOM_IN_JOB_SCOPE("j", "$3", "$5") R"sql(
    ORDER BY e.id LIMIT $4)sql";

constexpr const char* kSelectVisibleJob =
    "SELECT j.id, j.label, j.submitted_by, j.project FROM job j WHERE j.id = $1 AND " FATHOM_IN_JOB_SCOPE("j", "$2",
                                                                                                          "$3");

// The row after which the first gap among the newest 64 ids opens; without a gap the newest itself.
constexpr const char* kSelectSafeStart = R"sql(
    SELECT coalesce(min(id) FILTER (WHERE next IS NOT NULL AND next > id + 1), max(id), 0)
    FROM (SELECT id, lead(id) OVER (ORDER BY id) AS next
          FROM (SELECT id FROM job_event ORDER BY id DESC LIMIT 64) newest) steps)sql";

constexpr const char* kSelectNewest = "SELECT coalesce(max(id), 0) FROM job_event";

JobEventRecord to_job_event(const pqxx::row& row)
{
    return {.id = row["id"].as<std::int64_t>(),
            .job_id = row["job_id"].as<std::string>(),
            .at = to_timestamp(row["at"]),
            .state = row["state"].as<std::string>(),
            .cause = row["cause"].as<std::string>(),
            .evidence = row["evidence"].as<std::string>(),
            .owner = row["submitted_by"].as<std::string>(),
            .project = row["project"].as<std::string>()};
}

} // namespace

Json to_json(const JobEventRecord& event)
{
    return {{"id", event.id},       {"job_id", event.job_id}, {"at", format_rfc3339(event.at)},
            {"state", event.state}, {"cause", event.cause},   {"evidence", Json::parse(event.evidence)}};
}

void insert_job_events(pqxx::work& transaction, const std::vector<NewJobEvent>& events, bool wakes_router)
{
    SqlArray jobs;
    SqlArray states;
    SqlArray causes;
    SqlArray evidence;
    for (const NewJobEvent& event : events) {
        jobs.add(event.job_id.value);
        states.add(to_string(event.state));
        causes.add(event.cause);
        evidence.add(event.evidence.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    exec(transaction, kInsertJobEvents, jobs.take(), states.take(), causes.take(), evidence.take(), wakes_router);
}

std::vector<JobEventRecord> select_job_events(pqxx::work& transaction, std::int64_t after, std::int64_t limit,
                                              const EventFilter& filter)
{
    std::vector<JobEventRecord> events;
    prefer_index_order(transaction);
    for (const pqxx::row& row : transaction.exec_params(kSelectJobEvents, after, filter.job_id, filter.scope.owner,
                                                        limit, sql_array(filter.scope.projects), filter.max_id))
        events.push_back(to_job_event(row));
    return events;
}

std::int64_t select_newest_event(pqxx::work& transaction)
{
    return transaction.exec1(kSelectNewest)[0].as<std::int64_t>();
}

std::optional<LookedAtJob> select_visible_job(pqxx::transaction_base& transaction, const EventFilter& filter)
{
    const std::string projects = sql_array(filter.scope.projects);
    const pqxx::result rows = transaction.exec_params(kSelectVisibleJob, filter.job_id, filter.scope.owner, projects);
    if (rows.empty()) return std::nullopt;
    const pqxx::row row = rows[0];
    return LookedAtJob{row["id"].as<std::string>(), row["label"].as<std::string>(),
                       row["submitted_by"].as<std::string>(), row["project"].as<std::string>()};
}

std::int64_t select_safe_start(pqxx::work& transaction)
{
    return transaction.exec1(kSelectSafeStart)[0].as<std::int64_t>();
}

} // namespace fathom::server
