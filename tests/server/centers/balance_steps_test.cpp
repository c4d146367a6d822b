// What a session does with steps of balance loops (R10).
#include "tests/server/centers/support/test_agent.hpp"

namespace fathom::server {
namespace {

using test::AgentServer;
using test::TestAgent;
using testing::HasSubstr;

BalanceSteps steps_of(std::size_t count)
{
    BalanceSteps steps;
    steps.steps.assign(count, {.unit = "gpu0", .outcome = "in_band"});
    return steps;
}

TEST(BalanceSession, TheWelcomeAsksForStepsWhichAreKeptBeforeTheyAreAcknowledged)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    const link::Welcome welcome = agent.greet();
    EXPECT_EQ(welcome.balance_steps, 500);
    EXPECT_EQ(welcome.balance_pause_s, 1);

    EXPECT_FALSE(agent.send_and_wait(steps_of(2)).error);
    ASSERT_EQ(server.balance.taken().size(), 1U);
    EXPECT_EQ(server.balance.taken()[0], steps_of(2));
}

TEST(BalanceSession, MoreThanTheWelcomeAsksForIsRefusedAndTooOftenWaits)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();

    const link::Ack ack = agent.send_and_wait(steps_of(501));
    ASSERT_TRUE(ack.error);
    EXPECT_THAT(ack.error->detail, HasSubstr("more steps"));
    EXPECT_TRUE(server.balance.taken().empty());

    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(agent.send_and_wait(steps_of(1)).error);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(950)) << "twice half a pause";
}

} // namespace
} // namespace fathom::server
