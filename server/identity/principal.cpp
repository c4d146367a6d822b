#include "server/identity/principal.hpp"

#include <algorithm>
#include <array>

namespace fathom::server {
namespace {

constexpr std::array<std::string_view, 7> kRoleNames{"viewer",  "user",    "expert", "operator",
                                                     "billing", "auditor", "admin"}; // order of Role
constexpr std::array<std::string_view, kPermissionCount> kPermissionNames{
    "read_network",     "read_all_jobs",   "read_uploads",   "read_jobs",      "submit_jobs",
    "cancel_any_job",   "manage_metering", "manage_network", "manage_tokens",  "manage_operator_keys",
    "manage_authority", "manage_prices",   "read_billing",   "manage_billing", "read_audit_log"}; // order of Permission

constexpr std::array<std::string_view, 3> kProjectRoleNames{"viewer", "submitter", "lead"}; // order of ProjectRole

using Set = unsigned;
constexpr Set bit(Permission permission)
{
    return 1U << static_cast<unsigned>(permission);
}

constexpr Set kViewer = bit(Permission::kReadNetwork) | bit(Permission::kReadJobs) | bit(Permission::kReadAllJobs) |
                        bit(Permission::kReadUploads) | bit(Permission::kReadBilling);
constexpr Set kUser = bit(Permission::kReadNetwork) | bit(Permission::kReadJobs) | bit(Permission::kSubmitJobs);
constexpr Set kExpert = kViewer | kUser | bit(Permission::kManageMetering);
constexpr Set kOperator = kExpert | bit(Permission::kCancelAnyJob) | bit(Permission::kManageNetwork);
constexpr Set kBilling = bit(Permission::kReadNetwork) | bit(Permission::kReadJobs) | bit(Permission::kReadAllJobs) |
                         bit(Permission::kReadBilling) | bit(Permission::kManagePrices) |
                         bit(Permission::kManageBilling);
constexpr Set kAuditor = kViewer | bit(Permission::kReadAuditLog);
constexpr Set kAdmin = kOperator | kBilling | kAuditor | bit(Permission::kManageTokens) |
                       bit(Permission::kManageOperatorKeys) | bit(Permission::kManageAuthority);

Set set_of(Role role)
{
    switch (role) {
    case Role::kViewer:
        return kViewer;
    case Role::kUser:
        return kUser;
    case Role::kExpert:
        return kExpert;
    case Role::kOperator:
        return kOperator;
    case Role::kBilling:
        return kBilling;
    case Role::kAuditor:
        return kAuditor;
    case Role::kAdmin:
        return kAdmin;
    }
    return 0;
}

} // namespace

std::string_view to_string(Role role)
{
    return kRoleNames.at(static_cast<std::size_t>(role));
}

std::vector<std::string_view> role_names()
{
    return {kRoleNames.begin(), kRoleNames.end()};
}

std::optional<Role> parse_role(std::string_view text)
{
    for (std::size_t i = 0; i < kRoleNames.size(); ++i)
        if (kRoleNames[i] == text) return static_cast<Role>(i);
    return std::nullopt;
}

bool has_permission(Role role, Permission permission)
{
    return (set_of(role) & bit(permission)) != 0;
}

std::string_view to_string(Permission permission)
{
    return kPermissionNames.at(static_cast<std::size_t>(permission));
}

std::vector<Permission> permissions_of(Role role)
{
    std::vector<Permission> permissions;
    for (std::size_t i = 0; i < kPermissionCount; ++i)
        if (has_permission(role, static_cast<Permission>(i))) permissions.push_back(static_cast<Permission>(i));
    return permissions;
}

std::string_view to_string(ProjectRole role)
{
    return kProjectRoleNames.at(static_cast<std::size_t>(role));
}

std::vector<std::string_view> project_role_names()
{
    return {kProjectRoleNames.begin(), kProjectRoleNames.end()};
}

std::optional<ProjectRole> parse_project_role(std::string_view text)
{
    for (std::size_t i = 0; i < kProjectRoleNames.size(); ++i)
        if (kProjectRoleNames[i] == text) return static_cast<ProjectRole>(i);
    return std::nullopt;
}

bool is_lead_of(const Principal& principal, std::string_view project)
{
    const auto found = principal.projects.find(project);
    return found != principal.projects.end() && found->second == ProjectRole::kLead;
}

bool leads_some_project(const Principal& principal)
{
    return std::any_of(principal.projects.begin(), principal.projects.end(),
                       [](const auto& entry) { return entry.second == ProjectRole::kLead; });
}

} // namespace fathom::server
