#include "server/centers/unit_type_directory.hpp"
#include "server/probing/refresh/probe_refresh.hpp"
#include "server/probing/tasks/probe_budget_store.hpp"
#include "tests/server/probing/probing_fixture.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

class Refresh : public ProbingFixture {
  protected:
    Refresh() : ProbingFixture({"op1", "op2", "op3", "network_fetch", "mpi_latency"})
    {
        test::add_center(store_, "alpha",
                         {{test::unit_type("u1", 10, {"op1", "op2", "op3", "network_fetch", "mpi_latency"})}, {}});
    }

    void refresh()
    {
        store_.run([&](pqxx::work& transaction) { return refresh_.refresh(transaction); }).value();
    }
    void serve_requests()
    {
        store_.run([&](pqxx::work& transaction) { return refresh_.serve_requests(transaction); }).value();
    }
    void request_at(const std::string& age)
    {
        store_.sql("UPDATE center SET probe_requested_at = now() - interval '" + age +
                   "', probe_request_reason = 'new hardware' WHERE name = 'alpha'");
    }
    /// "cause:operator+operator", of runs that wait.
    std::string waiting() const
    {
        return store_.sql(
            "SELECT coalesce(string_agg(x.text, ' ' ORDER BY x.text), '') FROM (SELECT r.cause || ':' || "
            "(SELECT string_agg(o ->> 'id', '+' ORDER BY o ->> 'id') FROM jsonb_array_elements(t.document -> "
            "'operators') o) AS text FROM probe_run r JOIN probe_task t ON t.id = r.probe_task_id "
            "WHERE r.state = 'queued') x");
    }
    bool is_requested() const { return store_.sql("SELECT probe_requested_at FROM center").size() > 0; }
    void end_runs(const std::string& state)
    {
        store_.sql("UPDATE probe_run SET state = '" + state + "', ended_at = now() WHERE state = 'queued'");
    }
    void measure(const std::string& operator_id, const std::string& age)
    {
        test::add_measurement(store_, {.operator_id = operator_id, .median_s = 0.1, .age = age});
    }

    SystemClock clock_;
    ProbeRefresh refresh_{operators_, writer_, clock_, 168h};
};

TEST_F(Refresh, WhatWasNeverMeasuredIsBenchmarked)
{
    refresh();
    refresh();

    EXPECT_EQ(waiting(), "schedule:op1+op2+op3") << "once, and not what only a look over days, or MPI, can tell";
}

TEST_F(Refresh, OnlyWhatIsStaleIsMeasuredAgain)
{
    measure("op1", "8 days");
    measure("op2", "6 days");
    measure("op3", "8 days");
    measure("op3", "1 hour");

    refresh();

    EXPECT_EQ(waiting(), "schedule:op1");
}

TEST_F(Refresh, ADayTakesAThirtiethOfTheBudget)
{
    // 864 unit-seconds a day with 10 units; with a share of 0.00003 it is 26 of 777: not all of a full benchmark's 30.
    store_.sql("UPDATE center SET probe_share = 0.00003");

    refresh();

    EXPECT_EQ(waiting(), "schedule:op1+op2") << "10 s each";
    store_.sql("UPDATE center SET probe_share = 0");
    end_runs("failed");
    refresh();
    EXPECT_EQ(waiting(), "");
}

TEST_F(Refresh, WhatNeighboursCostJobsIsMeasuredWhereNothingIsStaleAndAllUnitsAreFree)
{
    for (const char* id : {"op1", "op2", "op3"})
        measure(id, "1 hour");
    store_.sql("INSERT INTO job (id, name, project, job_type, spec, submitted_by, state, run_s, ended_at) "
               "VALUES ('job_x', 'n', 'p', 'solver', '{}', 't', 'succeeded', 100, now())");
    const auto add_task = [&](pqxx::work& transaction) -> Result<void> {
        NewProbeTask task;
        task.job_type = "solver";
        task.origin = "job";
        task.state = ProbeTaskState::kReleased;
        OperatorUse use;
        use.id = "op3";
        use.version = 1;
        use.parameters = {{"n", 10}};
        task.document.name = "solver";
        task.document.operators = {use};
        find_or_insert_task(transaction, task);
        return {};
    };
    store_.run(add_task).value();

    refresh();
    EXPECT_EQ(waiting(), "") << "nobody knows whether its units are of one host";

    store_.sql("UPDATE center SET host_id = 'h1'");
    refresh();
    refresh();

    EXPECT_EQ(waiting(), "schedule:op3") << "once";
    EXPECT_EQ(store_.sql("SELECT mode || ' ' || unit_count FROM probe_run WHERE state = 'queued'"), "throughput 10");
    EXPECT_TRUE(writer_.jobs.back().second.deadline) << "it does not wait for units that jobs have taken";

    end_runs("failed");
    refresh();
    EXPECT_EQ(waiting(), "") << "not again today";
}

