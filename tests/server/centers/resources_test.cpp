#include "server/centers/catalog_change.hpp"
#include "server/centers/centers_store.hpp"
#include "server/centers/resources_store.hpp"
#include "server/store/notifier.hpp"
#include "tests/server/centers/support/test_agent.hpp"

namespace fathom::server {
namespace {

using test::AgentServer;
using test::TestAgent;
using test::unit_type;
using testing::ElementsAre;
using testing::HasSubstr;

/// The catalog of an agent that takes orders.
Catalog catalog_of(std::vector<UnitTypeReport> unit_types)
{
    return {.unit_types = std::move(unit_types), .facts = {{"remote_resources", "within"}}};
}

UnitCut quads(std::int64_t count)
{
    UnitCut cut;
    cut.name = "quad";
    cut.cores_per_unit = 4;
    cut.unit_count = count;
    return cut;
}

/// As an administrator does it.
void put(AgentServer& server, const CenterId& center, std::vector<UnitCut> unit_types)
{
    const Result<void> done = server.store.run([&](pqxx::work& transaction) -> Result<void> {
        put_center_resources(transaction, center, unit_types, "tok_admin");
        notify(transaction, "center_resources", center.value);
        return {};
    });
    ASSERT_TRUE(done);
}

CenterResourcesRecord record_of(AgentServer& server, const std::string& key)
{
    return server.store
        .run([&](pqxx::work& transaction) -> Result<CenterResourcesRecord> {
            return select_center_resources(transaction, key).value();
        })
        .value();
}

ResourceDifference seven_of_eight()
{
    return {.code = "fewer_devices",
            .unit_type = "gpu",
            .field = "unit_count",
            .wanted = 8,
            .seen = 7,
            .detail = "\"gpu\" needs 8 of \"cuda\", but only 7 are left"};
}

TEST(CenterResources, AreSaidToTheAgentWhichAnswersWithTheDifferences)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet(catalog_of({unit_type("core", 8, {"op1"})}));
    EXPECT_EQ(resource_progress(record_of(server, "alpha")), "file");

    put(server, enrolled.center, {quads(2)});
    const auto order = agent.expect<ResourceOrder>();
    EXPECT_EQ(order.version, 1);
    EXPECT_EQ(order.unit_types, std::vector{quads(2)});
    EXPECT_EQ(resource_progress(record_of(server, "alpha")), "waiting");
    agent.send_and_wait(ResourceState{
        .version = 1, .state = "applied", .detail = "", .permission = "within", .differences = {seven_of_eight()}});

    const CenterResourcesRecord record = record_of(server, enrolled.center.value);
    EXPECT_EQ(resource_progress(record), "differs");
    EXPECT_THAT(record.reported->differences, ElementsAre(seven_of_eight()));
    EXPECT_EQ(to_json(record)["reported"]["differences"][0]["seen"], 7);
}

TEST(CenterResources, ANewerVersionIsSaidAnewAndAnAnswerToAnOlderOneIsNone)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet(catalog_of({unit_type("core", 8, {"op1"})}));
    put(server, enrolled.center, {quads(2)});
    EXPECT_EQ(agent.expect<ResourceOrder>().version, 1);

    put(server, enrolled.center, {quads(1)});
    EXPECT_EQ(agent.expect<ResourceOrder>().unit_types, std::vector{quads(1)});
    agent.send_and_wait(ResourceState{.version = 1, .state = "applied"});
    EXPECT_EQ(resource_progress(record_of(server, "alpha")), "waiting");
    agent.send_and_wait(ResourceState{.version = 2, .state = "applied"});
    EXPECT_EQ(resource_progress(record_of(server, "alpha")), "applied");
    agent.send_and_wait(ResourceState{.version = 2, .state = "forbidden", .detail = "its file says so"});
    EXPECT_EQ(resource_progress(record_of(server, "alpha")), "forbidden");
}

TEST(CenterResources, AreSaidInEachConnectionAndTheOldAnswerIsForgotten)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    {
        TestAgent agent(server, &enrolled.credential);
        agent.greet(catalog_of({unit_type("core", 8, {"op1"})}));
        put(server, enrolled.center, {quads(2)});
        agent.expect<ResourceOrder>();
        agent.send_and_wait(ResourceState{.version = 1, .state = "applied"});
        agent.close();
    }

    TestAgent again(server, &enrolled.credential);
    again.greet(catalog_of({unit_type("quad", 2, {"op1"})}));

    EXPECT_EQ(again.expect<ResourceOrder>().version, 1);
    EXPECT_EQ(resource_progress(record_of(server, "alpha")), "waiting");
}

TEST(CenterResources, AnOlderAgentIsNotToldAndThatIsSaid)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    put(server, enrolled.center, {quads(2)});
    agent.greet();

    agent.send(GpuMemoryReport{});

    agent.expect<link::Ack>();
    EXPECT_EQ(agent.dropped(), 0);
    EXPECT_EQ(resource_progress(record_of(server, "alpha")), "unsupported");
}

