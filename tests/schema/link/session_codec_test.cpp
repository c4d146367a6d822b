// Messages about a session and what both sides know: hello, welcome, library, authorities, targets.
#include "schema/link/messages.hpp"
#include "tests/schema/link/coding.hpp"

#include <gmock/gmock.h>

namespace fathom::link {
namespace {

using test::failure_of;
using test::round_trip;
using testing::HasSubstr;

TEST(Codec, AHelloSaysWhichLibraryIsHeldOrDoesNotAsAnOlderAgentDoesNot)
{
    Hello hello{.agent_version = "1.2.3", .catalog = {}, .inventory = {}};
    EXPECT_FALSE(Json::parse(encode(make_message(hello)))["body"].contains("library_digest"));
    EXPECT_EQ(round_trip(hello).library_digest, std::nullopt);

    for (const std::string digest : {"", "abc"}) {
        hello.library_digest = digest;
        EXPECT_EQ(round_trip(hello).library_digest, digest);
    }
}

TEST(Codec, KeepsManifestsOfALibraryThatItDoesNotKnow)
{
    const Json newer{{"id", "dgemm"}, {"from_the_future", true}};
    MatchLibrary library{.digest = "abc", .operators = Json::array({newer})};
    EXPECT_FALSE(needs_ack(library));
    EXPECT_EQ(round_trip(library).operators, library.operators);

    library.operators = Json(std::vector<Json>(kMaxLibraryOperators + 1, Json::object()));
    EXPECT_THAT(describe(failure_of(encode(make_message(library))).error), HasSubstr("operators"));
}

TEST(Codec, AHelloSaysWhichAuthoritiesAreTrustedOrDoesNotAsAnOlderAgentDoesNot)
{
    Hello hello{.agent_version = "1.2.3", .catalog = {}, .inventory = {}};
    EXPECT_FALSE(Json::parse(encode(make_message(hello)))["body"].contains("authorities"));
    EXPECT_EQ(round_trip(hello).authorities, std::nullopt);

    for (const std::vector<std::string>& trusted : {std::vector<std::string>(), {"one", "two"}}) {
        hello.authorities = trusted;
        EXPECT_EQ(round_trip(hello).authorities, trusted);
    }
    hello.authorities = std::vector<std::string>(kMaxAuthorities + 1, "one");
    EXPECT_THAT(describe(failure_of(encode(make_message(hello))).error), HasSubstr("authorities"));
}

TEST(Codec, AHelloSaysWhichHostJobsRunOnOrDoesNotAsAnOlderAgentDoesNot)
{
    Hello hello{.agent_version = "1.2.3", .catalog = {}, .inventory = {}};
    EXPECT_FALSE(Json::parse(encode(make_message(hello)))["body"].contains("host_id"));
    EXPECT_EQ(round_trip(hello).host_id, "");

    hello.host_id = "abc";
    EXPECT_EQ(round_trip(hello).host_id, "abc");

    hello.host_id = std::string(129, 'x');
    EXPECT_THAT(describe(failure_of(encode(make_message(hello))).error), HasSubstr("host_id"));
}

TEST(Codec, TrustedAuthoritiesAreAcknowledgedAndBounded)
{
    TrustedAuthorities trusted{.certificates_pem = "one", .signer_sha256 = "abc", .renew_within_s = 2.5};
    EXPECT_TRUE(needs_ack(trusted));
    EXPECT_EQ(round_trip(trusted).certificates_pem, "one");
    EXPECT_EQ(round_trip(trusted).signer_sha256, "abc");
    EXPECT_EQ(round_trip(trusted).renew_within_s, 2.5);

    trusted.certificates_pem = std::string(kMaxAuthoritiesBytes + 1, 'x');
    EXPECT_THAT(describe(failure_of(encode(make_message(trusted))).error), HasSubstr("certificates_pem"));
}

TEST(Codec, AWelcomeAsksForBalanceStepsOrDoesNotAsAnOlderServerDoesNot)
{
    Welcome welcome{.server_version = "1.2.3", .center_id = "cen_1", .center_name = "alpha", .stop = {}, .forget = {}};
    const Json older = Json::parse(encode(make_message(welcome)))["body"];
    EXPECT_FALSE(older.contains("balance_steps"));
    EXPECT_EQ(round_trip(welcome).balance_steps, 0);

    welcome.balance_steps = 500;
    welcome.balance_pause_s = 1.5;
    EXPECT_EQ(round_trip(welcome).balance_steps, 500);
    EXPECT_EQ(round_trip(welcome).balance_pause_s, 1.5);
}

TEST(Codec, ATargetTellsOfARefusedRequestOrDoesNotAsAnOlderServerDoesNot)
{
    SubUnitTarget target{"vgpu", 4, 50, 50};
    const Json older = Json::parse(encode(make_message(target)))["body"];
    EXPECT_FALSE(older.contains("refused_request"));
    EXPECT_FALSE(older.contains("refusal"));
    EXPECT_FALSE(round_trip(target).refusal);

    target.refusal = SubUnitRefusal{MessageId::make(), "the driver is busy"};
    const SubUnitTarget again = round_trip(target);
    ASSERT_TRUE(again.refusal);
    EXPECT_EQ(again.refusal->request, target.refusal->request);
    EXPECT_EQ(again.refusal->reason, "the driver is busy");
    EXPECT_EQ(again.held_count, 50);
}

TEST(Codec, BalanceStepsAreRepeatedUntilAcknowledgedAndBounded)
{
    BalanceSteps steps;
    steps.steps.assign(kMaxBalanceSteps, {.unit = "gpu0", .outcome = "no_sample"});
    EXPECT_TRUE(needs_ack(steps));
    EXPECT_EQ(round_trip(steps), steps);
    steps.steps.push_back(steps.steps.front());
    EXPECT_THAT(describe(failure_of(encode(make_message(steps))).error), HasSubstr("steps"));
}

} // namespace
} // namespace fathom::link
