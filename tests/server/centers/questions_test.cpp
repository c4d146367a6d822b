#include "server/centers/catalog_change.hpp"
#include "server/centers/center_questions.hpp"
#include "server/centers/diversity_store.hpp"
#include "tests/server/centers/support/test_agent.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using test::AgentServer;
using test::TestAgent;
using test::unit_type;
using testing::HasSubstr;

const std::vector<OperatorNeed> kNeeds{{"op1", false}, {"mine", true}};
/// For those that do not answer. Whoever answers is heard within it, on a busy machine, too.
constexpr std::chrono::seconds kQuestionWait = 8s;

TEST(CenterQuestions, AreAnsweredByTheAgentItself)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    CenterQuestions questions(server.store.database());

    auto asked = server.io.spawn(questions.ask({}, kNeeds, 60s));
    const auto query = agent.expect<link::UnitTypesQuery>();
    EXPECT_EQ(query.operators, kNeeds);
    agent.send(link::UnitTypesAnswer{query.query_id, {{"u2", 20, 7}}, {{"u1", "does not offer mine"}}});

    const std::vector<CenterAnswer> answers = asked.get().value();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].center, "alpha");
    EXPECT_EQ(answers[0].no_answer, "");
    EXPECT_EQ(answers[0].able.at(0).name, "u2");
    EXPECT_EQ(answers[0].able.at(0).free_count, 7);
    EXPECT_EQ(answers[0].unable.at(0).reason, "does not offer mine");
    EXPECT_EQ(server.store.sql("SELECT count(*) FROM center_question"), "0");
}

TEST(CenterQuestions, WhoDoesNotAnswerIsNamedWithTheReason)
{
    AgentServer server;
    const auto silent = server.enrol("alpha");
    const auto old = server.enrol("beta");
    TestAgent silent_agent(server, &silent.credential);
    silent_agent.greet();
    TestAgent old_agent(server, &old.credential);
    old_agent.greet();
    test::add_center(server.store, "gamma", test::golden_catalog());
    server.store.sql("UPDATE center SET state = 'suspect' WHERE name = 'gamma'");
    CenterQuestions questions(server.store.database());

    auto asked = server.io.spawn(questions.ask({}, kNeeds, kQuestionWait));
    old_agent.expect<link::UnitTypesQuery>();
    old_agent.send(link::Ack{old_agent.last_id(), Error{Errc::kInvalid, "unknown message type"}});

    const std::vector<CenterAnswer> answers = asked.get().value();
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(answers[0].no_answer, "it did not answer within 8 s");
    EXPECT_THAT(answers[1].no_answer, HasSubstr("does not know this question"));
    EXPECT_EQ(answers[2].no_answer, "the center is not connected: suspect");
}

TEST(CenterQuestions, NobodyAnswersForAnotherCenter)
{
    AgentServer server;
    const auto alpha = server.enrol("alpha");
    const auto beta = server.enrol("beta");
    TestAgent agent(server, &alpha.credential);
    agent.greet();
    TestAgent other(server, &beta.credential);
    other.greet();
    CenterQuestions questions(server.store.database());

    auto asked = server.io.spawn(questions.ask({"alpha"}, kNeeds, kQuestionWait));
    const auto query = agent.expect<link::UnitTypesQuery>();
    other.send_and_wait(link::UnitTypesAnswer{query.query_id, {{"u1", 1, 1}}, {}});

    EXPECT_EQ(asked.get().value().at(0).no_answer, "it did not answer within 8 s");
}

