#include "server/jobs/projects_store.hpp"

#include "server/store/column.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kSelectProject = "SELECT * FROM project WHERE name = $1";
constexpr const char* kLockProject = "SELECT * FROM project WHERE name = $1 FOR UPDATE";
constexpr const char* kSelectProjects = "SELECT * FROM project WHERE name > $1 ORDER BY name LIMIT $2";

constexpr const char* kUpsertProject = R"sql(
    INSERT INTO project (name, profile_jobs, changed_by) VALUES ($1, $2, $3)
    ON CONFLICT (name) DO UPDATE SET profile_jobs = excluded.profile_jobs, changed_by = excluded.changed_by,
        changed_at = now(), version = project.version + 1
    RETURNING *)sql";

ProjectRecord to_project(const pqxx::row& row)
{
    return {.name = row["name"].as<std::string>(),
            .profile_jobs = row["profile_jobs"].as<bool>(),
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
    return to_project(transaction.exec_params1(kUpsertProject, project.name, project.profile_jobs, project.changed_by));
}

Page<ProjectRecord> select_projects(pqxx::work& transaction, std::int64_t size, const std::string& after)
{
    std::vector<ProjectRecord> projects;
    for (const pqxx::row& row : transaction.exec_params(kSelectProjects, after, size + 1))
        projects.push_back(to_project(row));
    return cut_page(std::move(projects), size, [](const ProjectRecord& project) { return project.name; });
}

Json to_json(const ProjectRecord& project)
{
    return {{"name", project.name},
            {"profile_jobs", project.profile_jobs},
            {"version", project.version},
            {"changed_at", format_rfc3339(project.changed_at)},
            {"changed_by", project.changed_by}};
}

} // namespace fathom::server
