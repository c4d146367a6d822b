#include "server/identity/job_scope.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

/// What it sees whatever its role.
JobScope own_scope_of(const Principal& principal)
{
    JobScope scope;
    scope.owner = principal.token_id.value;
    for (const auto& [project, role] : principal.projects)
        if (role != ProjectRole::kSubmitter) scope.projects.push_back(project);
    return scope;
}

} // namespace

bool JobScope::includes(std::string_view submitted_by, std::string_view project) const
{
    return owner.empty() || submitted_by == owner ||
           std::find(projects.begin(), projects.end(), project) != projects.end();
}

JobScope job_scope_of(const Principal& principal)
{
    return has_permission(principal.role, Permission::kReadAllJobs) ? JobScope() : own_scope_of(principal);
}

bool sees_by_role_alone(const Principal& principal, std::string_view submitted_by, std::string_view project)
{
    return has_permission(principal.role, Permission::kReadAllJobs) &&
           !own_scope_of(principal).includes(submitted_by, project);
}

bool may_cancel_job(const Principal& principal, std::string_view submitted_by, std::string_view project)
{
    return submitted_by == principal.token_id.value || is_lead_of(principal, project) ||
           has_permission(principal.role, Permission::kCancelAnyJob);
}

} // namespace fathom::server
