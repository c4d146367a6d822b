#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {
namespace {

using testing::HasSubstr;

/// ada leads materials, tom sees it, bob submits to it; eve is nobody there.
class ProjectRoles : public JobsFixture {
  protected:
    ProjectRoles()
    {
        add_center("alpha", 8);
        for (const std::string name : {"ada", "tom", "bob", "eve"})
            users_[name] = add_token(name, Role::kUser);
        EXPECT_EQ(put("ada", {{"role", "lead"}}).status, 200);
        EXPECT_EQ(put("tom", {{"role", "viewer"}}).status, 200);
        EXPECT_EQ(put("bob").status, 200);
        reload_catalog();
        identity_.forget_known();
        bobs_ = submit(spec({{"name", "bobs"}, {"project", "materials"}}), users_.at("bob"));
        elsewhere_ = submit(spec({{"name", "elsewhere"}, {"project", "physics"}}), users_.at("bob"));
    }

    net::Response put(const std::string& member, const Json& body = Json::object(), const std::string& user = "admin",
                      const std::string& project = "materials")
    {
        const net::Response response =
            call(net::Method::kPut, "/projects/" + project + "/members/" + member, body.dump(), {}, user);
        identity_.forget_known(); // as the wake-up "identity" does, for which nobody listens here
        return response;
    }
    net::Response remove(const std::string& member, const std::string& user, const std::string& query = "")
    {
        const net::Response response =
            call(net::Method::kDelete, "/projects/materials/members/" + member + query, "", {}, user);
        identity_.forget_known();
        return response;
    }
    net::Response get(const std::string& target, const std::string& user)
    {
        return call(net::Method::kGet, target, "", {}, user);
    }
    std::vector<std::string> names(const std::string& target, const std::string& user)
    {
        const Json page = Json::parse(get(target, user).body);
        std::vector<std::string> found;
        for (const Json& job : page["items"])
            found.push_back(job["name"].get<std::string>());
        return found;
    }