TEST(CatalogChange, SaysWhatMakesOldMeasurementsDoubtful)
{
    const std::vector<UnitTypeReport> before = test::golden_catalog().unit_types;
    std::vector<UnitTypeReport> now = before;
    EXPECT_EQ(describe_change(before, now), "");
    now[0].memory_bytes_per_unit += 4096;
    now.pop_back();
    EXPECT_EQ(describe_change(before, now), "") << "what went away, and a page of memory, change no figure";
    std::vector<UnitTypeReport> shared = before;
    shared[0].facts["sub_units"] = "vgpu";
    std::vector<UnitTypeReport> moved = shared;
    moved[0].unit_count += 5;
    EXPECT_EQ(describe_change(shared, moved), "") << "nor do sub-units that have moved";
    std::vector<UnitTypeReport> connected = before;
    connected[0].facts["leaf_switches"] = {{"count", 2}, {"most_units_of_one", 6}};
    EXPECT_EQ(describe_change(before, connected), "") << "nor does which of the nodes are up, below which switch";

    now[0].facts["cpu_model"] = "another";
    now[1].cores_per_unit = 7;
    now[1].operators.push_back("op9");
    now.push_back(unit_type("u4", 1, {"op1"}));
    const std::string change = describe_change(before, now);
    EXPECT_THAT(change, HasSubstr("u1: cpu_model changed"));
    EXPECT_THAT(change, HasSubstr("u2: a unit has 7 cores"));
    EXPECT_THAT(change, HasSubstr("new operators op9"));
    EXPECT_THAT(change, HasSubstr("new unit type u4"));
}

TEST(CatalogChange, IsARequestToMeasureButAReconnectIsNot)
{
    AgentServer server;
    const auto enrolled = server.enrol("alpha");
    TestAgent agent(server, &enrolled.credential);
    agent.greet();
    EXPECT_THAT(server.store.sql("SELECT probe_request_reason FROM center"),
                HasSubstr("catalog changed: new unit type"));
    server.store.sql("UPDATE center SET probe_requested_at = NULL, probe_request_reason = ''");

    agent.send_and_wait(link::CatalogChanged{test::golden_catalog()});
    EXPECT_EQ(server.store.sql("SELECT count(probe_requested_at) FROM center"), "0");
    agent.send_and_wait(link::ProbeRequest{"new memory"});
    agent.send_and_wait(link::ProbeRequest{"new memory"});
    agent.send_and_wait(link::ProbeRequest{"and disks"});
    EXPECT_EQ(server.store.sql("SELECT probe_request_reason FROM center"), "new memory; and disks");
}

TEST(Diversity, CountsTheKindsOfUnitOfEachOperator)
{
    test::TestStore store;
    OperatorsService operators(store.database());
    operators.seed({test::simple_operator("op1"), test::simple_operator("op4"), test::simple_operator("op7")}).value();
    test::add_center(store, "alpha", test::golden_catalog());
    test::add_center(store, "beta", {{unit_type("all", 3, {"op1"})}, {}});

    const auto select = [&store](UnitTypesListed listed) {
        return store.run([listed](pqxx::work& transaction) -> Result<Page<OperatorDiversity>> {
            return select_diversity_page(transaction, "", listed, 10, "");
        });
    };
    const auto page = select(UnitTypesListed::kYes);
    const auto counts = select(UnitTypesListed::kNo);

    ASSERT_EQ(page.value().items.size(), 3U);
    const OperatorDiversity& widest = page.value().items[0];
    EXPECT_EQ(widest.operator_id, "op1");
    EXPECT_EQ(widest.unit_type_count, 4);
    EXPECT_EQ(widest.center_count, 2);
    EXPECT_EQ(widest.unit_count, 38);
    EXPECT_EQ(widest.resource_types, Json::array({"cpu"}));
    EXPECT_EQ(page.value().items[1].unit_type_count, 1);
    EXPECT_EQ(page.value().items[2].unit_type_count, 0) << "nothing runs it, and that is said";
    EXPECT_EQ(widest.unit_types.size(), 4U);
    EXPECT_EQ(widest.unit_types[0]["center"], "alpha");
    ASSERT_EQ(counts.value().items.size(), 3U);
    EXPECT_EQ(counts.value().items[0].unit_type_count, 4);
    EXPECT_EQ(counts.value().items[0].center_count, 2);
    EXPECT_EQ(counts.value().items[0].unit_types, Json::array());
    store.database().stop();
}

} // namespace
} // namespace fathom::server
