#include "server/centers/sessions/output_room.hpp"
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

Catalog one_unit_type()
{
    Catalog catalog;
    catalog.unit_types = {test::unit_type("u1", 11, {"op1"})};
    return catalog;
}

link::StartAttempt order_of(const AttemptId& attempt)
{
    link::StartAttempt start;
    start.order.attempt_id = attempt;
    start.order.job_id = JobId::make();
    start.order.name = "a job";
    start.order.label = "job";
    start.order.unit_type = "u1";
    start.order.command = {"/bin/true"};
    return start;
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

    /// A change of the catalog that waits for an end, which waits for its output.
    MessageId send_waiting_change()
    {
        agent_.send(output_of(noisy_, "line"));
        agent_.send(end_of(noisy_));
        return agent_.send(link::CatalogChanged{one_unit_type()});
    }

    /// The report, and the end of its attempt, are carried out after the change of the catalog before them.
    void expect_to_come_after_a_change(const link::Body& report, const AttemptId& attempt, const std::string& call)
    {
        const MessageId changed = send_waiting_change();
        const MessageId reported = agent_.send(report);
        const MessageId ended = agent_.send(end_of(attempt));
        EXPECT_FALSE(agent_.send_and_wait(start_of(AttemptId::make())).error) << "it was read behind them";
        const auto is_taken = [&] {
            return server_.gateway.has_call(call) || server_.gateway.has_call("ended " + attempt.value);
        };
        EXPECT_FALSE(eventually(is_taken, std::chrono::milliseconds(300)));

        server_.gateway.release_output();

        EXPECT_EQ(answers_to({changed, reported, ended}), (std::vector<MessageId>{changed, reported, ended}));
        EXPECT_EQ(server_.store.sql("SELECT count(*) FROM unit_type WHERE active"), "1");
        EXPECT_TRUE(server_.gateway.has_call(call));
        EXPECT_TRUE(server_.gateway.has_call("ended " + noisy_.value));
    }

    /// All of these messages, none of which is refused, as they are answered.
    std::vector<MessageId> answers_to(const std::vector<MessageId>& sent)
    {
        std::vector<MessageId> answered;
        while (answered.size() < sent.size() && !testing::Test::HasFailure()) {
            const link::Ack ack = agent_.expect<link::Ack>();
            if (std::find(sent.begin(), sent.end(), ack.of) != sent.end()) answered.push_back(ack.of);
            EXPECT_FALSE(ack.error) << ack.error->detail;
        }
        return answered;
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
    const MessageId changed = agent_.send(link::CatalogChanged{one_unit_type()});
    const auto is_changed = [&] { return server_.store.sql("SELECT count(*) FROM unit_type WHERE active") != "3"; };
    EXPECT_FALSE(eventually(is_changed, std::chrono::milliseconds(300)));

    server_.gateway.release_output();

    while (agent_.expect<link::Ack>().of != changed)
        ASSERT_FALSE(HasFailure());
    EXPECT_TRUE(server_.gateway.has_call("ended " + noisy_.value));
    EXPECT_EQ(server_.store.sql("SELECT count(*) FROM unit_type WHERE active"), "1");
}

TEST_F(WaitingOutput, OfAnEndHoldsUpNothingBehindWhatIsSaidOfTheUnits)
{
    const AttemptId other = AttemptId::make();
    agent_.send(output_of(noisy_, "line"));
    agent_.send(end_of(noisy_));
    agent_.send(link::CatalogChanged{one_unit_type()});
    agent_.send(link::SubUnitState{});

    agent_.send(start_of(other));
    agent_.send(end_of(other));

    EXPECT_TRUE(eventually([&] { return server_.gateway.has_call("ended " + other.value); }));
    server_.store.sql("UPDATE center SET state = 'suspect', last_seen_at = now() - interval '1 hour'");
    agent_.send(link::Heartbeat{});
    EXPECT_TRUE(eventually([&] { return server_.store.sql("SELECT state FROM center") == "online"; }));
    EXPECT_EQ(server_.sub_units.calls(), std::vector<std::string>{}) << "an end before it waits";
    EXPECT_FALSE(server_.gateway.has_call("ended " + noisy_.value));
}

TEST_F(WaitingOutput, WhatIsSaidBehindItsEndIsCarriedOutOnceAndInItsOrder)
{
    agent_.send(output_of(noisy_, "line"));
    const MessageId end = agent_.send(end_of(noisy_));
    const std::vector<MessageId> sent{end,
                                      agent_.send(link::CatalogChanged{one_unit_type()}),
                                      agent_.send(link::SubUnitState{}),
                                      agent_.send(link::SubUnitRequest{"vgpu", "gain", 1, ""}),
                                      agent_.send(ResourceState{.version = 1, .state = "applied"}),
                                      agent_.send(link::QueueReport{{{noisy_, "Priority", std::nullopt}}}),
                                      agent_.send(ResourceState{.version = 2, .state = "applied"})};
    EXPECT_FALSE(agent_.send_and_wait(start_of(AttemptId::make())).error);

    server_.gateway.release_output();

    EXPECT_EQ(answers_to(sent), sent);
    EXPECT_EQ(server_.sub_units.calls(), (std::vector<std::string>{"state", "gain 1"}));
    EXPECT_LT(place_of("ended " + noisy_.value), place_of("queued " + noisy_.value + ": Priority"));
    EXPECT_EQ(server_.store.sql("SELECT version FROM center_resource_state"), "2");
    EXPECT_EQ(server_.store.sql("SELECT count(*) FROM unit_type WHERE active"), "1");
}

TEST_F(WaitingOutput, AStartOnANamedUnitTypeComesAfterTheChangeOfTheCatalogBeforeIt)
{
    const AttemptId attempt = AttemptId::make();
    link::AttemptStarted started = start_of(attempt);
    started.unit_type = "u1";

    expect_to_come_after_a_change(started, attempt, "started " + attempt.value);
}

TEST_F(WaitingOutput, AStartThatNamesAbleUnitTypesComesAfterTheChangeOfTheCatalogBeforeIt)
{
    const AttemptId attempt = AttemptId::make();
    link::AttemptStarted started = start_of(attempt);
    started.able_unit_types = {"u1"};

    expect_to_come_after_a_change(started, attempt, "started " + attempt.value);
}

TEST_F(WaitingOutput, AFailureToStartComesAfterTheChangeOfTheCatalogBeforeIt)
{
    const AttemptId attempt = AttemptId::make();
    link::AttemptEnded failed = end_of(attempt);
    failed.end.outcome = AttemptOutcome::kFailedToStart;

    expect_to_come_after_a_change(failed, attempt, "ended " + attempt.value);
}

TEST_F(WaitingOutput, WhatNeedsNoUnitTypesDoesNotWaitForTheChangeOfTheCatalogBeforeIt)
{
    const AttemptId ordered = AttemptId::make();
    const AttemptId other = AttemptId::make();
    server_.gateway.order(order_of(ordered));
    agent_.expect<link::StartAttempt>();
    const MessageId order = agent_.last_id();
    const MessageId changed = send_waiting_change();

    agent_.send(link::Ack{order, std::nullopt});
    EXPECT_FALSE(agent_.send_and_wait(start_of(other)).error);
    EXPECT_FALSE(agent_.send_and_wait(end_of(other)).error);

    EXPECT_TRUE(eventually([&] { return server_.gateway.has_call("acknowledged " + ordered.value); }));
    EXPECT_TRUE(server_.gateway.has_call("ended " + other.value));
    EXPECT_FALSE(server_.gateway.has_call("ended " + noisy_.value));
    EXPECT_NE(server_.store.sql("SELECT count(*) FROM unit_type WHERE active"), "1");

    server_.gateway.release_output();

    EXPECT_EQ(answers_to({changed}), std::vector<MessageId>{changed});
    EXPECT_EQ(server_.store.sql("SELECT count(*) FROM unit_type WHERE active"), "1");
}

TEST_F(WaitingOutput, AChangeThatIsRefusedHoldsUpNoStartBehindIt)
{
    const AttemptId attempt = AttemptId::make();
    link::AttemptStarted started = start_of(attempt);
    started.unit_type = "u1";
    agent_.send(output_of(noisy_, "line"));
    agent_.send(end_of(noisy_));
    Catalog too_much = one_unit_type();
    too_much.facts = {{"note", std::string(std::size_t{65} << 10U, 'x')}};
    agent_.send(link::CatalogChanged{too_much});
    const MessageId reported = agent_.send(started);

    server_.gateway.release_output();

    while (agent_.expect<link::Ack>().of != reported)
        ASSERT_FALSE(HasFailure());
    EXPECT_TRUE(server_.gateway.has_call("started " + attempt.value));
}

TEST_F(WaitingOutput, OnlySoMuchIsReadBehindItsEnd)
{
    const AttemptId other = AttemptId::make();
    agent_.send(output_of(noisy_, "line"));
    agent_.send(end_of(noisy_));
    for (int version = 1; version <= 300; ++version)
        agent_.send(ResourceState{.version = version, .state = "applied"});
    agent_.send(end_of(other));
    const auto is_heard = [&] { return server_.gateway.has_call("ended " + other.value); };
    EXPECT_FALSE(eventually(is_heard, std::chrono::milliseconds(300))) << "the rest waits at the agent";

    server_.gateway.release_output();

    EXPECT_TRUE(eventually(is_heard));
    EXPECT_FALSE(agent_.send_and_wait(ResourceState{.version = 301, .state = "applied"}).error);
    EXPECT_EQ(server_.store.sql("SELECT version FROM center_resource_state"), "301");
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
