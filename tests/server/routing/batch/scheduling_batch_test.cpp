#include "server/routing/batch/scheduling_batch.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <pqxx/pqxx>

#include <deque>

namespace fathom::server {
namespace {

using testing::HasSubstr;

/// A batch step by step, as a replica takes them, and what comes between.
class SchedulingBatchTest : public JobsFixture {
  protected:
    SchedulingBatchTest()
    {
        add_operators();
        add_measurement(add_center("alpha", 2), 0.01);
    }
    SchedulingBatch batch(const RoutingSettings& settings)
    {
        return {tools(settings, ledgers_.emplace_back()), unit_loads_.get()};
    }
    BatchTools tools(const RoutingSettings& settings, CycleLedger& ledger)
    {
        return {&settings, &catalog_, &probing_, &finalizer_, &uses_, &columns_, &clock_, &ledger};
    }
    Result<void> read(SchedulingBatch& batch)
    {
        CycleCursor tick;
        tick.is_tick = true;
        auto work = [&](pqxx::work& transaction) { return batch.read(transaction, tick, 256); };
        return database_.blocking_run(work);
    }
    Result<BatchReport> commit(const SchedulingBatch& batch)
    {
        BatchReport report;
        auto work = [&](pqxx::work& transaction) -> Result<void> {
            Result<BatchReport> done = batch.commit(transaction);
            if (!done) return done.error();
            report = std::move(*done);
            return {};
        };
        const Result<void> committed = database_.blocking_run(work);
        if (!committed) return committed.error();
        return report;
    }
    JobId submit_dgemm() { return submit(spec({{"operators", {{{"id", "dgemm"}, {"count", 100}}}}})); }

    ColumnsOfCatalog columns_;
    std::deque<CycleLedger> ledgers_; ///< each batch is the first of a cycle of its own
    ProjectUses uses_;
    RoutingSettings mine_{{"rep_1"}};
    RoutingSettings others_{{"rep_2"}};
};

TEST_F(SchedulingBatchTest, NothingIsLockedWhileItIsPlanned)
{
    const JobId job = submit_dgemm();
    SchedulingBatch one = batch(mine_);
    ASSERT_TRUE(read(one));
    ASSERT_TRUE(one.has_ready());

    EXPECT_EQ(sql("SELECT id FROM job WHERE state = 'queued' FOR UPDATE NOWAIT"), job.value);
    EXPECT_NE(sql("SELECT id FROM unit_type FOR UPDATE NOWAIT"), "");
    ASSERT_TRUE(one.plan());
    const Result<BatchReport> report = commit(one);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->placed, 1);
    EXPECT_EQ(state_of(job), "placed");
}

TEST_F(SchedulingBatchTest, AttemptsAreReadOnlyWhereTheyHaveChangedSinceTheLastCycle)
{
    CycleLedger& ledger = ledgers_.emplace_back();
    const auto run_cycle = [&] {
        ledger.units.reset();
        SchedulingBatch one{tools(mine_, ledger), unit_loads_.get()};
        ASSERT_TRUE(read(one));
        if (!one.has_ready()) return;
        ASSERT_TRUE(one.plan());
        ASSERT_TRUE(commit(one));
    };
    const JobId first = submit_dgemm();
    submit_dgemm();
    run_cycle();
    ASSERT_EQ(sql("SELECT count(*) FROM attempt"), "2");

    run_cycle();
    EXPECT_EQ(ledger.attempts.rows_read(), 2);
    EXPECT_EQ(ledger.attempts.use().taken.begin()->second, 2);
    run_cycle();
    EXPECT_EQ(ledger.attempts.rows_read(), 0);
    EXPECT_EQ(ledger.attempts.use().taken.begin()->second, 2);
    sql("UPDATE attempt SET state = 'ended', outcome = 'exited' WHERE job_id = '" + first.value + "'");
    run_cycle();
    EXPECT_EQ(ledger.attempts.rows_read(), 1);
    EXPECT_EQ(ledger.attempts.use().taken.begin()->second, 1);
}

TEST_F(SchedulingBatchTest, AJobThatChangedMeanwhileIsLeftAlone)
{
    const JobId cancelled = submit_dgemm();
    const JobId other = submit_dgemm();
    SchedulingBatch one = batch(mine_);
    ASSERT_TRUE(read(one));
    ASSERT_TRUE(one.plan());
    EXPECT_EQ(call(net::Method::kPost, "/jobs/" + cancelled.value + ":cancel").status, 202);

    const Result<BatchReport> report = commit(one);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->placed, 1);
    EXPECT_EQ(report->conflicts, 1);
    EXPECT_EQ(state_of(cancelled), "cancelled");
    EXPECT_EQ(state_of(other), "placed");
    EXPECT_EQ(sql("SELECT count(*) FROM attempt"), "1");
}

