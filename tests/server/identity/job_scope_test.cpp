#include "server/identity/job_scope.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

Principal member(Role role, std::map<std::string, ProjectRole, std::less<>> projects)
{
    return {.token_id = TokenId{"tok_me"}, .name = "me", .role = role, .projects = std::move(projects)};
}

TEST(JobScope, OfAUserHasItsOwnJobsAndThoseOfProjectsThatItViewsOrLeads)
{
    const JobScope scope = job_scope_of(
        member(Role::kUser,
               {{"viewed", ProjectRole::kViewer}, {"led", ProjectRole::kLead}, {"joined", ProjectRole::kSubmitter}}));

    EXPECT_TRUE(scope.includes("tok_me", "any"));
    EXPECT_TRUE(scope.includes("tok_other", "viewed"));
    EXPECT_TRUE(scope.includes("tok_other", "led"));
    EXPECT_FALSE(scope.includes("tok_other", "joined"));
    EXPECT_FALSE(scope.includes("tok_other", "view"));
    EXPECT_FALSE(scope.includes("", ""));
}

TEST(JobScope, OfWhoReadsAllJobsIsEverything)
{
    for (const Role role :
         {Role::kViewer, Role::kExpert, Role::kOperator, Role::kBilling, Role::kAuditor, Role::kAdmin})
        EXPECT_TRUE(job_scope_of(member(role, {})).includes("tok_other", "any")) << to_string(role);
    EXPECT_FALSE(job_scope_of(member(Role::kUser, {})).includes("tok_other", "any"));
}

TEST(JobScope, TellsWhatIsSeenByTheRoleAlone)
{
    const std::map<std::string, ProjectRole, std::less<>> projects{{"viewed", ProjectRole::kViewer},
                                                                   {"joined", ProjectRole::kSubmitter}};
    const Principal admin = member(Role::kAdmin, projects);

    EXPECT_TRUE(sees_by_role_alone(admin, "tok_other", "any"));
    EXPECT_TRUE(sees_by_role_alone(admin, "tok_other", "joined"));
    EXPECT_FALSE(sees_by_role_alone(admin, "tok_other", "viewed"));
    EXPECT_FALSE(sees_by_role_alone(admin, "tok_me", "any"));
    EXPECT_FALSE(sees_by_role_alone(member(Role::kUser, projects), "tok_other", "any")) << "it does not see that";
}

TEST(JobScope, LeadsCancelTheirProjectsJobsAndViewersNone)
{
    const Principal lead = member(Role::kUser, {{"led", ProjectRole::kLead}, {"viewed", ProjectRole::kViewer}});

    EXPECT_TRUE(may_cancel_job(lead, "tok_me", "any"));
    EXPECT_TRUE(may_cancel_job(lead, "tok_other", "led"));
    EXPECT_FALSE(may_cancel_job(lead, "tok_other", "viewed"));
    EXPECT_FALSE(may_cancel_job(lead, "tok_other", "any"));
    EXPECT_TRUE(may_cancel_job(member(Role::kOperator, {}), "tok_other", "any"));
    EXPECT_FALSE(may_cancel_job(member(Role::kViewer, {}), "tok_other", "any"));
}

TEST(ProjectRole, IsReadAndWrittenByName)
{
    EXPECT_EQ(project_role_names().size(), 3U);
    for (const std::string_view name : project_role_names())
        EXPECT_EQ(to_string(parse_project_role(name).value()), name);
    EXPECT_EQ(parse_project_role("admin"), std::nullopt);
}

} // namespace
} // namespace fathom::server
