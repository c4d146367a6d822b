// What a session of an agent bears: bounds, many changes, silence, failures.
#include "server/centers/centers_service.hpp"
#include "server/centers/session_store.hpp"
#include "server/store/notifier.hpp"
#include "tests/server/centers/agent_session_fixture.hpp"
#include "tests/support/temporary_postgres.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using fathom::test::eventually;
using test::AgentServer;
using test::AgentSession;
using test::start_order;
using test::started;
using test::TestAgent;
using test::unit_type;
using testing::HasSubstr;

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
