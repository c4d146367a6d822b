#include "server/probing/results/lost_runs.hpp"
#include "tests/server/probing/probing_fixture.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

class LostRunsTest : public ProbingFixture {
  protected:
    LostRunsTest() : ProbingFixture({"op4"})
    {
        test::add_center(store_, "alpha", test::golden_catalog());
        first_ = io_.run(service_.create_runs(expert_, order_of({"op4"}))).value().runs.front();
    }

    void look()
    {
        store_.run([&](pqxx::work& transaction) { return lost_.look(transaction); }).value();
    }
    /// The center falls silent with every probe that it has.
    void lose_center()
    {
        store_.sql("UPDATE center SET state = 'lost'");
        store_.sql("UPDATE job SET state = 'lost' WHERE state NOT IN ('succeeded', 'failed', 'cancelled', 'lost')");
    }
    void bring_back() { store_.sql("UPDATE center SET state = 'online'"); }
    std::string states() { return store_.sql("SELECT string_agg(state, ' ' ORDER BY id) FROM probe_run"); }

    LostRuns lost_{writer_};
    ProbeRunRecord first_;
};

TEST_F(LostRunsTest, ARunIsRepeatedOnceWhenItsCenterIsBack)
{
    lose_center();
    look();
    EXPECT_EQ(states(), "lost");
    EXPECT_EQ(writer_.stopped, std::vector{first_.job_id});
    EXPECT_EQ(store_.sql("SELECT error FROM probe_run"), "center alpha fell silent while it had the probe");

    bring_back();
    look();
    look();
    EXPECT_EQ(states(), "lost queued");
    EXPECT_EQ(store_.sql("SELECT repeats_run_id FROM probe_run WHERE state = 'queued'"), first_.id.value);
    EXPECT_EQ(store_.sql("SELECT count(DISTINCT order_id) FROM probe_run"), "1") << "it stays in its order's report";
    EXPECT_EQ(store_.sql("SELECT count(DISTINCT document -> 'seed') FROM probe_run"), "2")
        << "the center has seen the old sizes";
}

TEST_F(LostRunsTest, OneThatCannotBeRepeatedKeepsNoOtherFromIt)
{
    test::add_center(store_, "beta", test::golden_catalog());
    OperatorUse use;
    use.id = "op4";
    RunOrder order;
    order.operators = {use};
    ASSERT_TRUE(io_.run(service_.create_runs({"tok_expert", "req_2"}, order)));
    store_.sql("CREATE FUNCTION refuse_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.repeats_run_id = '" +
               first_.id.value + "' THEN RAISE EXCEPTION 'a bad row'; END IF; RETURN NEW; END $$");
    store_.sql("CREATE TRIGGER refuse_it BEFORE INSERT ON probe_run FOR EACH ROW EXECUTE FUNCTION refuse_it()");
    lose_center();
    look();
    bring_back();

    look();

    EXPECT_EQ(store_.sql("SELECT count(*) FROM probe_run r JOIN center c ON c.id = r.center_id "
                         "WHERE c.name = 'beta' AND r.repeats_run_id IS NOT NULL"),
              "1");
    EXPECT_EQ(store_.sql("SELECT count(*) FROM probe_run WHERE repeats_run_id = '" + first_.id.value + "'"), "0");
}

TEST_F(LostRunsTest, CopiesThatNobodyAskedForAreNotRepeatedForTheyWouldWaitForAllUnits)
{
    store_.sql("UPDATE probe_run SET mode = 'throughput', unit_count = 2, created_by = 'fathom'");
    lose_center();
    look();
    bring_back();
    look();
    EXPECT_EQ(states(), "lost");

    store_.sql("UPDATE probe_run SET created_by = 'tok_expert'");
    look();
    EXPECT_EQ(states(), "lost queued");
    EXPECT_EQ(store_.sql("SELECT mode || ' ' || unit_count FROM probe_run WHERE state = 'queued'"), "throughput 2");
}

TEST_F(LostRunsTest, AfterTwoRepeatsItIsGivenUp)
{
    for (int i = 0; i < 4; ++i) {
        lose_center();
        look();
        bring_back();
        look();
    }
    EXPECT_EQ(states(), "lost lost lost");
}

TEST_F(LostRunsTest, ARunThatSomebodyOrderedAnewIsNotRepeated)
{
    lose_center();
    look();
    bring_back();
    OperatorUse use;
    use.id = "op4";
    RunOrder order;
    order.operators = {use};
    io_.run(service_.create_runs({"tok_expert", "req_2"}, order)).value();
    look();
    EXPECT_EQ(states(), "lost queued");
    EXPECT_EQ(store_.sql("SELECT count(repeats_run_id) FROM probe_run"), "0");
}

} // namespace
} // namespace fathom::server