    std::map<std::string, Principal> users_;
    JobId bobs_;
    JobId elsewhere_;
};

TEST_F(ProjectRoles, LeadsAndViewersSeeAllJobsOfTheProjectAndNoOthers)
{
    const std::vector<std::string> only_bobs{"bobs"};
    for (const std::string user : {"ada", "tom"}) {
        SCOPED_TRACE(user);
        EXPECT_EQ(names("/jobs", user), only_bobs);
        EXPECT_EQ(names("/jobs?project=physics", user), std::vector<std::string>());
        for (const std::string path : {"", "/events", "/logs/stdout", "/placement", "/operators"}) {
            EXPECT_EQ(get("/jobs/" + bobs_.value + path, user).status, 200) << path;
            EXPECT_EQ(get("/jobs/" + elsewhere_.value + path, user).status, 404) << path;
        }
    }
    EXPECT_EQ(names("/jobs", "bob"), (std::vector<std::string>{"elsewhere", "bobs"}));
    EXPECT_EQ(names("/jobs", "eve"), std::vector<std::string>());
}

TEST_F(ProjectRoles, ASubmitterSeesOnlyItsOwnJobs)
{
    ASSERT_EQ(put("eve").status, 200);
    reload_catalog();
    submit(spec({{"name", "eves"}, {"project", "materials"}}), users_.at("eve"));

    EXPECT_EQ(names("/jobs", "eve"), std::vector<std::string>{"eves"});
    EXPECT_EQ(get("/jobs/" + bobs_.value, "eve").status, 404);
}

TEST_F(ProjectRoles, LeadsCancelJobsOfTheProject)
{
    const auto cancel = [&](const JobId& job, const std::string& user) {
        return call(net::Method::kPost, "/jobs/" + job.value + ":cancel", "", {}, user).status;
    };

    EXPECT_EQ(cancel(bobs_, "eve"), 404);
    EXPECT_EQ(cancel(bobs_, "tom"), 403);
    EXPECT_EQ(cancel(elsewhere_, "ada"), 404);
    EXPECT_EQ(cancel(bobs_, "ada"), 202);

    EXPECT_EQ(sql("SELECT actor || ' ' || subject FROM audit_log WHERE action = 'job.cancel'"),
              users_.at("ada").token_id.value + " " + bobs_.value);
}

TEST_F(ProjectRoles, ViewersDoNotSubmitAndOpenOrCloseNoProject)
{
    const auto submits = [&](const std::string& user, const std::string& project) {
        return call(net::Method::kPost, "/jobs", spec({{"project", project}}).dump(), {}, user).status;
    };
    ASSERT_EQ(put("tom", {{"role", "viewer"}}, "admin", "physics").status, 200);
    reload_catalog();

    EXPECT_EQ(submits("tom", "materials"), 403);
    EXPECT_EQ(submits("ada", "materials"), 201);
    EXPECT_EQ(submits("eve", "materials"), 403);
    EXPECT_EQ(submits("eve", "physics"), 201) << "a viewer alone closes no project";
    EXPECT_EQ(put("tom", {{"role", "viewer"}, {"reserve_unit_hours", 1}}).status, 400);
    EXPECT_EQ(put("tom", {{"role", "king"}}).status, 400);
}

TEST_F(ProjectRoles, LeadsLetViewersAndSubmittersInAndNobodyElse)
{
    EXPECT_EQ(Json::parse(get("/projects/materials/members", "ada").body)["items"].size(), 3U);
    EXPECT_EQ(put("eve", {{"role", "viewer"}}, "ada").status, 200);
    EXPECT_EQ(put("eve", Json::object(), "ada").status, 200);
    EXPECT_EQ(remove("eve", "ada").status, 200);
    for (const std::string user : {"tom", "bob", "eve"}) {
        EXPECT_EQ(put("eve", Json::object(), user).status, 403) << user;
        EXPECT_EQ(remove("bob", user).status, 403) << user;
        EXPECT_EQ(get("/projects/materials/members", user).status, 403) << user;
    }
    EXPECT_EQ(put("eve", Json::object(), "ada", "physics").status, 403) << "another project";
    EXPECT_EQ(get("/projects/physics/members", "ada").status, 403);
    EXPECT_EQ(sql("SELECT detail->>'role' FROM audit_log WHERE action = 'project_member.put' AND actor = '" +
                  users_.at("ada").token_id.value + "' ORDER BY id DESC LIMIT 1"),
              "submitter");
}

TEST_F(ProjectRoles, WhoLeadsAndWhatIsReservedIsForWhoManagesTheNetwork)
{
    ASSERT_EQ(put("bob", {{"reserve_unit_hours", 500}}).status, 200);

    EXPECT_EQ(put("eve", {{"role", "lead"}}, "ada").status, 403);
    EXPECT_EQ(put("ada", {{"role", "viewer"}}, "ada").status, 403);
    EXPECT_EQ(remove("ada", "ada").status, 403);
    EXPECT_EQ(put("bob", {{"reserve_unit_hours", 1000}}, "ada").status, 403);
    EXPECT_EQ(Json::parse(put("bob", Json::object(), "ada").body)["reserve_unit_hours"], 500.0) << "stays";
    EXPECT_EQ(Json::parse(put("bob", {{"role", "viewer"}}, "ada").body)["reserve_unit_hours"], 0.0);
}

TEST_F(ProjectRoles, TheLastWhoMaySubmitStaysUnlessTheProjectShallBeOpen)
{
    ASSERT_EQ(put("ada", {{"role", "viewer"}}).status, 200);

    const net::Response changed = put("bob", {{"role", "viewer"}});
    EXPECT_EQ(changed.status, 409);
    EXPECT_THAT(changed.body, HasSubstr("open=true"));
    EXPECT_EQ(remove("bob", "admin").status, 409);
    EXPECT_EQ(remove("tom", "admin").status, 200) << "a viewer is not the last who may submit";
    EXPECT_EQ(remove("bob", "admin", "?open=true").status, 200);
}

TEST_F(ProjectRoles, WhatIsTakenAwayIsGoneAtOnce)
{
    ASSERT_EQ(get("/jobs/" + bobs_.value, "tom").status, 200);

    ASSERT_EQ(remove("tom", "admin").status, 200);

    EXPECT_EQ(get("/jobs/" + bobs_.value, "tom").status, 404);
    EXPECT_EQ(names("/jobs", "tom"), std::vector<std::string>());
}

TEST_F(ProjectRoles, StreamsEndWhenTheProjectIsNoLongerSeen)
{
    const auto allows = [&](const Principal& now) { return now.projects.contains("materials"); };
    const ApiCredential tom{ApiCredential::Kind::kToken, secrets_.at("tom")};
    ASSERT_TRUE(run(identity_.still_allows(tom, allows)));

    ASSERT_EQ(remove("tom", "admin").status, 200);

    EXPECT_FALSE(run(identity_.still_allows(tom, allows)));
}

} // namespace
} // namespace fathom::server
