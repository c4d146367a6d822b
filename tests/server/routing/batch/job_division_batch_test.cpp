#include "server/routing/batch/scheduling_batch.hpp"
#include "tests/server/routing/batch/job_division_fixture.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using ::testing::HasSubstr;

/// What a replica keeps for its batches, and one of these, step by step.
struct DividingReplica {
    explicit DividingReplica(const BatchTools& of_test, std::shared_ptr<const UnitTypeLoads> loads)
        : batch(with_own(of_test), std::move(loads))
    {
    }

    Result<void> read(Database& database)
    {
        CycleCursor tick;
        tick.is_tick = true;
        auto work = [&](pqxx::work& transaction) { return batch.read(transaction, tick, 256); };
        return database.blocking_run(work);
    }
    Result<BatchReport> commit(Database& database)
    {
        BatchReport report;
        auto work = [&](pqxx::work& transaction) -> Result<void> {
            Result<BatchReport> done = batch.commit(transaction);
            if (!done) return done.error();
            report = std::move(*done);
            return {};
        };
        const Result<void> committed = database.blocking_run(work);
        if (!committed) return committed.error();
        return report;
    }

    RoutingSettings settings{{"rep_1"}};
    ProjectUses uses;
    ColumnsOfCatalog columns;
    CycleLedger ledger;
    SchedulingBatch batch;

  private:
    BatchTools with_own(BatchTools tools)
    {
        tools.settings = &settings;
        tools.uses = &uses;
        tools.columns = &columns;
        tools.ledger = &ledger;
        return tools;
    }
};

class DivisionOfABatch : public JobDivision {
  protected:
    /// Of a replica that has decided on nothing yet.
    BatchTools tools()
    {
        BatchTools tools;
        tools.cache = &catalog_;
        tools.planner = &probing_;
        tools.terminator = &finalizer_;
        tools.clock = &clock_;
        return tools;
    }
};

TEST_F(DivisionOfABatch, NothingIsLockedWhileItIsDecided)
{
    const JobId job = submit(stepped(1e6));
    DividingReplica replica(tools(), unit_loads_.get());
    ASSERT_TRUE(replica.read(database_));
    ASSERT_TRUE(replica.batch.has_ready()) << "there is nothing else to decide on";

    EXPECT_EQ(sql("SELECT id FROM job WHERE state = 'queued' FOR UPDATE NOWAIT"), job.value);
    ASSERT_TRUE(replica.batch.plan());
    EXPECT_EQ(sql("SELECT steps ->> 'division' IS NULL FROM job WHERE label = 'job'"), "t");
    const Result<BatchReport> report = replica.commit(database_);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->conflicts, 0);
    EXPECT_EQ(job_json(job)["steps"]["division"]["run"], "steps");
    EXPECT_EQ(sql("SELECT cause FROM job_event ORDER BY id DESC LIMIT 1"),
              "it is divided: part 1 of 2 (step read, on CPU) first");
}

TEST_F(DivisionOfABatch, OthersLeaveItToWhoDecides)
{
    submit(stepped(1e6));
    DividingReplica replica(tools(), unit_loads_.get());
    ASSERT_TRUE(replica.read(database_));

    route(); // of another replica
    EXPECT_EQ(sql("SELECT version FROM job WHERE label = 'job'"), "1");
    ASSERT_TRUE(replica.batch.plan());
    ASSERT_TRUE(replica.commit(database_));
    EXPECT_EQ(sql("SELECT version FROM job WHERE label = 'job'"), "2");
}

TEST_F(DivisionOfABatch, OneThatIsCancelledMeanwhileStaysAsItWas)
{
    const JobId job = submit(stepped(1e6));
    DividingReplica replica(tools(), unit_loads_.get());
    ASSERT_TRUE(replica.read(database_));
    ASSERT_TRUE(replica.batch.plan());
    EXPECT_EQ(call(net::Method::kPost, "/jobs/" + job.value + ":cancel").status, 202);

    const Result<BatchReport> report = replica.commit(database_);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->conflicts, 1);
    EXPECT_EQ(state_of(job), "cancelled");
    EXPECT_TRUE(job_json(job)["steps"]["division"].is_null());
}

TEST_F(DivisionOfABatch, OneWhoseStepsCannotBeReadSaysSo)
{
    submit(stepped(1e6));
    sql(R"(UPDATE job SET steps = steps || '{"items": "none"}' WHERE label = 'job')");

    route();

    EXPECT_THAT(sql("SELECT waiting_reason FROM job WHERE label = 'job'"), HasSubstr("cannot be routed: "));
}

} // namespace
} // namespace fathom::server
