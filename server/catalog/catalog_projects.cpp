#include "server/catalog/catalog_projects.hpp"

#include "core/model/money.hpp"
#include "server/store/column.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kSelectProjectRules = R"sql(
    SELECT name, share, max_units, max_score_hours, max_cost_micros, to_jsonb(centers) AS center_names
    FROM project)sql";

constexpr const char* kSelectProjectMembers = "SELECT project, token_id FROM project_member WHERE role <> 'viewer'";

} // namespace

ProjectRulesByName select_project_rules(pqxx::work& transaction)
{
    ProjectRulesByName rules;
    for (const pqxx::row& row : transaction.exec(kSelectProjectRules)) {
        ProjectRules& one = rules[row["name"].as<std::string>()];
        one.share = row["share"].as<double>();
        one.quota.max_units = row["max_units"].as<std::int64_t>();
        one.quota.max_score_hours = row["max_score_hours"].as<double>();
        one.quota.max_cost = Money{row["max_cost_micros"].as<std::int64_t>(), {}}.amount();
        one.centers = to_json_value(row["center_names"]).get<std::vector<std::string>>();
    }
    return rules;
}

ProjectMembers select_project_members(pqxx::work& transaction)
{
    ProjectMembers members;
    for (const pqxx::row& row : transaction.exec(kSelectProjectMembers))
        members[row["project"].as<std::string>()].insert(row["token_id"].as<std::string>());
    return members;
}

const ProjectRules& find_rules(const ProjectRulesByName& rules, std::string_view project)
{
    static const ProjectRules defaults;
    const auto found = rules.find(project);
    return found == rules.end() ? defaults : found->second;
}

void apply_rules(const ProjectRules& rules, RouteRequest& request)
{
    request.project_centers = rules.centers;
    request.quota = rules.quota;
}

} // namespace fathom::server
