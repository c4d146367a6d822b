#include "tests/agent/support/agent_link.hpp"
#include "tests/agent/support/builders.hpp"
#include "tests/agent/support/executor_fixture.hpp"

#include <gmock/gmock.h>

#include <csignal>

/// A real agent that is told what profiled jobs are matched with (M3).
namespace fathom::agent {
namespace {

using test::AgentLink;
using test::is;
using testing::HasSubstr;

class AgentLibrary : public AgentLink {
  protected:
    /// Returns when the agent has taken it: it hears messages in their order.
    void tell(const std::string& digest)
    {
        const std::size_t answers = server_.count(is<link::UnitTypesAnswer>);
        server_.send(link::MatchLibrary{.digest = digest, .operators = Json::array()});
        server_.send(link::UnitTypesQuery{MessageId::make(), {{"dgemm", false}}});
        test::wait_until([&] { return server_.count(is<link::UnitTypesAnswer>) > answers; }, "an answer");
    }
};

TEST_F(AgentLibrary, IsKeptOverConnectionsAndRestarts)
{
    start_enrolled();
    EXPECT_EQ(last_hello().library_digest, "");

    tell("abc");
    server_.drop_connection();
    wait_for_hello(2);
    EXPECT_EQ(last_hello().library_digest, "abc");

    tell("def");
    agent_.stop(SIGKILL);
    agent_.start();
    wait_for_hello(3);
    EXPECT_EQ(last_hello().library_digest, "def");
}

TEST_F(AgentLibrary, IsHandedToProfiledJobs)
{
    start_enrolled();
    tell("abc");
    AttemptOrder order = test::shell_order("cat .fathom-library.json");
    order.profile = true;

    server_.send(link::StartAttempt{order});

    EXPECT_EQ(server_.wait_for_attempt<link::AttemptEnded>(order.attempt_id).end.exit_code, 0);
    EXPECT_THAT(server_.wait_for_attempt<link::AttemptOutput>(order.attempt_id).data, HasSubstr("[]"));
}

} // namespace
} // namespace fathom::agent
