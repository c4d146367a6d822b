#include "server/centers/centers_service.hpp"
#include "server/centers/session_store.hpp"
#include "server/store/notifier.hpp"
#include "tests/server/centers/support/test_agent.hpp"
#include "tests/support/temporary_postgres.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using fathom::test::eventually;
using test::AgentServer;
using test::TestAgent;
using test::unit_type;
using testing::HasSubstr;

link::StartAttempt start_order(const AttemptId& attempt)
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

link::AttemptStarted started(const AttemptId& attempt)
{
    link::AttemptStarted message;
    message.attempt_id = attempt;
    return message;
}

class AgentSession : public testing::Test {
  protected:
    /// An agent of center alpha whose hello was answered.
    TestAgent greeted_agent()
    {
        TestAgent agent(server_, &enrolled_.credential);
        agent.greet();
        return agent;
    }

    /// The change of the center's row is made before this replica hears of it.
    void expect_that_reports_change_nothing_after(const std::string& change)
    {
        TestAgent agent = greeted_agent();
        server_.store.sql("UPDATE center SET probe_requested_at = NULL, " + change + " RETURNING 1");

        agent.send(link::ProbeRequest{"measure me"});

        EXPECT_THAT(agent.expect_end(), testing::AnyOf(HasSubstr("not available now"), HasSubstr("superseded")));
        EXPECT_EQ(server_.store.sql("SELECT count(*) FROM center WHERE probe_requested_at IS NOT NULL"), "0");
    }

    AgentServer server_;
    AgentServer::Enrolled enrolled_ = server_.enrol("alpha");
};

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

