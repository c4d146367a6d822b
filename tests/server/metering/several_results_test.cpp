// M17: several results of one place count together, back to a change, wherever what is known of units is told.
#include "core/decide/prediction/combine_results.hpp"
#include "server/metering/speedup_store.hpp"
#include "tests/server/centers/support/metering_fixture.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

namespace fathom::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SeveralResults : public Metering {
  protected:
    void SetUp() override
    {
        ASSERT_TRUE(operators_.seed({test::simple_operator("op1"), test::simple_operator("op3")}));
        // 1000 points for 1 s, as many times more as it was faster.
        ASSERT_TRUE(service_.seed({parse_metric_policy(Json::parse(R"({"id": "r", "kind": "relative",
            "reference_machine": "m", "reference": [
                {"operator": "op1", "parameters": {"n": 10}, "operations": 20, "bytes": 80, "median_s": 1},
                {"operator": "op3", "parameters": {"n": 10}, "operations": 20, "bytes": 80, "median_s": 1}]})"))
                                       .value()}));
    }

    std::vector<OperatorScore> scores(const MeasurementFilter& filter = {})
    {
        return io_.run(scores_.by_operator("", filter, 100, "")).value().page.items;
    }
    OperatorScore only_score() { return scores().at(0); }

    std::string run_of(double median_s)
    {
        return store_.sql("SELECT probe_run_id FROM measurement WHERE median_s = " + std::to_string(median_s));
    }

    void move(double median_s, const std::string& unit_type)
    {
        store_.sql("UPDATE measurement SET unit_type_id = (SELECT id FROM unit_type WHERE name = '" + unit_type +
                   "') WHERE median_s = " + std::to_string(median_s));
    }

    /// Unit type and operator of each score, page by page.
    std::vector<std::string> places(const std::string& operator_id, std::int64_t size)
    {
        std::vector<std::string> names;
        std::string after;
        do {
            const MeasurementFilter filter{.center = "", .unit_type = "", .operator_id = operator_id};
            const auto page = io_.run(scores_.by_operator("", filter, size, after)).value().page;
            EXPECT_LE(page.items.size(), static_cast<std::size_t>(size));
            for (const OperatorScore& one : page.items)
                names.push_back(one.record.unit_type + "/" + one.record.measured.operator_id);
            after = page.next_after;
        } while (!after.empty());
        return names;
    }

    MeasuredCenter center()
    {
        return store_
            .run([](pqxx::work& transaction) -> Result<std::optional<MeasuredCenter>> {
                return select_measured_center(transaction, "alpha", "op1");
            })
            .value()
            .value();
    }
};

TEST_F(SeveralResults, ThatChanceTellsApartMakeAScoreTogetherWithTheirSpread)
{
    measure("op1", 1.02, 0, 7200);
    measure("op1", 0.98, 0, 3600);

    ASSERT_EQ(scores().size(), 1U);
    const OperatorScore scored = only_score();

    // Each by itself has no spread at all.
    const double mean = std::sqrt(1.02 * 0.98);
    EXPECT_NEAR(scored.record.measured.median_s, mean, 1e-9);
    EXPECT_LT(scored.record.measured.ci_low_s, 0.98);
    EXPECT_GT(scored.record.measured.ci_high_s, 1.02);
    EXPECT_NEAR(scored.score.value().value, 1000 / mean, 1e-6);
    EXPECT_LT(scored.score.value().low, 1000 / 1.02);
    EXPECT_GT(scored.score.value().high, 1000 / 0.98);
    EXPECT_THAT(run_ids_of(scored.record.measured), ElementsAre(run_of(0.98), run_of(1.02)));
}

TEST_F(SeveralResults, BeforeAChangeCountNoMore)
{
    measure("op1", 1, 0, 7200);
    measure("op1", 1.01, 0, 5400);
    measure("op1", 2, 0, 3600);
    EXPECT_EQ(only_score().record.measured.median_s, 2);
    EXPECT_EQ(only_score().score.value().low, 500) << "one result stays as it is";
    EXPECT_NEAR(only_score().score.value().high, 1000 / 1.01, 1e-6) << "but it may be of a bad moment";
    EXPECT_THAT(run_ids_of(only_score().record.measured), ElementsAre(run_of(2)));

    measure("op1", 2.04, 0, 1800);
    EXPECT_NEAR(only_score().record.measured.median_s, std::sqrt(2 * 2.04), 1e-9);
    EXPECT_THAT(run_ids_of(only_score().record.measured), ElementsAre(run_of(2.04), run_of(2)));
}

TEST_F(SeveralResults, OneResultStaysAsItIs)
{
    measure("op1", 2, 0);

    const OperatorScore scored = only_score();

    EXPECT_EQ(scored.record.measured.median_s, 2);
    EXPECT_EQ(scored.record.measured.ci_high_s, 2);
    EXPECT_EQ(scored.score.value().value, 500);
    EXPECT_EQ(scored.score.value().high, 500);
    EXPECT_THAT(run_ids_of(scored.record.measured), ElementsAre(run_of(2)));
}

TEST_F(SeveralResults, ThatAreFalseOrOfAnotherVersionAreLeftOut)
{
    measure("op1", 1.03, 0, 7200);
    measure("op1", 1.02, 0, 5400);
    measure("op1", 1.01, 0, 3600);
    store_.sql("UPDATE measurement SET void_reason = 'forged' WHERE median_s = 1.01");
    store_.sql("UPDATE measurement SET operator_version = 2 WHERE median_s = 1.02");

    ASSERT_EQ(scores().size(), 1U) << "the library has version 1 in use";
    EXPECT_EQ(only_score().record.measured.median_s, 1.03);
}

