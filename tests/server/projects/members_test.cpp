#include "server/calendar/reservation_api.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {
namespace {

using testing::HasSubstr;

/// Who may submit to a project, and reserve for it.
class Members : public JobsFixture {
  protected:
    Members()
    {
        add_reservation_routes(api_, reservations_, database_, clock_);
        ada_ = add_token("ada", Role::kUser);
        bob_ = add_token("bob", Role::kUser);
        add_center("alpha", 8);
    }

    net::Response put(const std::string& member, double reserve_unit_hours = 0, const std::string& user = "admin")
    {
        const Json body{{"reserve_unit_hours", reserve_unit_hours}};
        return call(net::Method::kPut, "/projects/materials/members/" + member, body.dump(), {}, user);
    }
    net::Response remove(const std::string& member, const std::string& query = "")
    {
        return call(net::Method::kDelete, "/projects/materials/members/" + member + query);
    }
    net::Response submit_as(const std::string& user, const std::string& project = "materials")
    {
        return call(net::Method::kPost, "/jobs", spec({{"project", project}}).dump(), {}, user);
    }
    net::Response reserve_as(const std::string& user, std::int64_t units, std::chrono::seconds length)
    {
        const Json body{{"project", "materials"},
                        {"center", "alpha"},
                        {"unit_type", "core"},
                        {"unit_count", units},
                        {"ends_at", format_rfc3339(clock_.now() + length)}};
        return call(net::Method::kPost, "/reservations", body.dump(), {}, user);
    }

    ReservationService reservations_{database_};
    Principal ada_;
    Principal bob_;
};

TEST_F(Members, AProjectWithoutMembersIsOpen)
{
    EXPECT_EQ(submit_as("bob").status, 201);
    EXPECT_EQ(Json::parse(call(net::Method::kGet, "/projects/materials/members").body)["items"], Json::array());
}

TEST_F(Members, OnlyMembersAndAdminsSubmitToAProjectThatHasMembers)
{
    add_token("eve", Role::kExpert);

    const net::Response added = put("ada");

    ASSERT_EQ(added.status, 200) << added.body;
    EXPECT_EQ(Json::parse(added.body)["token_id"], ada_.token_id.value);
    EXPECT_EQ(submit_as("ada").status, 201) << "at once: nobody is refused on an old snapshot";
    EXPECT_EQ(submit_as("admin").status, 201);
    reload_catalog();
    const net::Response refused = submit_as("bob");
    EXPECT_EQ(refused.status, 403);
    EXPECT_THAT(refused.body, HasSubstr("fathom project member add materials " + bob_.token_id.value));
    EXPECT_EQ(submit_as("eve").status, 403);
    EXPECT_EQ(submit_as("bob", "physics").status, 201) << "other projects are open";
    EXPECT_EQ(sql("SELECT count(*) FROM audit_log WHERE action = 'project_member.put' AND subject = 'materials'"), "1");
}

TEST_F(Members, OneJobOfAnArrayIsEnoughToRefuseIt)
{
    put("ada");
    reload_catalog();

    const Json jobs = Json::array({spec(), spec({{"project", "materials"}})});
    const net::Response refused = call(net::Method::kPost, "/jobs", jobs.dump(), {}, "bob");

    EXPECT_EQ(refused.status, 403);
    EXPECT_THAT(refused.body, HasSubstr("[1].project"));
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "0");
}

TEST_F(Members, OnlyAdminsChangeMembersAndUsersDoNotReadThem)
{
    EXPECT_EQ(put("ada", 0, "ada").status, 403);
    EXPECT_EQ(call(net::Method::kGet, "/projects/materials/members", "", {}, "ada").status, 403);
    EXPECT_EQ(put("nobody").status, 400);
    add_token("bob", Role::kUser);
    const net::Response ambiguous = put("bob");
    EXPECT_EQ(ambiguous.status, 409);
    EXPECT_THAT(ambiguous.body, HasSubstr("by its id"));
    EXPECT_EQ(put(bob_.token_id.value).status, 200);
}

