#include "server/centers/centers_service.hpp"
#include "server/centers/session_store.hpp"
#include "server/store/notifier.hpp"
#include "tests/server/centers/agent_session_fixture.hpp"
#include "tests/support/temporary_postgres.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using fathom::test::eventually;
using test::AgentSession;
using test::start_order;
using test::started;
using test::TestAgent;
using test::unit_type;
using testing::HasSubstr;

TEST_F(AgentSession, HelloStoresTheCatalogAndIsWelcomed)
{
    const AttemptId running = AttemptId::make();
    const AttemptId ended = AttemptId::make();
    TestAgent agent(server_, &enrolled_.credential);

    const link::Welcome welcome = agent.greet(test::golden_catalog(), {{running, "running"}, {ended, "ended"}});

    EXPECT_EQ(welcome.center_name, "alpha");
    EXPECT_EQ(welcome.center_id, enrolled_.center.value);
    EXPECT_EQ(welcome.stop, std::vector{running});
    EXPECT_EQ(welcome.forget, std::vector{ended});
    EXPECT_EQ(server_.store.sql("SELECT state || ' ' || agent_version FROM center"), "online 0.1.0");
    EXPECT_EQ(
        server_.store.sql("SELECT string_agg(name || ':' || unit_count || ':' || operators::text, ' ' ORDER BY name) "
                          "FROM unit_type WHERE active"),
        "u1:10:{op1,op3,op4} u2:20:{op1,op2,op3,op5} u3:5:{op1,op2,op5}");
}

TEST_F(AgentSession, HelloSaysWhichHostJobsRunOnUntilOneDoesNotSay)
{
    link::Hello hello{.agent_version = "0.1.0", .catalog = test::golden_catalog(), .inventory = {}};
    hello.host_id = "abc";
    TestAgent agent(server_, &enrolled_.credential);
    agent.send(hello);
    agent.expect<link::Welcome>();
    EXPECT_EQ(server_.store.sql("SELECT host_id FROM center"), "abc");

    TestAgent older(server_, &enrolled_.credential);
    older.greet();

    EXPECT_EQ(server_.store.sql("SELECT host_id IS NULL FROM center"), "t");
}

TEST_F(AgentSession, AChangedCatalogKeepsIdsAndPutsMissingUnitTypesAway)
{
    TestAgent agent = greeted_agent();
    const std::string id = server_.store.sql("SELECT id FROM unit_type WHERE name = 'u1'");

    Catalog fewer;
    fewer.unit_types = {unit_type("u1", 11, {"op1"})};
    const link::Ack ack = agent.send_and_wait(link::CatalogChanged{fewer});

    EXPECT_FALSE(ack.error);
    EXPECT_EQ(server_.store.sql("SELECT id || ' ' || unit_count FROM unit_type WHERE active"), id + " 11");
    EXPECT_EQ(server_.store.sql("SELECT count(*) FROM unit_type WHERE NOT active"), "2");
}

TEST_F(AgentSession, AnUnchangedCatalogWritesNothing)
{
    TestAgent agent = greeted_agent();
    const std::string before = server_.store.sql("SELECT max(changed_at)::text FROM unit_type");

    agent.send_and_wait(link::CatalogChanged{test::golden_catalog()});

    EXPECT_EQ(server_.store.sql("SELECT max(changed_at)::text FROM unit_type"), before);
}

TEST_F(AgentSession, ReportsAreAcknowledgedAfterTheyAreKept)
{
    TestAgent agent = greeted_agent();
    const AttemptId attempt = AttemptId::make();

    EXPECT_FALSE(agent.send_and_wait(started(attempt)).error);
    EXPECT_TRUE(server_.gateway.has_call("started " + attempt.value));
    link::AttemptOutput output;
    output.attempt_id = attempt;
    output.stream = "stdout";
    output.data = "hello";
    EXPECT_FALSE(agent.send_and_wait(output).error);
    EXPECT_TRUE(server_.gateway.has_call("output hello"));
    EXPECT_FALSE(agent.send_and_wait(link::QueueReport{{{attempt, "Priority", std::nullopt}}}).error);
    EXPECT_TRUE(server_.gateway.has_call("queued " + attempt.value + ": Priority"));
    link::AttemptEnded ended;
    ended.end.attempt_id = attempt;
    EXPECT_FALSE(agent.send_and_wait(ended).error);
    EXPECT_TRUE(server_.gateway.has_call("ended " + attempt.value));
}

TEST_F(AgentSession, OrdersAreSentOnceAndTheirAcknowledgementIsPassedOn)
{
    TestAgent agent = greeted_agent();
    const AttemptId attempt = AttemptId::make();
    server_.gateway.order(start_order(attempt));

    const link::StartAttempt start = agent.expect<link::StartAttempt>();
    EXPECT_EQ(start.order.attempt_id, attempt);
    const MessageId order = agent.last_id();
    const int polls = server_.gateway.polls();
    EXPECT_TRUE(eventually([&] { return server_.gateway.polls() >= polls + 3; }));
    const int dropped = agent.dropped();
    EXPECT_FALSE(agent.send_and_wait(started(AttemptId::make())).error);
    EXPECT_EQ(agent.dropped(), dropped) << "an order in flight is not repeated";
    agent.send(link::Ack{order, std::nullopt});

    EXPECT_TRUE(eventually([&] { return server_.gateway.has_call("acknowledged " + attempt.value); }));
}

