#include "server/identity/principal.hpp"

#include <gtest/gtest.h>

#include <iterator>

namespace fathom::server {
namespace {

TEST(Roles, HaveTheirPermissions)
{
    struct Line {
        Permission permission;
        bool viewer, user, expert, network_operator, billing, auditor, admin;
    };
    const Line table[] = {
        {Permission::kReadNetwork, true, true, true, true, true, true, true},
        {Permission::kReadAllJobs, true, false, true, true, true, true, true},
        {Permission::kReadUploads, true, false, true, true, false, true, true},
        {Permission::kReadJobs, true, true, true, true, true, true, true},
        {Permission::kSubmitJobs, false, true, true, true, false, false, true},
        {Permission::kCancelAnyJob, false, false, false, true, false, false, true},
        {Permission::kManageMetering, false, false, true, true, false, false, true},
        {Permission::kManageNetwork, false, false, false, true, false, false, true},
        {Permission::kManageTokens, false, false, false, false, false, false, true},
        {Permission::kManageOperatorKeys, false, false, false, false, false, false, true},
        {Permission::kManageAuthority, false, false, false, false, false, false, true},
        {Permission::kManagePrices, false, false, false, false, true, false, true},
        {Permission::kReadBilling, true, false, true, true, true, true, true},
        {Permission::kManageBilling, false, false, false, false, true, false, true},
        {Permission::kReadAuditLog, false, false, false, false, false, true, true},
    };
    static_assert(std::size(table) == kPermissionCount);
    for (const Line& line : table) {
        SCOPED_TRACE(to_string(line.permission));
        EXPECT_EQ(has_permission(Role::kViewer, line.permission), line.viewer);
        EXPECT_EQ(has_permission(Role::kUser, line.permission), line.user);
        EXPECT_EQ(has_permission(Role::kExpert, line.permission), line.expert);
        EXPECT_EQ(has_permission(Role::kOperator, line.permission), line.network_operator);
        EXPECT_EQ(has_permission(Role::kBilling, line.permission), line.billing);
        EXPECT_EQ(has_permission(Role::kAuditor, line.permission), line.auditor);
        EXPECT_EQ(has_permission(Role::kAdmin, line.permission), line.admin);
    }
}

TEST(Roles, AreReadAndWrittenByName)
{
    EXPECT_EQ(role_names().size(), 7U);
    for (const std::string_view name : role_names())
        EXPECT_EQ(to_string(parse_role(name).value()), name);
    EXPECT_EQ(parse_role("root"), std::nullopt);
    EXPECT_EQ(parse_role(""), std::nullopt);
}

} // namespace
} // namespace fathom::server
