#include "server/centers/centers_service.hpp"
#include "server/probing/tasks/probe_budget_store.hpp"
#include "server/probing/tasks/probe_planning.hpp"
#include "tests/server/probing/probing_fixture.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

#include <future>

namespace fathom::server {
namespace {

using testing::HasSubstr;

/// Center alpha has u1 with one unit: 2592 unit-seconds of probing in 30 days. Each probe of it may take 70 s.
class Budget : public ProbingFixture {
  protected:
    Budget() : ProbingFixture({"op1", "op2", "op3"})
    {
        alpha_ = test::add_center(store_, "alpha", {{test::unit_type("u1", 1, {"op1", "op2", "op3"})}, {}});
    }

    Result<ProbingService::CreatedRuns> create(const std::string& operator_id, std::int64_t n = 10)
    {
        RunOrder order = order_of({operator_id.c_str()});
        order.operators.front().parameters = {{"n", n}};
        return io_.run(service_.create_runs(expert_, std::move(order)));
    }
    /// One that ended: its attempt ran so long, on so many units.
    void add_spent(double run_s, const std::string& age, std::int64_t unit_count = 1)
    {
        const ProbeRunRecord run = create("op3", ++size_).value().runs.front();
        store_.sql(
            "INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, state, decided_by, "
            "started_at, ended_at, outcome, run_s) SELECT 'att' || job_id, job_id, 1, center_id, unit_type_id, " +
            std::to_string(unit_count) + ", 'ended', 'r', now(), now() - interval '" + age + "', 'exited', " +
            std::to_string(run_s) + " FROM probe_run WHERE id = '" + run.id.value + "'");
        store_.sql("UPDATE job SET state = 'succeeded' WHERE id = '" + run.job_id.value + "'");
        store_.sql("UPDATE probe_run SET state = 'succeeded', ended_at = now() - interval '" + age + "' WHERE id = '" +
                   run.id.value + "'");
    }
    ProbeBudget budget()
    {
        return store_.run([&](pqxx::work& transaction) { return lock_probe_budget(transaction, alpha_); }).value();
    }

