#pragma once

#include "core/decide/queue/fair_share.hpp"
#include "core/decide/routing/route.hpp"
#include "server/store/transaction.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace fathom::server {

/// What a project may take of the network; the defaults are those of a project without settings.
struct ProjectRules {
    double share{1};
    Quota quota;
    std::vector<std::string> centers; ///< names of those that its jobs may run at; empty: all

    bool has_quota() const { return quota.is_limited(); }
};
using ProjectRulesByName = std::map<std::string, ProjectRules, std::less<>>; ///< those with settings

/// Submitters and leads of projects; projects that are not there are open to everybody.
using ProjectMembers = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

/// Blocks; pqxx's exceptions pass through.
ProjectRulesByName select_project_rules(pqxx::work& transaction);

/// Blocks; pqxx's exceptions pass through.
ProjectMembers select_project_members(pqxx::work& transaction);

/// The rules of a project; the defaults where it has none.
const ProjectRules& find_rules(const ProjectRulesByName& rules, std::string_view project);

/// Puts what its project may take into a request; what the project has used is another matter.
void apply_rules(const ProjectRules& rules, RouteRequest& request);

} // namespace fathom::server