TEST_F(AgentSession, AWakeUpBringsOrdersAtOnce)
{
    TestAgent agent = greeted_agent();
    const int polls = server_.gateway.polls();

    for (int i = 0; i < 5; ++i) {
        server_.store.run([&](pqxx::work& transaction) -> Result<void> {
            notify(transaction, "dispatch", enrolled_.center.value);
            return {};
        });
    }

    EXPECT_TRUE(eventually([&] { return server_.gateway.polls() > polls; }));
}

TEST_F(AgentSession, ARefusedOrderIsPassedOn)
{
    TestAgent agent = greeted_agent();
    const AttemptId attempt = AttemptId::make();
    server_.gateway.order(start_order(attempt));
    agent.expect<link::StartAttempt>();

    agent.send(link::Ack{agent.last_id(), Error{Errc::kInvalid, "no such unit type"}});

    EXPECT_TRUE(eventually([&] { return server_.gateway.has_call("refused " + attempt.value); }));
}

TEST_F(AgentSession, WhatCanNeverWorkIsRefusedWithAReason)
{
    TestAgent agent = greeted_agent();
    server_.gateway.fail_next(Error{Errc::kNotFound, "no such attempt"});

    const link::Ack unknown = agent.send_and_wait(started(AttemptId::make()));
    const link::Ack wrong_way = agent.send_and_wait(link::RenewedCertificate{"x"});

    ASSERT_TRUE(unknown.error);
    EXPECT_THAT(unknown.error->detail, HasSubstr("no such attempt"));
    ASSERT_TRUE(wrong_way.error);
    EXPECT_EQ(wrong_way.error->code, Errc::kInvalid);
    EXPECT_FALSE(agent.send_and_wait(started(AttemptId::make())).error) << "the session goes on";
}

TEST_F(AgentSession, AFailureOfOursEndsTheSessionWithoutAcknowledgement)
{
    TestAgent agent = greeted_agent();
    server_.gateway.fail_next(Error{Errc::kUnavailable, "the database is away"});

    agent.send(started(AttemptId::make()));

    EXPECT_THAT(agent.expect_end(), HasSubstr("not available now"));
}

TEST_F(AgentSession, MalformedMessagesAreRefusedByNameAndManyEndTheSession)
{
    TestAgent agent = greeted_agent();
    const MessageId id = MessageId::make();
    const Json malformed{{"v", 1}, {"id", id.value}, {"type", "attempt_started"}, {"body", {{"attempt_id", "wrong"}}}};

    agent.send_text(malformed.dump());
    const link::Ack ack = agent.expect<link::Ack>();
    for (int i = 0; i < 30; ++i)
        agent.send_text("no JSON");

    EXPECT_EQ(ack.of, id);
    ASSERT_TRUE(ack.error);
    EXPECT_THAT(ack.error->detail, HasSubstr("attempt_id"));
    EXPECT_THAT(agent.expect_end(), HasSubstr("too many malformed messages"));
}

TEST_F(AgentSession, FactsThatPostgresCannotKeepAreTheAgentsFault)
{
    TestAgent agent = greeted_agent();
    Catalog catalog = test::golden_catalog();
    catalog.unit_types[0].facts["cpu"] = std::string("a\0b", 3);

    const link::Ack ack = agent.send_and_wait(link::CatalogChanged{catalog});

    ASSERT_TRUE(ack.error);
    EXPECT_THAT(ack.error->detail, HasSubstr("NUL"));
}

TEST_F(AgentSession, ANewerConnectionEndsTheOlder)
{
    TestAgent older(server_, &enrolled_.credential);
    older.greet();

    TestAgent newer(server_, &enrolled_.credential);
    newer.greet();

    EXPECT_THAT(older.expect_end(), HasSubstr("superseded"));
    EXPECT_FALSE(newer.send_and_wait(started(AttemptId::make())).error);
}

TEST_F(AgentSession, AConnectionToAnotherReplicaEndsTheOlder)
{
    TestAgent older(server_, &enrolled_.credential);
    older.greet();

    // What another replica does when the agent comes to it.
    server_.store.run([&](pqxx::work& transaction) -> Result<void> {
        const std::string serial = net::read_certificate(enrolled_.credential.certificate_pem).value().serial_hex;
        open_session(transaction, enrolled_.center, serial, "rep_other", "0.1.0", Json::object(), "");
        notify(transaction, "center", enrolled_.center.value);
        return {};
    });

    EXPECT_THAT(older.expect_end(), HasSubstr("superseded"));
}

TEST_F(AgentSession, ReportsOfASupersededSessionChangeNothing)
{
    expect_that_reports_change_nothing_after("session_epoch = session_epoch + 1");
}

TEST_F(AgentSession, ReportsOfARevokedSessionChangeNothing)
{
    expect_that_reports_change_nothing_after("revoked_at = now()");
}

} // namespace
} // namespace fathom::server
