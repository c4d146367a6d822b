// What a session tells an agent of its sub-units, and hears of them (R8).
#include "tests/server/centers/support/test_agent.hpp"

namespace fathom::server {
namespace {

using test::AgentServer;
using test::TestAgent;
using testing::HasSubstr;

/// Looks for targets as after a change.
void wake(AgentServer& server, const CenterId& center)
{
    server.store.sql("SELECT pg_notify('fathom', 'sub_unit " + center.value + "')");
}

TEST(SubUnitSession, ARefusedRequestIsToldOnceInAConnectionAlsoWhereTheTargetStays)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    link::SubUnitTarget target{"vgpu", 3, 10, 10};
    server.sub_units.set(target);
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    EXPECT_FALSE(agent.expect<link::SubUnitTarget>().refusal);

    target.refusal = link::SubUnitRefusal{MessageId::make(), "the driver is busy"};
    server.sub_units.set(target);
    wake(server, enrolled.center);
    const link::SubUnitTarget told = agent.expect<link::SubUnitTarget>();
    EXPECT_EQ(told.version, 3);
    ASSERT_TRUE(told.refusal);
    EXPECT_EQ(told.refusal->request, target.refusal->request);
    EXPECT_EQ(told.refusal->reason, "the driver is busy");

    wake(server, enrolled.center); // nothing is new
    target.version = 4;
    server.sub_units.set(target);
    wake(server, enrolled.center);
    EXPECT_EQ(agent.expect<link::SubUnitTarget>().version, 4) << "and version 3 is not said again";

    TestAgent next(server, &enrolled.credential);
    next.greet();
    EXPECT_TRUE(next.expect<link::SubUnitTarget>().refusal) << "a new connection may have lost the last one's";
}

TEST(SubUnitSession, ARequestThatComesTooOftenIsRefusedAndTheConnectionGoesOn)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    server.sub_units.answer(Error{Errc::kTooMany, "asks too often"});

    const link::Ack refused = agent.send_and_wait(link::SubUnitRequest{"vgpu", "gain", 1, ""});
    ASSERT_TRUE(refused.error) << "without an answer the agent asks again and again";
    EXPECT_THAT(refused.error->detail, HasSubstr("too_many: asks too often"));

    server.sub_units.answer({});
    EXPECT_FALSE(agent.send_and_wait(link::SubUnitRequest{"vgpu", "gain", 1, ""}).error);
}

TEST(SubUnitSession, AfterManyMessagesInARowEachWaits)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();

    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 54; ++i)
        EXPECT_FALSE(agent.send_and_wait(link::SubUnitState{}).error);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(950)) << "50, then 4 a second";
}

} // namespace
} // namespace fathom::server
