#include "server/routing/project_use/project_use_store.hpp"

#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

#include <algorithm>

namespace fathom::server {
namespace {

constexpr double kSecondsPerHour = 3600;

// When an attempt ended, by our clock: a center's may be ahead or behind.
#define FATHOM_ENDED_AT "least(greatest(a.ended_at, a.dispatched_at, a.created_at), now())"

/// Of what is ten half-lives past a thousandth is left.
constexpr const char* kSelectUses = R"sql(
    SELECT project, unit_type_id, sum(units)::bigint AS units, sum(unit_s) AS unit_s FROM (
        SELECT project, unit_type_id, 0 AS units,
               unit_s * power(2, -(greatest(0, (now() AT TIME ZONE 'UTC')::date - day)) / $1::float8) AS unit_s
        FROM project_use WHERE day > (now() AT TIME ZONE 'UTC')::date - 70
        UNION ALL
        SELECT j.project, a.unit_type_id, 0,
               a.unit_count * coalesce(a.run_s, 0) *
                   power(2, -greatest(0, (now() AT TIME ZONE 'UTC')::date - (e.ended_at AT TIME ZONE 'UTC')::date) /
                            $1::float8)
        FROM attempt a JOIN job j ON j.id = a.job_id
             CROSS JOIN LATERAL (SELECT )sql" FATHOM_ENDED_AT R"sql( AS ended_at) e
        WHERE a.state = 'ended' AND NOT a.counted AND j.label = 'job' AND e.ended_at > now() - interval '70 days'
        UNION ALL
        SELECT j.project, a.unit_type_id, a.unit_count,
               a.unit_count * greatest(0, coalesce(extract(epoch FROM now() - a.started_at), 0))::float8
        FROM attempt a JOIN job j ON j.id = a.job_id WHERE a.state <> 'ended' AND j.label = 'job') use
    GROUP BY project, unit_type_id ORDER BY project, unit_type_id)sql";

// Of what runs: what was predicted, and in the same proportion more for what runs longer than that.
constexpr const char* kSelectMonth = R"sql(
    SELECT use.*, c.name AS center, u.name AS unit_type FROM (
        SELECT project, unit_type_id, sum(units)::bigint AS units, sum(unit_s) AS unit_s,
               sum(score_hours) AS score_hours, sum(unscored_s) AS unscored_s, sum(cost) AS cost FROM (
            SELECT project, unit_type_id, 0 AS units, unit_s, score_hours, 0::float8 AS unscored_s, cost
            FROM project_use
            WHERE project = ANY ($1::text[]) AND day >= date_trunc('month', now() AT TIME ZONE 'UTC')::date
            UNION ALL
            SELECT j.project, a.unit_type_id, 0, a.unit_count * coalesce(a.run_s, 0), 0,
                   a.unit_count * coalesce(a.run_s, 0), coalesce(p.actual_cost, 0)
            FROM attempt a JOIN job j ON j.id = a.job_id LEFT JOIN prediction p ON p.attempt_id = a.id
            WHERE a.state = 'ended' AND NOT a.counted AND j.label = 'job' AND j.project = ANY ($1::text[])
              AND )sql" FATHOM_ENDED_AT R"sql( >= date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
            UNION ALL
            SELECT j.project, a.unit_type_id, a.unit_count, a.unit_count * t.elapsed_s, 0,
                   a.unit_count * greatest(t.elapsed_s, coalesce(p.run_s, 0)),
                   coalesce(p.cost * greatest(1, CASE WHEN p.run_s > 0 THEN t.elapsed_s / p.run_s END), 0)
            FROM job j JOIN attempt a ON a.job_id = j.id AND a.state <> 'ended'
                 LEFT JOIN prediction p ON p.attempt_id = a.id
                 CROSS JOIN LATERAL (SELECT greatest(0, coalesce(extract(epoch FROM now() - a.started_at), 0))::float8
                                            AS elapsed_s) t
            WHERE j.state IN ('placed', 'dispatched', 'running', 'lost') AND j.label = 'job'
              AND j.project = ANY ($1::text[])) part
        GROUP BY project, unit_type_id) use
    JOIN unit_type u ON u.id = use.unit_type_id JOIN center c ON c.id = u.center_id
    ORDER BY c.name, u.name, use.unit_type_id)sql";

// In order of name, else two replicas that lock the same projects would deadlock.
constexpr const char* kLockProjects = R"sql(
    SELECT name FROM project WHERE name = ANY ($1::text[]) ORDER BY name FOR NO KEY UPDATE)sql";

// SKIP LOCKED: two replicas may count at once, each its own.
constexpr const char* kMarkCounted = R"sql(
    WITH ended AS (
        SELECT id FROM attempt WHERE state = 'ended' AND NOT counted ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED),
    marked AS (
        UPDATE attempt a SET counted = true FROM ended WHERE a.id = ended.id
        RETURNING a.id, a.job_id, a.unit_type_id, a.unit_count, a.run_s, )sql" FATHOM_ENDED_AT R"sql( AS ended_at)
    SELECT j.project, (m.ended_at AT TIME ZONE 'UTC')::date::text AS day, m.unit_type_id,
           count(*) AS attempts, coalesce(sum(m.unit_count * m.run_s) FILTER (WHERE j.label = 'job'), 0) AS unit_s,
           coalesce(sum(p.actual_cost) FILTER (WHERE j.label = 'job'), 0) AS cost
    FROM marked m JOIN job j ON j.id = m.job_id LEFT JOIN prediction p ON p.attempt_id = m.id
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3)sql";

