#include "core/base/json_reader.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kAda =
    R"({"project": "materials", "token_id": "tok_1", "name": "ada", "role": "submitter", "usable": true,
    "reserve_unit_hours": 500, "added_at": "2026-11-19T00:00:00Z", "added_by": "tok_0"})";

TEST(ProjectMemberCommands, AddSaysWhoMaySubmitFromNowOn)
{
    const FakeServer server({{"PUT /api/v1/projects/materials/members/ada", {answer(200, kAda)}}});

    const Ran ran = fathom(server, {"project", "member", "add", "materials", "ada", "--reserve", "500"});

    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(Json::parse(server.requests().at(0).body), Json({{"role", "submitter"}, {"reserve_unit_hours", 500.0}}));
    EXPECT_THAT(ran.out, AllOf(HasSubstr("ada (tok_1) may submit to materials"), HasSubstr("500 unit-hours"),
                               HasSubstr("Only its submitters and leads, and administrators")));
}

TEST(ProjectMemberCommands, AddGivesARoleAndSaysNothingOfReservingUnlessAsked)
{
    Json lead = Json::parse(kAda);
    lead["role"] = "lead";
    Json viewer = Json::parse(kAda);
    viewer["role"] = "viewer";
    const FakeServer server({{"PUT /api/v1/projects/materials/members/ada", {answer(200, lead.dump())}},
                             {"PUT /api/v1/projects/materials/members/tom", {answer(200, viewer.dump())}}});

    const Ran leads = fathom(server, {"project", "member", "add", "materials", "ada", "--role", "lead"});
    const Ran sees = fathom(server, {"project", "member", "add", "materials", "tom", "--role", "viewer"});
    const Ran unknown = fathom(server, {"project", "member", "add", "materials", "tom", "--role", "king"});

    EXPECT_EQ(Json::parse(server.requests().at(0).body), Json({{"role", "lead"}}));
    EXPECT_THAT(leads.out, HasSubstr("ada (tok_1) leads materials"));
    EXPECT_THAT(sees.out, AllOf(HasSubstr("sees all jobs of materials."), testing::Not(HasSubstr("Only"))));
    EXPECT_NE(unknown.code, 0);
    EXPECT_THAT(unknown.err, HasSubstr("viewer"));
}

TEST(ProjectMemberCommands, RemoveOpensAProjectOnlyWhenTold)
{
    const FakeServer server({{"DELETE /api/v1/projects/materials/members/ada", {answer(200, kAda)}}});

    ASSERT_EQ(fathom(server, {"project", "member", "remove", "materials", "ada"}).code, 0);
    ASSERT_EQ(fathom(server, {"project", "member", "remove", "materials", "ada", "--open"}).code, 0);

    EXPECT_EQ(server.requests().at(0).query.count("open"), 0U);
    EXPECT_EQ(server.requests().at(1).query.at("open"), "true");
}

TEST(ProjectMemberCommands, ListShowsRightsAndSaysWhenAProjectIsOpen)
{
    const FakeServer server(
        {{"GET /api/v1/projects/materials/members",
          {answer(200, std::string(R"({"items": [)") + kAda + R"(], "next_page_token": null})")}},
         {"GET /api/v1/projects/open/members", {answer(200, R"({"items": [], "next_page_token": null})")}}});

    const Ran ran = fathom(server, {"project", "member", "list", "materials"});
    const Ran empty = fathom(server, {"project", "member", "list", "open"});

    EXPECT_THAT(ran.out,
                AllOf(HasSubstr("ada"), HasSubstr("submitter"), HasSubstr("valid"), HasSubstr("500 unit-hours")));
    EXPECT_THAT(empty.err, HasSubstr("whoever may submit jobs may submit to it"));
}

TEST(ProjectCommands, SetTakesLimitsByTheirFormerNamesToo)
{
    const FakeServer server({{"PUT /api/v1/projects/materials", {answer(200, R"({"name": "materials"})")}}});

    const Ran now = fathom(server, {"project", "set", "materials", "--max-units", "8", "--max-cost", "250"});
    const Ran before = fathom(server, {"project", "set", "materials", "--most-units", "8", "--most-score-hours", "0.5",
                                       "--most-cost", "250"});
    const Ran both = fathom(server, {"project", "set", "materials", "--max-units", "8", "--most-units", "9"});
    const Ran help = fathom(server, {"project", "set", "--help"});

    ASSERT_EQ(now.code, 0) << now.err;
    ASSERT_EQ(before.code, 0) << before.err;
    EXPECT_EQ(Json::parse(server.requests().at(0).body), Json({{"max_units", 8}, {"max_cost", "250"}}));
    EXPECT_EQ(Json::parse(server.requests().at(1).body),
              Json({{"max_units", 8}, {"max_score_hours", 0.5}, {"max_cost", "250"}}));
    EXPECT_NE(both.code, 0);
    EXPECT_EQ(server.requests().size(), 2U);
    EXPECT_THAT(help.out, AllOf(HasSubstr("--max-units"), testing::Not(HasSubstr("--most-"))));
}

} // namespace
} // namespace fathom::cli::test