TEST_F(Members, TheLastMemberOpensTheProjectOnlyWhenThatIsSaid)
{
    put("ada");
    put("bob");

    EXPECT_EQ(remove("bob").status, 200);
    EXPECT_EQ(remove("bob").status, 404);
    const net::Response last = remove("ada");
    EXPECT_EQ(last.status, 409);
    EXPECT_THAT(last.body, HasSubstr("open=true"));
    reload_catalog();
    EXPECT_EQ(submit_as("bob").status, 403);
    EXPECT_EQ(remove("ada", "?open=true").status, 200);
    reload_catalog();
    EXPECT_EQ(submit_as("bob").status, 201);
}

TEST_F(Members, ProjectsMustExistOnceOneHasMembers)
{
    JobsService careful({database_, io_.executor(), metrics_, catalog_, finalizer_, compute_, clock_},
                        {.unknown_projects = UnknownProjects::kRefuseOnceMembers});
    const auto admit = [&](const std::string& project) {
        JobSpec job;
        job.command = {"true"};
        job.project = project;
        return run(careful.admit({job}, JobBatch::kOne, bob_));
    };

    EXPECT_TRUE(admit("invented"));
    put("ada");
    reload_catalog();

    EXPECT_EQ(admit("invented").error().code, Errc::kInvalid);
    EXPECT_EQ(admit("materials").error().code, Errc::kForbidden);
    EXPECT_TRUE(admit("default"));
}

TEST_F(Members, ReservationsAreShownToTheirMakerAndTheProjectsMembers)
{
    using std::chrono::hours;
    add_token("eve", Role::kViewer);
    add_token("dan", Role::kUser);
    put("ada", 10);
    put("bob");
    const net::Response made = reserve_as("ada", 1, hours(1));
    ASSERT_EQ(made.status, 201) << made.body;
    const std::string id = Json::parse(made.body)["id"];
    const auto seen_by = [&](const std::string& user) {
        return std::pair(call(net::Method::kGet, "/reservations/" + id, "", {}, user).status,
                         Json::parse(call(net::Method::kGet, "/reservations", "", {}, user).body)["items"].size());
    };

    for (const char* who : {"ada", "bob", "eve", "admin"})
        EXPECT_EQ(seen_by(who), std::pair(200, std::size_t{1})) << who;
    EXPECT_EQ(seen_by("dan"), std::pair(404, std::size_t{0}));
}

TEST_F(Members, ReservingNeedsARightOfItsOwn)
{
    using std::chrono::hours;
    EXPECT_EQ(reserve_as("bob", 1, hours(1)).status, 403) << "also where everybody may submit";
    EXPECT_EQ(reserve_as("admin", 1, hours(1)).status, 201);
    put("ada");
    const net::Response refused = reserve_as("ada", 1, hours(1));
    EXPECT_EQ(refused.status, 403);
    EXPECT_THAT(refused.body, HasSubstr("--reserve"));

    put("ada", 10);

    EXPECT_EQ(reserve_as("ada", 2, hours(6)).status, 422) << "12 unit-hours are more than it may ever hold";
    const net::Response made = reserve_as("ada", 2, hours(4));
    ASSERT_EQ(made.status, 201) << made.body;
    const net::Response more = reserve_as("ada", 1, hours(3));
    EXPECT_EQ(more.status, 429);
    EXPECT_THAT(more.body, HasSubstr("you hold 8 unit-hours of the 10 unit-hours"));
    EXPECT_EQ(reserve_as("ada", 1, hours(1)).status, 201);
    const std::string id = Json::parse(made.body)["id"];
    EXPECT_EQ(call(net::Method::kDelete, "/reservations/" + id, "", {}, "ada").status, 200);
    EXPECT_EQ(reserve_as("ada", 1, hours(3)).status, 201) << "what is cancelled is free again";
}

} // namespace
} // namespace fathom::server
