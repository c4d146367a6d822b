#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {
namespace {

/// Jobs whose owners let them run again when their center is lost.
class JobRequeue : public JobsFixture {
  protected:
    JobRequeue() { add_center("alpha"); }

    JobId running_job()
    {
        const JobId job = submit(spec({{"requeue", true}}));
        route();
        EXPECT_TRUE(run(report(attempts_, center_of(job), StartAcknowledged{attempt_of(job)})));
        EXPECT_TRUE(report_start(job));
        return job;
    }
    void lose(const std::string& center)
    {
        sql("UPDATE center SET state = 'lost' WHERE name = '" + center + "'");
        ASSERT_TRUE(run(periodic_tasks_.follow_centers()));
    }
    std::string outcomes() const
    {
        return sql("SELECT string_agg(coalesce(outcome, '-'), ' ' ORDER BY epoch) FROM attempt");
    }
};

TEST_F(JobRequeue, RunsElsewhereWhenItsCenterIsLost)
{
    const JobId job = running_job();
    const AttemptId first = attempt_of(job);
    lose("alpha");
    EXPECT_EQ(state_of(job), "queued");
    EXPECT_EQ(sql("SELECT started_at IS NULL FROM job"), "t");
    add_center("beta");
    route();

    EXPECT_NE(attempt_of(job), first);
    EXPECT_EQ(center_of(job).value, center_id("beta"));
    ASSERT_TRUE(report_start(job));
    ASSERT_TRUE(report_end(job, exited(0)));
    EXPECT_EQ(state_of(job), "succeeded");
    EXPECT_EQ(outcomes(), "lost exited");
    EXPECT_EQ(events_of(job), (std::vector<std::string>{"queued", "placed", "dispatched", "running", "queued", "placed",
                                                        "running", "succeeded"}));
}

TEST_F(JobRequeue, OfAnAttemptThatIsOverNothingIsBelievedAndItIsStopped)
{
    const JobId job = running_job();
    const AttemptId first = attempt_of(job);
    const CenterId alpha = center_of(job);
    lose("alpha");
    add_center("beta");
    route();
    ASSERT_TRUE(report_start(job));

    // The lost center comes back and has the job's first attempt.
    const auto answer = run(attempts_.reconcile(alpha, {{first, "running"}})).value();
    EXPECT_EQ(answer.stop, std::vector<AttemptId>{first});
    AttemptEnd end = exited(7);
    end.attempt_id = first;
    ASSERT_TRUE(run(report(attempts_, alpha, link::AttemptEnded{end})));

    EXPECT_EQ(state_of(job), "running");
    EXPECT_EQ(outcomes(), "lost -");
    ASSERT_TRUE(report_end(job, exited(0)));
    EXPECT_EQ(state_of(job), "succeeded");
}

TEST_F(JobRequeue, ComesWhenACenterReturnsWithoutTheJob)
{
    const JobId job = running_job();
    ASSERT_TRUE(run(attempts_.reconcile(center_of(job), {})));

    EXPECT_EQ(state_of(job), "queued");
    route();
    EXPECT_EQ(state_of(job), "placed");
    EXPECT_EQ(outcomes(), "lost -");
}

TEST_F(JobRequeue, IsNotForJobsThatAreCancelled)
{
    const JobId job = running_job();
    ASSERT_EQ(call(net::Method::kPost, "/jobs/" + job.value + ":cancel").status, 202);
    ASSERT_TRUE(run(attempts_.reconcile(center_of(job), {})));

    EXPECT_EQ(state_of(job), "cancelled");
}

TEST_F(JobRequeue, EndsAfterTenTimes)
{
    const JobId job = running_job();
    sql("UPDATE attempt SET epoch = 11");
    ASSERT_TRUE(run(attempts_.reconcile(center_of(job), {})));

    EXPECT_EQ(state_of(job), "failed");
}

TEST_F(JobRequeue, IsRefusedInAGang)
{
    const Json body = spec({{"requeue", true}, {"gang", {{"id", "g"}, {"size", 2}}}});
    const net::Response answer = call(net::Method::kPost, "/jobs", body.dump());

    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, ::testing::HasSubstr("requeue"));
}

} // namespace
} // namespace fathom::server