TEST_F(SeveralResults, OnlyTheNewestEightAreRead)
{
    for (int i = 0; i < 12; ++i)
        measure("op1", i < 8 ? 1 : 1.05, 0, 60 * (i + 1)); // so near that it would count

    EXPECT_NEAR(only_score().record.measured.median_s, 1, 1e-12);
    EXPECT_EQ(run_ids_of(only_score().record.measured).size(), kMaxResults);
}

TEST_F(SeveralResults, MakeScoresOverSeveralOperatorsAndTrialsOfPoliciesAsWell)
{
    measure("op1", 1.02, 0, 7200);
    measure("op1", 0.98, 0, 3600);
    measure("op3", 1, 0);

    const auto whole = io_.run(scores_.grouped(ScoreGroup::kCategory, "hpc", "", {}, 10, "")).value().page.items.at(0);
    const PolicyTrial trial = io_.run(scores_.try_policy("r")).value();

    const double alone = only_score().score.value().value;
    ASSERT_EQ(whole.aggregate.parts.size(), 2U);
    EXPECT_DOUBLE_EQ(whole.aggregate.parts[0].score.value().value, alone);
    EXPECT_THAT(whole.aggregate.parts[0].probe_run_ids, ElementsAre(run_of(0.98), run_of(1.02)));
    EXPECT_EQ(whole.aggregate.parts[1].probe_run_ids.size(), 1U);
    EXPECT_NEAR(whole.aggregate.score.value().value, std::sqrt(alone * 1000), 1e-6);
    EXPECT_LT(whole.aggregate.score.value().low, whole.aggregate.score.value().value);
    ASSERT_EQ(trial.operators.size(), 2U);
    EXPECT_DOUBLE_EQ(trial.operators[0].scores.before.value(), alone);
}

TEST_F(SeveralResults, OfManyPlacesAreListedPageByPage)
{
    measure("op1", 1.5, 0, 60);
    measure("op1", 1.51, 0);
    measure("op1", 1.6, 0);
    move(1.6, "u3");
    measure("op1", 1.7, 0, 60);
    measure("op1", 1.71, 0);
    measure("op3", 1.8, 0);
    for (const double median_s : {1.7, 1.71, 1.8})
        move(median_s, "u2");

    for (const std::int64_t size : {1, 2, 3, 4}) {
        EXPECT_THAT(places("", size), ElementsAre("u1/op1", "u2/op1", "u2/op3", "u3/op1")) << size;
        EXPECT_THAT(places("op1", size), ElementsAre("u1/op1", "u2/op1", "u3/op1")) << size;
        EXPECT_THAT(places("op3", size), ElementsAre("u2/op3")) << size;
    }
}

TEST_F(SeveralResults, OfOneOperatorAreFoundAtEveryCountAndSizeBesideOthers)
{
    // Places of one operator are gone to past those of others, before and after it in the order of the index.
    for (const auto& [operator_id, count, size] :
         std::vector<std::tuple<std::string, int, std::string>>{{"op1", 1, "n=10"},
                                                                {"op1", 1, "n=20"},
                                                                {"op1", 3, "n=10"},
                                                                {"op2", 2, "n=10"},
                                                                {"op3", 1, "n=10"},
                                                                {"op3", 2, "n=10"},
                                                                {"op3", 2, "n=20"},
                                                                {"op4", 4, "n=10"}}) {
        const double median_s = 100 + count * 10 + size[2];
        measure(operator_id, median_s, 0);
        store_.sql("UPDATE measurement SET unit_count = " + std::to_string(count) + ", parameters_key = '" + size +
                   "' WHERE operator_id = '" + operator_id + "' AND median_s = " + std::to_string(median_s));
    }
    const auto counts = [this](const std::string& operator_id) {
        std::vector<std::string> found;
        for (const OperatorScore& one : scores({.center = "", .unit_type = "", .operator_id = operator_id}))
            found.push_back(one.record.measured.parameters_key + " on " + std::to_string(one.record.unit_count));
        return found;
    };

    EXPECT_THAT(counts("op1"), ElementsAre("n=10 on 1", "n=10 on 3", "n=20 on 1"));
    EXPECT_THAT(counts("op2"), ElementsAre("n=10 on 2"));
    EXPECT_THAT(counts("op3"), ElementsAre("n=10 on 1", "n=10 on 2", "n=20 on 2"));
    EXPECT_THAT(counts("op4"), ElementsAre("n=10 on 4"));
    EXPECT_THAT(counts("op5"), IsEmpty());
    EXPECT_EQ(counts("").size(), 8U);
}

TEST_F(SeveralResults, TellTheCoefficientsOfCpuOrGpuTogether)
{
    measure("op1", 1.02, 0, 7200);
    measure("op1", 0.98, 0, 3600);
    measure("compression", 0.41, 0, 60);
    measure("compression", 0.4, 0);
    measure("decompression", 0.1, 0);
    store_.sql(R"sql(UPDATE probe_run SET result = '{"operators": [
        {"id": "compression", "parameters": {"n": 10}, "figures": {"compressed_fraction": 0.25}}]}')sql");

    const CenterUnitType u1 = center().unit_types.at(0);

    ASSERT_EQ(u1.measured.size(), 1U);
    EXPECT_NEAR(u1.measured[0].median_s, std::sqrt(1.02 * 0.98), 1e-9);
    ASSERT_EQ(u1.compressions.size(), 1U);
    EXPECT_NEAR(u1.compressions[0].compression_s, std::sqrt(0.41 * 0.4), 1e-9);
    EXPECT_EQ(u1.compressions[0].probe_run_id, run_of(0.4));
}

} // namespace
} // namespace fathom::server
