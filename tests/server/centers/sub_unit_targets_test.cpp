// What a session tells an agent of its sub-units (R8).
#include "tests/server/centers/support/test_agent.hpp"

namespace fathom::server {
namespace {

using test::AgentServer;
using test::TestAgent;

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

} // namespace
} // namespace fathom::server