TEST_F(AgentSession, FactsAreBounded)
{
    TestAgent agent = greeted_agent();

    Catalog large = test::golden_catalog();
    large.unit_types[0].facts = {{"note", std::string(70'000, 'x')}};
    const link::Ack one = agent.send_and_wait(link::CatalogChanged{large});
    Catalog many;
    for (int i = 0; i < 20; ++i) {
        many.unit_types.push_back(unit_type("u" + std::to_string(i), 1, {"op1"}));
        many.unit_types.back().facts = {{"note", std::string(60'000, 'x')}};
    }
    const link::Ack all = agent.send_and_wait(link::CatalogChanged{many});

    ASSERT_TRUE(one.error && all.error);
    EXPECT_THAT(one.error->detail, HasSubstr("64 KiB"));
    EXPECT_THAT(all.error->detail, HasSubstr("1 MiB"));
    EXPECT_EQ(server_.store.sql("SELECT max(length(facts::text)) < 64000 FROM unit_type"), "t");
    TestAgent again(server_, &enrolled_.credential);
    again.send(link::Hello{"0.1.0", large, {}});
    EXPECT_THAT(again.expect_end(), HasSubstr("64 KiB"));
}

TEST_F(AgentSession, NamesOfUnitTypesAreBounded)
{
    TestAgent agent = greeted_agent();
    const auto add_past_ones = [this](const std::string& numbers) {
        server_.store.sql("INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit, "
                          "memory_bytes_per_unit, operators, active) SELECT 'utp_' || i, (SELECT id FROM center LIMIT "
                          "1), 'past' || i, 'cpu', 1, 1, 0, '{}', false FROM generate_series(" +
                          numbers + ") AS i");
    };
    add_past_ones("1, 1000 - (SELECT count(*) FROM unit_type)");
    Catalog catalog;
    catalog.unit_types = {unit_type("new", 1, {"op1"})};
    const link::Ack one_more = agent.send_and_wait(link::CatalogChanged{catalog});
    ASSERT_TRUE(one_more.error);
    EXPECT_THAT(one_more.error->detail, HasSubstr("1000 unit types"));
    TestAgent again(server_, &enrolled_.credential);
    again.send(link::Hello{"0.1.0", catalog, {}});
    EXPECT_THAT(again.expect_end(), HasSubstr("1000 unit types"));

    TestAgent third = greeted_agent();
    catalog.unit_types = {unit_type("past1", 1, {"op1"})};
    EXPECT_FALSE(third.send_and_wait(link::CatalogChanged{catalog}).error);

    EXPECT_EQ(server_.store.sql("SELECT count(*) FROM unit_type"), "1000");
    EXPECT_EQ(server_.store.sql("SELECT name FROM unit_type WHERE active"), "past1");
    add_past_ones("2001, 2005"); // before there was a bound
    greeted_agent();
    EXPECT_EQ(server_.store.sql("SELECT count(*) FROM unit_type"), "1005");
}

TEST_F(AgentSession, CatalogsThatChangeAgainAndAgainWait)
{
    TestAgent agent = greeted_agent();

    const auto began = std::chrono::steady_clock::now();
    for (int i = 1; i <= 8; ++i) {
        Catalog catalog;
        catalog.unit_types = {unit_type("u1", i, {"op1"})};
        EXPECT_FALSE(agent.send_and_wait(link::CatalogChanged{catalog}).error);
    }

    // Five at once, then one each 200 ms: the eighth comes 600 ms after the first at the earliest.
    EXPECT_GE(std::chrono::steady_clock::now() - began, 590ms);
    EXPECT_EQ(server_.store.sql("SELECT unit_count FROM unit_type WHERE active"), "8");
}

/// Waits until all wake-ups that were sent before have been heard.
bool all_notices_are_heard(AgentServer& server)
{
    const CenterId last{"last"};
    const int before = server.catalog_notices(last);
    return eventually([&] {
        const Result<void> sent = server.store.run([&](pqxx::work& transaction) -> Result<void> {
            notify(transaction, "catalog", last.value);
            return {};
        });
        return sent && server.catalog_notices(last) > before;
    });
}

TEST_F(AgentSession, WhatAgentsReportOftenMakesReplicasReadTheCatalogOnceASecond)
{
    TestAgent agent = greeted_agent();
    ASSERT_TRUE(all_notices_are_heard(server_));
    const int before = server_.catalog_notices(enrolled_.center);

    const auto began = std::chrono::steady_clock::now();
    for (int i = 1; i <= 30; ++i) {
        const SharedGpu gpu{.gpu = "GPU-1", .capacity_bytes = 80 + i};
        EXPECT_FALSE(agent.send_and_wait(GpuMemoryReport{{gpu}}).error);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    ASSERT_TRUE(all_notices_are_heard(server_));

    EXPECT_LE(server_.catalog_notices(enrolled_.center) - before, took.count() + 2);
    EXPECT_TRUE(eventually([&] { return server_.catalog_notices(enrolled_.center) - before >= 2; }))
        << "the last report is told of as well";
    EXPECT_EQ(server_.store.sql("SELECT report->>'capacity_bytes' FROM shared_gpu"), "110");
}

TEST_F(AgentSession, QueuesThatAreReportedAtOnceAreToldOfALittleLater)
{
    TestAgent agent = greeted_agent();
    ASSERT_TRUE(all_notices_are_heard(server_));
    const int before = server_.catalog_notices(enrolled_.center);

    // The gateway of this test tells nobody: what is heard comes from the session.
    const link::QueueReport report{.attempts = {}, .unit_types = {{"u1", std::nullopt}}};
    for (int i = 0; i < 50 && (i == 0 || server_.gateway.notices().back() == CatalogNotice::kNow); ++i)
        EXPECT_FALSE(agent.send_and_wait(report).error);

    EXPECT_EQ(server_.gateway.notices().front(), CatalogNotice::kNow);
    EXPECT_EQ(server_.gateway.notices().back(), CatalogNotice::kLater);
    EXPECT_TRUE(eventually([&] { return server_.catalog_notices(enrolled_.center) > before; }));
}

TEST_F(AgentSession, HelloMustComeFirstAndSoon)
{
    AgentServer impatient(500ms);
    const auto enrolled = impatient.enrol("alpha");
    TestAgent silent(impatient, &enrolled.credential);
    TestAgent hasty(server_, &enrolled_.credential);
    hasty.send(started(AttemptId::make()));

    EXPECT_THAT(hasty.expect_end(), HasSubstr("hello"));
    EXPECT_THAT(silent.expect_end(), HasSubstr("no hello in time"));
}

TEST_F(AgentSession, HeartbeatsBringASuspectCenterBack)
{
    TestAgent agent = greeted_agent();
    server_.store.sql("UPDATE center SET state = 'suspect', last_seen_at = now() - interval '1 hour'");

    agent.send(link::Heartbeat{});

    EXPECT_TRUE(eventually([&] { return server_.store.sql("SELECT state FROM center") == "online"; }));
    EXPECT_EQ(server_.store.sql("SELECT last_seen_at > now() - interval '1 minute' FROM center"), "t");
}

TEST_F(AgentSession, AReplicaThatDoesNotReachTheDatabaseGivesUpItsAgents)
{
    TestAgent agent = greeted_agent();
    const std::string database = server_.store.sql("SELECT current_database()");
    const std::string elsewhere = fathom::test::empty_database();
    fathom::test::run_sql(elsewhere, "ALTER DATABASE " + database + " ALLOW_CONNECTIONS false");
    fathom::test::run_sql(elsewhere, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '" +
                                         database + "'");

    agent.send(link::Heartbeat{});

    EXPECT_THAT(agent.expect_end(), HasSubstr("cannot reach the database"));
    fathom::test::run_sql(elsewhere, "ALTER DATABASE " + database + " ALLOW_CONNECTIONS true");
}

TEST_F(AgentSession, AMessageThatAlwaysFailsIsPutAwayAndTheNextOneIsHeard)
{
    TestAgent agent = greeted_agent();
    const AttemptId attempt = AttemptId::make();
    server_.gateway.fail_next(Error{Errc::kInternal, "nobody knows how to store it"});

    const link::Ack ack = agent.send_and_wait(started(attempt));

    ASSERT_TRUE(ack.error) << "lest it comes again";
    EXPECT_FALSE(agent.send_and_wait(started(AttemptId::make())).error) << "the session goes on";
    EXPECT_EQ(server_.store.sql("SELECT attempt_id FROM agent_dead_letter"), attempt.value);
    EXPECT_THAT(server_.store.sql("SELECT message FROM agent_dead_letter"), HasSubstr("attempt_started"));
    EXPECT_THAT(server_.store.sql("SELECT error FROM agent_dead_letter"), HasSubstr("nobody knows how to store it"));
}

TEST_F(AgentSession, ManyLargeOrdersComeOneAfterTheOtherOverOneConnection)
{
    constexpr int kOrders = 40; // of 2 MiB: more than may wait for a connection at once
    for (int i = 0; i < kOrders; ++i) {
        link::StartAttempt order = start_order(AttemptId::make());
        order.order.files["input"] = std::string(2 << 20, 'x');
        server_.gateway.order(order);
    }
    TestAgent agent(server_, &enrolled_.credential);
    agent.greet();
    const std::string epoch = server_.store.sql("SELECT session_epoch FROM center");

    for (int i = 0; i < kOrders; ++i) {
        agent.expect<link::StartAttempt>();
        ASSERT_FALSE(HasFailure()) << "after " << i;
        agent.send(link::Ack{agent.last_id(), std::nullopt});
    }

    EXPECT_TRUE(eventually([&] { return server_.gateway.calls().size() == kOrders; }));
    EXPECT_EQ(server_.store.sql("SELECT session_epoch FROM center"), epoch);
}

} // namespace
} // namespace fathom::server
