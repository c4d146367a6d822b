#include "server/projects/project_members_store.hpp"

#include "server/store/column.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kFindTokens = R"sql(
    SELECT id FROM api_token
    WHERE (id = $1 OR (name = $1 AND NOT EXISTS (SELECT 1 FROM api_token WHERE id = $1)))
      AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
    ORDER BY id LIMIT 2)sql";

constexpr const char* kAddProject =
    "INSERT INTO project (name, changed_by) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
constexpr const char* kLockProjectOfMembers = "SELECT 1 FROM project WHERE name = $1 FOR NO KEY UPDATE";

constexpr const char* kUpsertMember = R"sql(
    INSERT INTO project_member (project, token_id, role, reserve_unit_hours, added_by) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (project, token_id)
    DO UPDATE SET role = excluded.role, reserve_unit_hours = excluded.reserve_unit_hours)sql";

// Literals, so that statements are joined by the compiler and stay constants.
#define FATHOM_SELECT_MEMBERS                                                                                          \
    "SELECT m.*, t.name, t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now()) AS is_usable "        \
    "FROM project_member m JOIN api_token t ON t.id = m.token_id WHERE m.project = $1 "

constexpr const char* kSelectMember = FATHOM_SELECT_MEMBERS "AND m.token_id = $2";
constexpr const char* kFindMembers = FATHOM_SELECT_MEMBERS
    "AND (m.token_id = $2 OR (t.name = $2 AND NOT EXISTS "
    "(SELECT 1 FROM project_member WHERE project = $1 AND token_id = $2))) ORDER BY m.token_id LIMIT 2";
constexpr const char* kSelectMembers = FATHOM_SELECT_MEMBERS "AND m.token_id > $2 ORDER BY m.token_id LIMIT $3";

constexpr const char* kCountSubmitters = "SELECT count(*) FROM project_member WHERE project = $1 AND role <> 'viewer'";
constexpr const char* kDeleteMember = "DELETE FROM project_member WHERE project = $1 AND token_id = $2";

ProjectMember to_member(const pqxx::row& row)
{
    return {.project = row["project"].as<std::string>(),
            .token_id = row["token_id"].as<std::string>(),
            .name = row["name"].as<std::string>(),
            .role = parse_project_role(row["role"].as<std::string>()).value_or(ProjectRole::kViewer), // it has a CHECK
            .is_usable = row["is_usable"].as<bool>(),
            .reserve_unit_hours = row["reserve_unit_hours"].as<double>(),
            .added_at = to_timestamp(row["added_at"]),
            .added_by = row["added_by"].as<std::string>()};
}

std::vector<ProjectMember> to_members(const pqxx::result& rows)
{
    std::vector<ProjectMember> members;
    for (const pqxx::row& row : rows)
        members.push_back(to_member(row));
    return members;
}

} // namespace

std::vector<std::string> find_usable_tokens(pqxx::work& transaction, const std::string& id_or_name)
{
    std::vector<std::string> ids;
    for (const pqxx::row& row : transaction.exec_params(kFindTokens, id_or_name))
        ids.push_back(row[0].as<std::string>());
    return ids;
}

void lock_project_of_members(pqxx::work& transaction, const std::string& project, const std::string& actor)
{
    transaction.exec_params0(kAddProject, project, actor);
    transaction.exec_params1(kLockProjectOfMembers, project);
}

void upsert_member(pqxx::work& transaction, const ProjectMember& member)
{
    transaction.exec_params0(kUpsertMember, member.project, member.token_id, std::string(to_string(member.role)),
                             member.reserve_unit_hours, member.added_by);
}

std::optional<ProjectMember> select_member(pqxx::work& transaction, const std::string& project,
                                           const std::string& token_id)
{
    const pqxx::result rows = transaction.exec_params(kSelectMember, project, token_id);
    if (rows.empty()) return std::nullopt;
    return to_member(rows[0]);
}

std::vector<ProjectMember> find_members(pqxx::work& transaction, const std::string& project,
                                        const std::string& id_or_name)
{
    return to_members(transaction.exec_params(kFindMembers, project, id_or_name));
}

std::int64_t count_submitters(pqxx::work& transaction, const std::string& project)
{
    return transaction.exec_params1(kCountSubmitters, project)[0].as<std::int64_t>();
}

void delete_member(pqxx::work& transaction, const std::string& project, const std::string& token_id)
{
    transaction.exec_params0(kDeleteMember, project, token_id);
}

Page<ProjectMember> select_members(pqxx::work& transaction, const std::string& project, std::int64_t size,
                                   const std::string& after)
{
    return cut_page(to_members(transaction.exec_params(kSelectMembers, project, after, size + 1)), size,
                    [](const ProjectMember& member) { return member.token_id; });
}

Json to_json(const ProjectMember& member)
{
    return {{"project", member.project},
            {"token_id", member.token_id},
            {"name", member.name},
            {"role", to_string(member.role)},
            {"usable", member.is_usable},
            {"reserve_unit_hours", member.reserve_unit_hours},
            {"added_at", format_rfc3339(member.added_at)},
            {"added_by", member.added_by}};
}

} // namespace fathom::server
