#include "server/projects/projects_store.hpp"

#include "core/model/money.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kSelectProject = "SELECT *, to_jsonb(centers) AS center_names FROM project WHERE name = $1";
constexpr const char* kLockProject =
    "SELECT *, to_jsonb(centers) AS center_names FROM project WHERE name = $1 FOR UPDATE";
constexpr const char* kSelectProjects =
    "SELECT *, to_jsonb(centers) AS center_names FROM project WHERE name > $1 ORDER BY name LIMIT $2";

constexpr const char* kUpsertProject = R"sql(
    INSERT INTO project (name, profile_jobs, changed_by, share, max_units, max_score_hours, max_cost_micros, centers)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text[])
    ON CONFLICT (name) DO UPDATE SET profile_jobs = excluded.profile_jobs, changed_by = excluded.changed_by,
        share = excluded.share, max_units = excluded.max_units, max_score_hours = excluded.max_score_hours,
        max_cost_micros = excluded.max_cost_micros, centers = excluded.centers,
        changed_at = now(), version = project.version + 1
    RETURNING *, to_jsonb(centers) AS center_names)sql";

constexpr const char* kSelectCenterNames =
    "SELECT name FROM center WHERE revoked_at IS NULL ORDER BY name COLLATE \"C\"";

ProjectRecord to_project(const pqxx::row& row)
{
    return {.name = row["name"].as<std::string>(),
            .profile_jobs = row["profile_jobs"].as<bool>(),
            .share = row["share"].as<double>(),
            .max_units = row["max_units"].as<std::int64_t>(),
            .max_score_hours = row["max_score_hours"].as<double>(),
            .max_cost_micros = row["max_cost_micros"].as<std::int64_t>(),
            .centers = to_json_value(row["center_names"]).get<std::vector<std::string>>(),
            .version = row["version"].as<std::int64_t>(),
            .changed_at = to_timestamp(row["changed_at"]),
            .changed_by = row["changed_by"].as<std::string>()};
}

std::optional<ProjectRecord> first_project(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    return to_project(rows[0]);
}

} // namespace

std::optional<ProjectRecord> select_project(pqxx::work& transaction, const std::string& name)
{
    return first_project(transaction.exec_params(kSelectProject, name));
}

std::optional<ProjectRecord> lock_project(pqxx::work& transaction, const std::string& name)
{
    return first_project(transaction.exec_params(kLockProject, name));
}

ProjectRecord upsert_project(pqxx::work& transaction, const ProjectRecord& project)
{
    return to_project(transaction.exec_params1(kUpsertProject, project.name, project.profile_jobs, project.changed_by,
                                               project.share, project.max_units, project.max_score_hours,
                                               project.max_cost_micros, sql_array(project.centers)));
}

Page<ProjectRecord> select_projects(pqxx::work& transaction, std::int64_t size, const std::string& after)
{
    std::vector<ProjectRecord> projects;
    for (const pqxx::row& row : transaction.exec_params(kSelectProjects, after, size + 1))
        projects.push_back(to_project(row));
    return cut_page(std::move(projects), size, [](const ProjectRecord& project) { return project.name; });
}

std::vector<std::string> select_center_names(pqxx::work& transaction)
{
    std::vector<std::string> names;
    for (const pqxx::row& row : transaction.exec(kSelectCenterNames))
        names.push_back(row[0].as<std::string>());
    return names;
}

Json to_json(const ProjectRecord& project)
{
    return {{"name", project.name},
            {"profile_jobs", project.profile_jobs},
            {"share", project.share},
            {"max_units", project.max_units},
            {"max_score_hours", project.max_score_hours},
            {"max_cost", format_amount(project.max_cost_micros)},
            {"centers", project.centers},
            {"version", project.version},
            {"changed_at", format_rfc3339(project.changed_at)},
            {"changed_by", project.changed_by}};
}

} // namespace fathom::server
