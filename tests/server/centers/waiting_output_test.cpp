#include "server/centers/output_room.hpp"
#include "tests/server/centers/support/test_agent.hpp"
#include "tests/support/temporary_postgres.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using fathom::test::eventually;
using test::AgentServer;
using test::TestAgent;

link::AttemptOutput output_of(const AttemptId& attempt, const std::string& data)
{
    link::AttemptOutput output;
    output.attempt_id = attempt;
    output.stream = "stdout";
    output.data = data;
    return output;
}

link::AttemptStarted start_of(const AttemptId& attempt)
{
    link::AttemptStarted started;
    started.attempt_id = attempt;
    return started;
}

link::AttemptEnded end_of(const AttemptId& attempt)
{
    link::AttemptEnded ended;
    ended.end.attempt_id = attempt;
    return ended;
}

/// An agent whose output the database has no time for.
class WaitingOutput : public testing::Test {
  protected:
    WaitingOutput()
    {
        agent_.greet();
        server_.gateway.hold_output();
    }
    ~WaitingOutput() override { server_.gateway.release_output(); }

    std::ptrdiff_t place_of(const std::string& call) const
    {
        const std::vector<std::string> calls = server_.gateway.calls();
        return std::find(calls.begin(), calls.end(), call) - calls.begin();
    }

    AgentServer server_;
    AgentServer::Enrolled enrolled_ = server_.enrol("alpha");
    TestAgent agent_{server_, &enrolled_.credential};
    const AttemptId noisy_ = AttemptId::make();
};

TEST_F(WaitingOutput, HoldsUpNoReportOfOtherAttemptsAndNoSignOfLife)
{
    const AttemptId other = AttemptId::make();
    for (int i = 0; i < 200; ++i)
        agent_.send(output_of(noisy_, "line"));

    EXPECT_FALSE(agent_.send_and_wait(start_of(other)).error);
    EXPECT_FALSE(agent_.send_and_wait(end_of(other)).error);

    EXPECT_TRUE(server_.gateway.has_call("ended " + other.value));
    EXPECT_FALSE(server_.gateway.has_call("output line"));
    for (int i = 0; i < 2; ++i) { // of the first, the reports before it may be the sign of life
        server_.store.sql("UPDATE center SET state = 'suspect', last_seen_at = now() - interval '1 hour'");
        agent_.send(link::Heartbeat{});
        EXPECT_TRUE(eventually([&] { return server_.store.sql("SELECT state FROM center") == "online"; }));
    }
}

TEST_F(WaitingOutput, IsStoredBeforeItsAttemptsEndAndAfterItsStart)
{
    const AttemptId other = AttemptId::make();
    agent_.send(start_of(noisy_));
    agent_.send(output_of(noisy_, "first"));
    agent_.send(output_of(noisy_, "second"));
    agent_.send(end_of(noisy_));
    agent_.send(output_of(noisy_, "rest"));
    EXPECT_FALSE(agent_.send_and_wait(end_of(other)).error);
    EXPECT_FALSE(agent_.send_and_wait(link::QueueReport{{{other, "Priority", std::nullopt}}}).error);
    EXPECT_FALSE(server_.gateway.has_call("ended " + noisy_.value)) << "its output is not stored yet";

    server_.gateway.release_output();

    ASSERT_TRUE(eventually([&] { return server_.gateway.has_call("output rest"); }));
    EXPECT_LT(place_of("started " + noisy_.value), place_of("output first"));
    EXPECT_LT(place_of("output first"), place_of("output second"));
    EXPECT_LT(place_of("output second"), place_of("ended " + noisy_.value));
    EXPECT_LT(place_of("ended " + noisy_.value), place_of("output rest"));
}

TEST_F(WaitingOutput, OfAnEndIsStoredBeforeWhatIsSaidOfTheUnits)
{
    agent_.send(output_of(noisy_, "line"));
    agent_.send(end_of(noisy_));
    Catalog fewer;
    fewer.unit_types = {test::unit_type("u1", 11, {"op1"})};
    const MessageId changed = agent_.send(link::CatalogChanged{fewer});
    const auto is_changed = [&] { return server_.store.sql("SELECT count(*) FROM unit_type WHERE active") != "3"; };
    EXPECT_FALSE(eventually(is_changed, std::chrono::milliseconds(300)));

    server_.gateway.release_output();

    while (agent_.expect<link::Ack>().of != changed)
        ASSERT_FALSE(HasFailure());
    EXPECT_TRUE(server_.gateway.has_call("ended " + noisy_.value));
    EXPECT_EQ(server_.store.sql("SELECT count(*) FROM unit_type WHERE active"), "1");
}

TEST_F(WaitingOutput, ThatCannotBeStoredEndsTheSession)
{
    agent_.send(output_of(noisy_, "line"));
    server_.gateway.fail_next(Error{Errc::kUnavailable, "the database is away"});

    server_.gateway.release_output();

    EXPECT_THAT(agent_.expect_end(), testing::HasSubstr("not available now"));
}

TEST(OutputRoomTest, IsGivenBack)
{
    OutputRoom room(10);
    std::shared_ptr<const void> first = room.take(6);
    EXPECT_NE(first, nullptr);
    EXPECT_EQ(room.take(5), nullptr);
    EXPECT_NE(room.take(4), nullptr);

    first.reset();

    EXPECT_NE(room.take(10), nullptr);
}

} // namespace
} // namespace fathom::server