TEST_F(SchedulingBatchTest, UnitsThatWereTakenMeanwhileAreNotGivenAgain)
{
    const JobId job = submit_dgemm();
    SchedulingBatch one = batch(mine_);
    ASSERT_TRUE(read(one));
    ASSERT_TRUE(one.plan());
    sql("UPDATE unit_type SET unit_count = 0");

    const Result<BatchReport> report = commit(one);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->placed, 0);
    EXPECT_EQ(report->conflicts, 1);
    EXPECT_EQ(state_of(job), "queued");
}

TEST_F(SchedulingBatchTest, OfAGangAllOrNoneAreKept)
{
    std::vector<JobId> gang;
    for (int i = 0; i < 2; ++i)
        gang.push_back(submit(spec({{"gang", {{"id", "pair"}, {"size", 2}}}})));
    SchedulingBatch one = batch(mine_);
    ASSERT_TRUE(read(one));
    ASSERT_TRUE(one.plan());
    sql("UPDATE job SET version = version + 1 WHERE id = '" + gang[0].value + "'");

    const Result<BatchReport> report = commit(one);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->placed, 0);
    EXPECT_EQ(report->conflicts, 2);
    route();
    EXPECT_EQ(state_of(gang[0]), "placed");
    EXPECT_EQ(state_of(gang[1]), "placed");
}

TEST_F(SchedulingBatchTest, OthersLeaveToAReplicaWhatItDecidesOn)
{
    const JobId first = submit_dgemm();
    SchedulingBatch one = batch(mine_);
    ASSERT_TRUE(read(one));
    const JobId second = submit_dgemm();

    SchedulingBatch two = batch(others_);
    ASSERT_TRUE(read(two));
    ASSERT_TRUE(two.plan());
    EXPECT_EQ(commit(two).value().placed, 1);
    EXPECT_EQ(state_of(first), "queued");
    EXPECT_EQ(state_of(second), "placed");

    // The first replica has ended: after a while others take over, and if it comes back nothing starts twice.
    sql("UPDATE routing_claim SET until = now() - interval '1 second' WHERE replica = 'rep_1'");
    SchedulingBatch three = batch(others_);
    ASSERT_TRUE(read(three));
    ASSERT_TRUE(three.plan());
    EXPECT_EQ(commit(three).value().placed, 1);
    EXPECT_EQ(state_of(first), "placed");
    ASSERT_TRUE(one.plan());
    EXPECT_EQ(commit(one).value().placed, 0);
    EXPECT_EQ(sql("SELECT count(*) FROM attempt"), "2");
}

TEST_F(SchedulingBatchTest, WhatWasDecidedForAJobThatIsPlacedElsewhereIsNotNoted)
{
    sql("UPDATE center SET drained = true");
    reload_catalog();
    const JobId job = submit_dgemm();
    SchedulingBatch one = batch(mine_);
    ASSERT_TRUE(read(one));
    ASSERT_TRUE(one.plan());
    sql("UPDATE job SET state = 'placed', version = version + 1, waiting_reason = '' WHERE id = '" + job.value + "'");

    ASSERT_TRUE(commit(one));
    EXPECT_EQ(sql("SELECT waiting_reason FROM job WHERE id = '" + job.value + "'"), "");
}

} // namespace
} // namespace fathom::server
