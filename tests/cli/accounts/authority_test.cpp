#include "core/base/file.hpp"
#include "core/base/json_reader.hpp"
#include "tests/cli/client/fake_server.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace fathom::cli::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kSteady =
    R"({"phase": "none", "current": {"sha256": "ab12", "common_name": "Fathom certificate authority",
    "not_before": "2026-01-01T00:00:00Z", "not_after": "2035-12-30T00:00:00Z", "since": "2026-01-01T00:00:00Z"},
    "next": null, "past": null, "ca_pem": "-----BEGIN CERTIFICATE-----", "center_count": 2, "waits_for_count": 0,
    "waits_for": []})";

/// After `begin`, with a center that is not ready.
std::string begun()
{
    Json state = Json::parse(kSteady);
    state["phase"] = "begun";
    state["next"] = state["current"];
    state["next"]["sha256"] = "cd34";
    state["waits_for_count"] = 1;
    state["waits_for"] = Json::array({Json{{"center_id", "ctr_1"},
                                           {"center_name", "alpha"},
                                           {"agent_version", "0.1.0"},
                                           {"last_seen_at", nullptr},
                                           {"reason", "its agent has not said that it trusts the next authority"}}});
    return state.dump();
}

FakeServer rotating()
{
    return FakeServer({{"POST /api/v1/authority:rotate", {answer(200, kSteady)}}});
}

TEST(AuthorityCommands, ShowTellsTheAuthorityAndTheCommandThatIsNext)
{
    const FakeServer steady({{"GET /api/v1/authority", {answer(200, kSteady)}}});
    const FakeServer waits({{"GET /api/v1/authority", {answer(200, begun())}}});

    const Ran none = fathom(steady, {"authority", "show"});
    const Ran some = fathom(waits, {"authority", "show"});

    ASSERT_EQ(none.code, 0) << none.err;
    EXPECT_THAT(none.out, AllOf(HasSubstr("ab12"), HasSubstr("fathom authority rotate --begin")));
    EXPECT_THAT(none.out, Not(HasSubstr("CENTER")));
    EXPECT_THAT(some.out, AllOf(HasSubstr("cd34"), HasSubstr("rotate --switch"), HasSubstr("waits for 1 of 2 centers"),
                                HasSubstr("alpha"), HasSubstr("has not said that it trusts")));
}

TEST(AuthorityCommands, ShowNamesTheReplicasAndHowTheyStand)
{
    Json state = Json::parse(kSteady);
    state["replicas"] = Json::array({Json{{"id", "rep_1"},
                                          {"host", "near.example"},
                                          {"version", "0.1.0"},
                                          {"state", "behind"},
                                          {"signer_sha256", "ab12"},
                                          {"trusted_since", "2026-01-01T00:00:00Z"},
                                          {"seen_at", "2026-01-01T00:00:00Z"}}});
    const FakeServer server({{"GET /api/v1/authority", {answer(200, state.dump())}}});

    const Ran ran = fathom(server, {"authority", "show"});

    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out,
                AllOf(HasSubstr("REPLICA"), HasSubstr("rep_1"), HasSubstr("near.example"), HasSubstr("behind")));
}

TEST(AuthorityCommands, ShowWritesWhatIsToBeTrustedToAFile)
{
    const FakeServer server({{"GET /api/v1/authority", {answer(200, kSteady)}}});
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "authority-commands-ca.pem";

    const Ran ran = fathom(server, {"authority", "show", "--ca-file", file.string()});

    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(read_file(file).value(), "-----BEGIN CERTIFICATE-----");
    std::filesystem::remove(file);
}

TEST(AuthorityCommands, BeginAndCancelAreNotAskedFor)
{
    const FakeServer server = rotating();

    ASSERT_EQ(fathom(server, {"authority", "rotate", "--begin"}).code, 0);
    ASSERT_EQ(fathom(server, {"authority", "rotate", "--cancel"}).code, 0);

    EXPECT_EQ(Json::parse(server.requests().at(0).body), Json({{"step", "begin"}, {"force", false}}));
    EXPECT_EQ(Json::parse(server.requests().at(1).body), Json({{"step", "cancel"}, {"force", false}}));
}

TEST(AuthorityCommands, SwitchAndFinishAreDoneWhenTheirNameIsTyped)
{
    const FakeServer server = rotating();

    const Ran refused = fathom(server, {"authority", "rotate", "--switch"}, "yes\n");
    const Ran nobody = fathom(server, {"authority", "rotate", "--finish"});
    EXPECT_NE(refused.code, 0);
    EXPECT_NE(nobody.code, 0);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("Type switch"), HasSubstr("--yes")));
    EXPECT_THAT(server.requests(), IsEmpty());
    const Ran typed = fathom(server, {"authority", "rotate", "--finish"}, "finish\n");

    EXPECT_EQ(typed.code, 0) << typed.err;
    EXPECT_EQ(Json::parse(server.requests().at(0).body), Json({{"step", "finish"}, {"force", false}}));
}

TEST(AuthorityCommands, YesDoesWithoutAskingAndForceIsHandedOn)
{
    const FakeServer server = rotating();

    const Ran ran = fathom(server, {"authority", "rotate", "--switch", "--force", "--yes"});

    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.err, Not(HasSubstr("Type")));
    EXPECT_EQ(Json::parse(server.requests().at(0).body), Json({{"step", "switch"}, {"force", true}}));
}

TEST(AuthorityCommands, RotateTakesExactlyOneStep)
{
    const FakeServer server = rotating();

    EXPECT_EQ(fathom(server, {"authority", "rotate"}).code, 2);
    EXPECT_EQ(fathom(server, {"authority", "rotate", "--begin", "--switch"}).code, 2);
    EXPECT_NE(fathom(server, {"authority", "rotate", "--begin", "--force"}).code, 0);

    EXPECT_THAT(server.requests(), IsEmpty());
}

} // namespace
} // namespace fathom::cli::test
