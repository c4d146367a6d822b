// M12, M17: the report of an order or a task holds its runs' own results, and what their places say with other results.
#include "core/decide/prediction/combine_results.hpp"
#include "server/probing/results/comparison_store.hpp"
#include "tests/server/probing/probing_fixture.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

#include <cmath>

namespace fathom::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Results of op1 on one unit of alpha/u1, each of an order and a task of its own.
class ComparisonStore : public ProbingFixture {
  protected:
    ComparisonStore() : ProbingFixture({"op1"}) { test::add_center(store_, "alpha", test::golden_catalog()); }

    /// So many minutes ago, exact. Times tell the results of a test apart.
    void measure(double median_s, int age_min)
    {
        test::StoredMeasurement stored;
        stored.operator_id = "op1";
        stored.median_s = median_s;
        stored.age = std::to_string(age_min) + " minutes";
        test::add_measurement(store_, stored);
        store_.sql("UPDATE probe_run SET order_id = id");
    }
    /// Of the result with this time.
    std::string run_of(double median_s)
    {
        return store_.sql("SELECT probe_run_id FROM measurement WHERE median_s = " + std::to_string(median_s));
    }
    RunReport order_report(double median_s)
    {
        const std::string order = run_of(median_s);
        return store_
            .run([&](pqxx::work& transaction) -> Result<RunReport> { return select_order_report(transaction, order); })
            .value();
    }
    RunReport task_report(double median_s)
    {
        const std::string task =
            store_.sql("SELECT probe_task_id FROM probe_run WHERE id = '" + run_of(median_s) + "'");
        return store_
            .run([&](pqxx::work& transaction) -> Result<RunReport> { return select_task_report(transaction, task); })
            .value();
    }
};

TEST_F(ComparisonStore, ResultsOfAllOrdersAndTasksCountTogetherBesideTheNamedOne)
{
    measure(1.1, 60);
    measure(1, 0);

    for (const double named_s : {1.1, 1.0}) {
        for (const RunReport& report : {order_report(named_s), task_report(named_s)}) {
            ASSERT_THAT(report.results, SizeIs(1));
            const ComparedResult& result = report.results.front();
            EXPECT_EQ(result.median_s, named_s);
            EXPECT_EQ(result.probe_run_id, run_of(named_s));
            EXPECT_NEAR(result.together.median_s, std::sqrt(1.1), 1e-9);
            EXPECT_LT(result.together.ci_low_s, 1) << "where the next result may be expected";
            EXPECT_GT(result.together.ci_high_s, 1.1);
            EXPECT_THAT(run_ids_of(result.together), ElementsAre(run_of(1), run_of(1.1)));
        }
    }
}

TEST_F(ComparisonStore, OneResultStaysAsItIs)
{
    measure(2, 0);

    const RunReport report = order_report(2);

    ASSERT_THAT(report.results, SizeIs(1));
    EXPECT_EQ(report.results.front().together.median_s, 2);
    EXPECT_EQ(report.results.front().together.ci_high_s, 2);
    EXPECT_THAT(run_ids_of(report.results.front().together), ElementsAre(run_of(2)));
}

TEST_F(ComparisonStore, ARunBeforeAChangeIsShownButDoesNotCountAnyMore)
{
    measure(3, 60);
    measure(1, 0);

    const RunReport report = order_report(3);

    ASSERT_THAT(report.results, SizeIs(1));
    EXPECT_EQ(report.results.front().median_s, 3);
    EXPECT_THAT(run_ids_of(report.results.front().together), ElementsAre(run_of(1)));
}

TEST_F(ComparisonStore, OnlyTheNewestEightCount)
{
    for (int i = 0; i < 10; ++i)
        measure(1 + i / 64.0, 10 * i);

    const RunReport report = order_report(1);

    ASSERT_THAT(report.results, SizeIs(1));
    EXPECT_EQ(run_ids_of(report.results.front().together).size(), kMaxResults);
    EXPECT_EQ(report.results.front().together.probe_run_id, run_of(1));
}

TEST_F(ComparisonStore, OtherVersionsCountsUnitTypesAndFalseResultsAreLeftOut)
{
    for (const double median_s : {1.0, 1.01, 1.02, 1.03, 1.04, 1.05})
        measure(median_s, 0);
    store_.sql("UPDATE measurement SET operator_version = 2 WHERE median_s = 1.01");
    store_.sql("UPDATE measurement SET unit_count = 2 WHERE median_s = 1.02");
    store_.sql("UPDATE measurement SET parameters_key = 'n=20' WHERE median_s = 1.03");
    store_.sql("UPDATE measurement SET unit_type_id = (SELECT id FROM unit_type WHERE name = 'u2') "
               "WHERE median_s = 1.04");
    store_.sql("UPDATE measurement SET void_reason = 'forged' WHERE median_s = 1.05");

    for (const double named_s : {1.0, 1.01, 1.02, 1.03, 1.04}) {
        const RunReport report = order_report(named_s);
        ASSERT_THAT(report.results, SizeIs(1)) << named_s;
        EXPECT_THAT(run_ids_of(report.results.front().together), ElementsAre(run_of(named_s)));
    }
    EXPECT_THAT(order_report(1.05).results, IsEmpty());
}

} // namespace
} // namespace fathom::server
