#pragma once

#include "core/base/id.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

/// admin: everything. operator: what expert may, and the network: centers, their agents, anybody's jobs to cancel.
/// expert: operators, probe tasks, policies, probe runs, and all jobs to read. billing: what was used, prices and
/// months. auditor: what viewer may, and the audit log. user: own jobs. viewer: reads everything but tokens and the
/// audit log.
enum class Role { kViewer, kUser, kExpert, kOperator, kBilling, kAuditor, kAdmin };
std::string_view to_string(Role role);
/// The names of all roles.
std::vector<std::string_view> role_names();
std::optional<Role> parse_role(std::string_view text);

/// What a route needs. The table of who has what is in principal.cpp and nowhere else.
enum class Permission {
    kReadNetwork, ///< centers, unit types, operators, tasks, runs, scores, policies
    kReadAllJobs, ///< also other people's
    kReadUploads, ///< the code of uploaded operators
    kReadJobs,    ///< own
    kSubmitJobs,  ///< submit, and cancel own
    kCancelAnyJob,
    kManageMetering, ///< operators, probe tasks, probe runs, policies
    kManageNetwork,  ///< enrolment tokens, centers, drain
    kManageTokens,
    kManageOperatorKeys, ///< whose uploaded operators run at the centers
    kManageAuthority,    ///< which certificate authority the network trusts
    kManagePrices,       ///< price books
    kReadBilling,        ///< usage, statements and exports of all projects, and the ledger
    kManageBilling,      ///< close months
    kReadAuditLog,
};
inline constexpr std::size_t kPermissionCount = static_cast<std::size_t>(Permission::kReadAuditLog) + 1;
std::string_view to_string(Permission permission);
bool has_permission(Role role, Permission permission);
/// In the order of the enumeration.
std::vector<Permission> permissions_of(Role role);

/// What a member of a project may do there, whatever its role. viewer: see all jobs of the project. submitter: submit
/// to it. lead: both, cancel its jobs, read what it is billed, and let viewers and submitters in.
enum class ProjectRole { kViewer, kSubmitter, kLead };
std::string_view to_string(ProjectRole role);
/// The names of all of them.
std::vector<std::string_view> project_role_names();
std::optional<ProjectRole> parse_project_role(std::string_view text);

/// Who calls.
struct Principal {
    TokenId token_id;
    std::string name;
    Role role{Role::kViewer};
    /// Projects of which it sees more than its own jobs, with its role there: viewer or lead.
    std::map<std::string, ProjectRole, std::less<>> projects{};
};

bool is_lead_of(const Principal& principal, std::string_view project);
bool leads_some_project(const Principal& principal);

} // namespace fathom::server