TEST_F(Refresh, OfferedUnitTypesAreReadOfOneCenterWhereOnlyThatIsLookedAt)
{
    const CenterId beta = test::add_center(store_, "beta", test::golden_catalog());
    store_
        .run([&](pqxx::work& transaction) -> Result<void> {
            const std::vector<UnitTypeOffer> offers = unit_type_offers(transaction, beta);
            EXPECT_EQ(offers.size(), 3U);
            for (const UnitTypeOffer& offer : offers)
                EXPECT_EQ(offer.center_id, beta);
            EXPECT_GT(unit_type_offers(transaction).size(), 3U);
            return {};
        })
        .value();
}

TEST_F(Refresh, WhatJobsNeedComesFirst)
{
    store_.sql("INSERT INTO job (id, name, project, job_type, spec, submitted_by, state, run_s, ended_at) "
               "VALUES ('job_x', 'n', 'p', 'solver', '{}', 't', 'succeeded', 100, now())");
    const auto add_task = [&](pqxx::work& transaction) -> Result<void> {
        NewProbeTask task;
        task.job_type = "solver";
        task.origin = "job";
        task.state = ProbeTaskState::kReleased;
        OperatorUse use;
        use.id = "op3";
        use.version = 1;
        use.parameters = {{"n", 500}};
        task.document.name = "solver";
        task.document.operators = {use};
        find_or_insert_task(transaction, task);
        return {};
    };
    store_.run(add_task).value();
    // Room for one operator of a full benchmark, and for the task of the job type, a day.
    store_.sql("UPDATE center SET probe_share = 0.000025");

    refresh();

    EXPECT_EQ(waiting(), "schedule:op3 schedule:op3") << "the job's size, and the default size of the operator in use";
}

TEST_F(Refresh, AFailedRefreshWaitsADay)
{
    refresh();
    end_runs("failed");
    refresh();
    EXPECT_EQ(waiting(), "");
    store_.sql("UPDATE probe_run SET created_at = now() - interval '25 hours', ended_at = now() - interval '25 hours'");
    refresh();
    EXPECT_EQ(waiting(), "schedule:op1+op2+op3");
}

TEST_F(Refresh, ACenterThatAsksIsMeasuredAnew)
{
    measure("op1", "2 hours");
    measure("op2", "1 minute");
    measure("op3", "2 hours");
    serve_requests();
    EXPECT_EQ(waiting(), "") << "nothing is stale";
    request_at("1 hour");

    serve_requests();
    serve_requests();

    EXPECT_EQ(waiting(), "catalog_change:op1+op3") << "op2 was measured since";
    EXPECT_FALSE(is_requested());
}

TEST_F(Refresh, ARequestWaitsForItsCenterAndForRoom)
{
    request_at("1 minute");
    store_.sql("UPDATE center SET state = 'suspect'");
    serve_requests();
    EXPECT_EQ(waiting(), "");
    store_.sql("UPDATE center SET state = 'online', probe_share = 0");
    serve_requests();
    EXPECT_EQ(waiting(), "");
    EXPECT_TRUE(is_requested());

    store_.sql("UPDATE center SET probe_share = 0.001");
    serve_requests();

    EXPECT_EQ(waiting(), "catalog_change:op1+op2+op3");
    EXPECT_FALSE(is_requested());
}

TEST_F(Refresh, OneRequestIsTriedOnceAlsoWhenItsProbesFail)
{
    request_at("1 minute");
    serve_requests();
    end_runs("failed");
    store_.sql("UPDATE center SET probe_requested_at = now() - interval '1 minute'");
    serve_requests();
    EXPECT_EQ(waiting(), "");
    EXPECT_FALSE(is_requested());
}

TEST_F(Refresh, TheBudgetHoldsForAllCenters)
{
    for (int i = 0; i < 3; ++i)
        test::add_center(store_, "c" + std::to_string(i), {{test::unit_type("u", 1, {"op1", "op2"})}, {}});
    refresh();
    const auto budgets = store_
                             .run([](pqxx::work& transaction) -> Result<std::vector<CenterBudget>> {
                                 return select_probe_budgets(transaction);
                             })
                             .value();
    ASSERT_EQ(budgets.size(), 4U);
    for (const CenterBudget& one : budgets) {
        EXPECT_GT(one.budget.reserved_s, 0) << one.center;
        EXPECT_LE(one.budget.used_s + one.budget.reserved_s, limit_s(one.budget)) << one.center;
    }
}

} // namespace
} // namespace fathom::server
