#include "server/identity/principal.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

TEST(Roles, HaveTheirPermissions)
{
    struct Line {
        Permission permission;
        bool viewer, user, expert, admin;
    };
    const Line table[] = {
        {Permission::kReadNetwork, true, true, true, true},
        {Permission::kReadAllJobs, true, false, true, true},
        {Permission::kReadJobs, true, true, true, true},
        {Permission::kSubmitJobs, false, true, true, true},
        {Permission::kCancelAnyJob, false, false, false, true},
        {Permission::kManageMetering, false, false, true, true},
        {Permission::kManageNetwork, false, false, false, true},
        {Permission::kManageTokens, false, false, false, true},
        {Permission::kManageOperatorKeys, false, false, false, true},
        {Permission::kManagePrices, false, false, false, true},
        {Permission::kReadBilling, true, false, true, true},
        {Permission::kManageBilling, false, false, false, true},
    };
    for (const Line& line : table) {
        EXPECT_EQ(has_permission(Role::kViewer, line.permission), line.viewer);
        EXPECT_EQ(has_permission(Role::kUser, line.permission), line.user);
        EXPECT_EQ(has_permission(Role::kExpert, line.permission), line.expert);
        EXPECT_EQ(has_permission(Role::kAdmin, line.permission), line.admin);
    }
}

TEST(Roles, AreReadAndWrittenByName)
{
    for (const Role role : {Role::kViewer, Role::kUser, Role::kExpert, Role::kAdmin})
        EXPECT_EQ(parse_role(to_string(role)), role);
    EXPECT_EQ(parse_role("root"), std::nullopt);
    EXPECT_EQ(parse_role(""), std::nullopt);
}

} // namespace
} // namespace fathom::server