TEST(CenterResources, AStoredOrderThatCannotBeReadIsNotSaidAndCanBeReplaced)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    put(server, enrolled.center, {quads(2)});
    server.store.sql(R"(UPDATE center_resources SET unit_types = '[{"name": 7}]')");
    TestAgent agent(server, &enrolled.credential);
    agent.greet(catalog_of({unit_type("core", 8, {"op1"})}));
    agent.send_and_wait(ResourceState{.version = 0, .state = "file"});

    const CenterResourcesRecord record = record_of(server, "alpha");
    EXPECT_EQ(record.order.version, 1);
    EXPECT_TRUE(record.order.unit_types.empty());
    EXPECT_EQ(resource_progress(record), "failed");

    put(server, enrolled.center, {quads(1)});
    const auto order = agent.expect<ResourceOrder>();
    EXPECT_EQ(order.version, 2);
    EXPECT_EQ(order.unit_types, std::vector{quads(1)});
}

TEST(CenterUnitTypes, AreListedWhenTheResultOfAProbeCannotBeRead)
{
    test::TestStore store;
    test::add_center(store, "alpha", test::golden_catalog());
    test::add_measurement(store, {.operator_id = "op1", .median_s = 1});
    store.sql(R"(UPDATE probe_run SET result = '{"wall_s": "long", "operators": []}')");

    const auto page = store
                          .run([&](pqxx::work& transaction) -> Result<Page<UnitTypeRecord>> {
                              return select_unit_types(transaction, "alpha", 10, "");
                          })
                          .value();

    ASSERT_EQ(page.items.size(), 3U);
    EXPECT_EQ(page.items[0].name, "u1");
    EXPECT_TRUE(page.items[0].advice.empty());
    store.database().stop();
}

TEST(CenterResources, AnAgentThatFollowsWhatIsNotKnownHereIsSentBackToItsFile)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet(catalog_of({unit_type("quad", 2, {"op1"})}));

    agent.send(ResourceState{.version = 9, .state = "applied"});

    const auto order = agent.expect<ResourceOrder>();
    EXPECT_EQ(order.version, 0);
    EXPECT_TRUE(order.unit_types.empty());
}

TEST(CenterResources, ANulCharacterIsRefusedAndTheRestGoesOn)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();

    ResourceDifference difference = seven_of_eight();
    difference.detail = std::string("a\0b", 3);
    agent.send(
        ResourceState{.version = 0, .state = "file", .detail = "", .permission = "", .differences = {difference}});

    EXPECT_TRUE(agent.expect<link::Ack>().error);
    EXPECT_FALSE(agent.send_and_wait(ResourceState{.version = 0, .state = "file"}).error);
}

TEST(CenterResources, WhatACenterLosesByItselfIsNotedAndItsFactsFollow)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet(catalog_of({unit_type("gpu", 8, {"op1"}), unit_type("old", 1, {"op1"})}));

    Catalog fewer = catalog_of({unit_type("gpu", 7, {"op1"})});
    fewer.facts["differences"] = {"GPU 3 does not answer"};
    agent.send_and_wait(link::CatalogChanged{fewer});

    EXPECT_EQ(record_of(server, "alpha").changes.at(0).change, "gpu: 7 units, were 8; unit type old is gone");
    EXPECT_EQ(server.store.sql("SELECT facts->'differences'->>0 FROM center"), "GPU 3 does not answer");
}

TEST(CenterResources, NotesOfChangesAreNotKeptForEver)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    for (int i = 0; i < 105; ++i) {
        const Result<void> noted = server.store.run([&](pqxx::work& transaction) -> Result<void> {
            note_center_change(transaction, enrolled.center, "change " + std::to_string(i));
            return {};
        });
        ASSERT_TRUE(noted);
    }

    EXPECT_EQ(server.store.sql("SELECT count(*) FROM center_change"), "100");
    EXPECT_EQ(record_of(server, "alpha").changes.front().change, "change 104");
}

TEST(OfferChange, NamesWhatAJobCouldNotice)
{
    UnitTypeReport before = unit_type("core", 8, {"op1", "op2"});
    before.memory_bytes_per_unit = 1000;
    UnitTypeReport now = before;
    now.memory_bytes_per_unit = 999;
    EXPECT_EQ(describe_offer_change({before}, {now}), "") << "virtual machines' memory varies a little";

    now.memory_bytes_per_unit = 500;
    now.operators = {"op1"};
    EXPECT_THAT(describe_offer_change({before}, {now}), HasSubstr("500 bytes of memory in a unit, were 1000"));
    EXPECT_THAT(describe_offer_change({before}, {now}), HasSubstr("without operators op2"));
    EXPECT_EQ(describe_offer_change({}, {before}), "new unit type core with 8 units");
}

TEST(OfferChange, NodesOfABatchSystemThatComeAndGoAskForNoMeasurement)
{
    UnitTypeReport before = unit_type("main", 64, {"op1"});
    before.facts = {{"partition", "main"}, {"nodes", 2}, {"labels", {{"rack", "a3"}}}};
    UnitTypeReport now = before;
    now.unit_count = 32;
    now.facts["nodes"] = 1;
    now.facts["labels"]["rack"] = "b7";

    EXPECT_EQ(describe_change({before}, {now}), "");
    EXPECT_EQ(describe_offer_change({before}, {now}), "main: 32 units, were 64");
}

} // namespace
} // namespace fathom::server