constexpr const char* kAddUses = R"sql(
    INSERT INTO project_use (project, day, unit_type_id, unit_s, score_hours, cost)
    SELECT * FROM unnest($1::text[], $2::date[], $3::text[], $4::float8[], $5::float8[], $6::float8[])
    ON CONFLICT (project, day, unit_type_id) DO UPDATE SET unit_s = project_use.unit_s + excluded.unit_s,
        score_hours = project_use.score_hours + excluded.score_hours, cost = project_use.cost + excluded.cost)sql";

double score_hours(double unit_s, double score)
{
    return unit_s / kSecondsPerHour * score / 1000;
}

struct MonthRow {
    std::string project;
    UnitTypeUse use;
};

std::vector<MonthRow> select_month(pqxx::work& transaction, const std::vector<std::string>& projects,
                                   const ScoreOf& score_of)
{
    std::vector<MonthRow> rows;
    for (const pqxx::row& row : transaction.exec_params(kSelectMonth, sql_array(projects))) {
        MonthRow one;
        one.project = row["project"].as<std::string>();
        one.use.center = row["center"].as<std::string>();
        one.use.unit_type = row["unit_type"].as<std::string>();
        one.use.unit_type_id = row["unit_type_id"].as<std::string>();
        one.use.units = row["units"].as<std::int64_t>();
        one.use.unit_s = row["unit_s"].as<double>();
        one.use.score_hours = row["score_hours"].as<double>() +
                              score_hours(row["unscored_s"].as<double>(), score_of(one.use.unit_type_id));
        one.use.cost = row["cost"].as<double>();
        rows.push_back(std::move(one));
    }
    return rows;
}

} // namespace

std::vector<ProjectUse> select_project_uses(pqxx::work& transaction)
{
    constexpr double kHalfLifeDays = Seconds(kUseHalfLife).count() / 86400;
    std::vector<ProjectUse> uses;
    for (const pqxx::row& row : transaction.exec_params(kSelectUses, kHalfLifeDays)) {
        const auto project = row["project"].as<std::string>();
        if (uses.empty() || uses.back().project != project)
            uses.push_back({.project = project, .used_unit_s = {}, .units = {}});
        const auto unit_type = row["unit_type_id"].as<std::string>();
        if (const auto unit_s = row["unit_s"].as<double>(); unit_s > 0) uses.back().used_unit_s[unit_type] = unit_s;
        if (const auto units = row["units"].as<std::int64_t>(); units > 0) uses.back().units[unit_type] = units;
    }
    return uses;
}

QuotaUses select_quota_uses(pqxx::work& transaction, const std::vector<std::string>& projects, const ScoreOf& score_of)
{
    QuotaUses uses;
    if (projects.empty()) return uses;
    for (const MonthRow& row : select_month(transaction, projects, score_of)) {
        QuotaUse& use = uses[row.project];
        use.units += row.use.units;
        use.score_hours += row.use.score_hours;
        use.cost += row.use.cost;
    }
    return uses;
}

void lock_projects(pqxx::work& transaction, const std::vector<std::string>& projects)
{
    if (!projects.empty()) transaction.exec_params(kLockProjects, sql_array(projects));
}

std::int64_t count_ended_attempts(pqxx::work& transaction, const ScoreOf& score_of, std::int64_t most)
{
    SqlArray projects;
    SqlArray days;
    SqlArray unit_types;
    SqlArray unit_seconds;
    SqlArray hours;
    SqlArray costs;
    std::int64_t attempts = 0;
    for (const pqxx::row& row : transaction.exec_params(kMarkCounted, most)) {
        attempts += row["attempts"].as<std::int64_t>();
        const auto unit_s = row["unit_s"].as<double>();
        const auto cost = row["cost"].as<double>();
        if (unit_s <= 0 && cost <= 0) continue;
        const auto unit_type = row["unit_type_id"].as<std::string>();
        projects.add(row["project"].as<std::string>());
        days.add(row["day"].as<std::string>());
        unit_types.add(unit_type);
        unit_seconds.add(unit_s);
        hours.add(score_hours(unit_s, score_of(unit_type)));
        costs.add(cost);
    }
    if (attempts > 0)
        transaction.exec_params0(kAddUses, projects.take(), days.take(), unit_types.take(), unit_seconds.take(),
                                 hours.take(), costs.take());
    return attempts;
}

std::vector<UnitTypeUse> select_month_use(pqxx::work& transaction, const std::string& project, const ScoreOf& score_of)
{
    std::vector<UnitTypeUse> uses;
    for (MonthRow& row : select_month(transaction, {project}, score_of))
        uses.push_back(std::move(row.use));
    return uses;
}

} // namespace fathom::server
