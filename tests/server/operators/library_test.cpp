#include "tests/server/centers/support/test_agent.hpp"

/// What agents are told of the operators that profiled jobs are matched with (M3).
namespace fathom::server {
namespace {

using test::AgentServer;
using test::TestAgent;

link::MatchLibrary library_of(const std::string& digest)
{
    return {.digest = digest, .operators = Json::array({Json{{"id", "op_" + digest}}})};
}

void greet(TestAgent& agent, const std::optional<std::string>& digest)
{
    link::Hello hello{.agent_version = "0.1.0", .catalog = test::golden_catalog(), .inventory = {}};
    hello.library_digest = digest;
    agent.send(std::move(hello));
    agent.expect<link::Welcome>();
}

TEST(AgentLibrary, IsSaidToAnAgentThatHoldsAnotherOneAndWhenItChanges)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    server.library.set(library_of("one"));
    TestAgent agent(server, &enrolled.credential);

    greet(agent, "");
    EXPECT_EQ(agent.expect<link::MatchLibrary>().operators, library_of("one").operators);

    server.hub->library_changed(); // it has not
    server.library.set(library_of("two"));
    server.hub->library_changed();
    const auto second = agent.expect<link::MatchLibrary>();
    EXPECT_EQ(second.digest, "two");
    EXPECT_EQ(second.operators, library_of("two").operators);
    EXPECT_EQ(agent.dropped(), 0);
}

TEST(AgentLibrary, IsNotSaidToAnAgentThatHoldsIt)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    server.library.set(library_of("one"));
    TestAgent agent(server, &enrolled.credential);

    greet(agent, "one");
    agent.send(GpuMemoryReport{});
    agent.expect<link::Ack>();
    EXPECT_EQ(agent.dropped(), 0);

    server.library.set(library_of("two"));
    server.hub->library_changed();
    EXPECT_EQ(agent.expect<link::MatchLibrary>().digest, "two");
}

TEST(AgentLibrary, IsNeverSaidToAnOlderAgent)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    server.library.set(library_of("one"));
    TestAgent agent(server, &enrolled.credential);

    greet(agent, std::nullopt);
    server.library.set(library_of("two"));
    server.hub->library_changed();
    agent.send(GpuMemoryReport{});
    agent.expect<link::Ack>();

    EXPECT_EQ(agent.dropped(), 0);
}

} // namespace
} // namespace fathom::server