    ProbePlanning planning_{operators_, writer_};
    CenterId alpha_;
    std::int64_t size_ = 0;
};

TEST_F(Budget, CountsWhatEndedInThirtyDaysAndReservesTheRest)
{
    add_spent(100, "1 hour");
    add_spent(40, "29 days", 3);
    add_spent(500, "31 days");
    create("op1").value();
    create("op1").value(); // joins the one that waits

    EXPECT_DOUBLE_EQ(limit_s(budget()), 2592);
    EXPECT_DOUBLE_EQ(budget().used_s, 100 + 40 * 3);
    EXPECT_DOUBLE_EQ(budget().reserved_s, 70);
}

TEST_F(Budget, RefusesWithTheFiguresAndTheWayOut)
{
    add_spent(2530, "719 hours");

    const Error error = create("op1").error();

    EXPECT_EQ(error.code, Errc::kInfeasible);
    ASSERT_EQ(error.fields.size(), 1U);
    EXPECT_EQ(error.fields[0].field, "alpha/u1");
    EXPECT_THAT(error.fields[0].detail, HasSubstr("of 2592 s in 30 days, 2530 s are used and 0 s reserved, and this "
                                                  "probe may take 70 s; it has room in 60 min; "
                                                  "`fathom center set alpha --probe-share 0.0011`"));
    EXPECT_EQ(store_.sql("SELECT count(*) FROM job WHERE state = 'queued'"), "0");
}

TEST_F(Budget, AnEndedProbeGivesBackWhatItDidNotUse)
{
    add_spent(2500, "1 hour");
    const ProbeRunRecord run = create("op1").value().runs.front();
    EXPECT_FALSE(create("op2"));

    store_.sql("UPDATE probe_run SET state = 'cancelled', ended_at = now() WHERE id = '" + run.id.value + "'");

    EXPECT_TRUE(create("op2"));
}

TEST_F(Budget, ALostProbeKeepsItsReservationUntilItsJobEnds)
{
    const ProbeRunRecord run = create("op1").value().runs.front();
    store_.sql("UPDATE probe_run SET state = 'lost', ended_at = now() WHERE id = '" + run.id.value + "'");
    EXPECT_DOUBLE_EQ(budget().reserved_s, 70);
    store_.sql("UPDATE job SET state = 'failed' WHERE id = '" + run.job_id.value + "'");
    EXPECT_DOUBLE_EQ(budget().reserved_s, 0);
}

TEST_F(Budget, AnArrivingJobIsPlacedOnWhatIsKnownAndToldWhy)
{
    add_spent(2590, "1 hour");
    OperatorUse use;
    use.id = "op1";
    use.count = 1000;
    const UnitTypeId unit_type{store_.sql("SELECT id FROM unit_type")};

    const RequestedProbes probes = store_
                                       .run([&](pqxx::work& transaction) {
                                           return planning_.request_probes(transaction, "t", {use}, {unit_type});
                                       })
                                       .value();

    EXPECT_TRUE(probes.runs.empty());
    EXPECT_THAT(probes.obstacle, HasSubstr("the probe budget of center alpha does not allow it"));
}

TEST_F(Budget, OtherCentersAreMeasuredAllTheSame)
{
    add_spent(2590, "1 hour");
    test::add_center(store_, "beta", {{test::unit_type("u9", 1, {"op1"})}, {}});

    const ProbingService::CreatedRuns created = create("op1").value();

    ASSERT_EQ(created.runs.size(), 1U);
    EXPECT_EQ(created.runs[0].center, "beta");
    ASSERT_EQ(created.left_out.size(), 1U);
    EXPECT_EQ(created.left_out[0].field, "alpha/u1");
}

TEST_F(Budget, TwoAtOnceDoNotExceedIt)
{
    add_spent(2400, "1 hour"); // room for two of 70 s
    std::vector<std::future<Result<ProbingService::CreatedRuns>>> answers;
    for (std::int64_t n = 100; n < 108; ++n) {
        RunOrder order;
        OperatorUse use;
        use.id = "op1";
        use.parameters = {{"n", n}};
        order.operators = {use};
        answers.push_back(io_.spawn(service_.create_runs(expert_, std::move(order))));
    }
    int allowed = 0;
    for (auto& answer : answers)
        if (fathom::test::TestIo::get(std::move(answer))) ++allowed;

    EXPECT_EQ(allowed, 2);
    EXPECT_LE(budget().used_s + budget().reserved_s, limit_s(budget()));
}

TEST_F(Budget, WhoLooksAtABudgetIsAloneUntilTheEnd)
{
    std::future<Result<ProbingService::CreatedRuns>> other;
    const auto look = [&](pqxx::work& transaction) -> Result<void> {
        const Result<void> has_room = check_probe_budget(transaction, alpha_, 70, 1);
        RunOrder order;
        OperatorUse use;
        use.id = "op1";
        order.operators = {use};
        other = io_.spawn(service_.create_runs(expert_, std::move(order)));
        EXPECT_EQ(other.wait_for(std::chrono::milliseconds(500)), std::future_status::timeout)
            << "another one saw the same room";
        return has_room;
    };

    store_.run(look).value();

    EXPECT_TRUE(fathom::test::TestIo::get(std::move(other)));
}

TEST_F(Budget, AnAdminChangesTheShare)
{
    CentersService centers(store_.database());
    const VersionRule any = [](std::int64_t) { return true; };

    const CenterRecord center =
        io_.run(centers.change({"tok_admin", "req"}, "alpha", {.probe_share = 0.01}, any)).value().value();

    EXPECT_DOUBLE_EQ(limit_s(center.probe_budget), 25920);
    EXPECT_EQ(to_json(center).at("probe_budget").at("share"), 0.01);
    EXPECT_EQ(store_.sql("SELECT action || ' ' || (detail ->> 'from') FROM audit_log"), "center.probe_share 0.001");
    io_.run(centers.change({"tok_admin", "req"}, "alpha", {.probe_share = 0}, any)).value();
    EXPECT_THAT(create("op1").error().fields.at(0).detail, HasSubstr("takes no probes: its probe share is 0"));
}

} // namespace
} // namespace fathom::server
