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
    static AttemptEnd ended_as(AttemptOutcome outcome)
    {
        AttemptEnd end;
        end.outcome = outcome;
        end.detail = "on n1";
        end.started_at = SystemClock().now();
        end.run_s = 1.5;
        return end;
    }
    /// The end of an attempt at a center that has local users for others.
    static AttemptEnd refused()
    {
        AttemptEnd end;
        end.outcome = AttemptOutcome::kFailedToStart;
        end.cause = AttemptCause::kNoLocalUser;
        end.detail = "no local user: this center has none for ann in the project p";
        return end;
    }
    std::string outcomes_of_first_attempts() const
    {
        return sql("SELECT string_agg(outcome, ' ' ORDER BY outcome) FROM attempt WHERE epoch = 1");
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

TEST_F(JobRequeue, ComesWhenANodeFailsOrTheCenterTakesTheUnitsAway)
{
    const std::map<AttemptOutcome, std::string> causes{
        {AttemptOutcome::kNodeFailure, "a node failed: on n1: placed anew"},
        {AttemptOutcome::kPreempted, "pre-empted at its center: on n1: placed anew"}};
    for (const auto& [outcome, cause] : causes) {
        SCOPED_TRACE(to_string(outcome));
        const JobId job = running_job();
        const AttemptId first = attempt_of(job);

        ASSERT_TRUE(report_end(job, ended_as(outcome)));

        EXPECT_EQ(state_of(job), "queued");
        EXPECT_EQ(sql("SELECT cause FROM job_event WHERE job_id = '" + job.value + "' ORDER BY id DESC LIMIT 1"),
                  cause);
        route();
        EXPECT_NE(attempt_of(job), first);
        ASSERT_TRUE(report_start(job));
        ASSERT_TRUE(report_end(job, exited(0)));
        EXPECT_EQ(state_of(job), "succeeded");
    }
    EXPECT_EQ(outcomes_of_first_attempts(), "node_failure preempted");
}

TEST_F(JobRequeue, IsOnlyForJobsWhoseOwnersLetThem)
{
    const std::map<AttemptOutcome, std::string> reasons{{AttemptOutcome::kNodeFailure, "a node failed: on n1"},
                                                        {AttemptOutcome::kPreempted, "pre-empted at its center: on n1"},
                                                        {AttemptOutcome::kLost, "lost: on n1"}};
    for (const auto& [outcome, reason] : reasons) {
        const JobId job = job_in("running");

        ASSERT_TRUE(report_end(job, ended_as(outcome)));

        EXPECT_EQ(state_of(job), "failed");
        EXPECT_EQ(sql("SELECT end_reason FROM job WHERE id = '" + job.value + "'"), reason);
    }
}

TEST_F(JobRequeue, IsNotForJobsThatWantMoreMemoryThanTheirUnitsHave)
{
    const JobId job = running_job();
    AttemptEnd end = ended_as(AttemptOutcome::kOutOfMemory);
    end.signal = 9;

    ASSERT_TRUE(report_end(job, end));

    EXPECT_EQ(state_of(job), "failed");
    EXPECT_THAT(sql("SELECT end_reason FROM job"), ::testing::HasSubstr("units.memory_bytes"));
    EXPECT_EQ(sql("SELECT outcome || ' ' || signal FROM attempt"), "out_of_memory 9");
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

TEST_F(JobRequeue, OfAJobThatItsCenterHasNoLocalUserForComesUnaskedAndElsewhere)
{
    const JobId job = submit();
    route();
    ASSERT_EQ(center_of(job).value, center_id("alpha"));
    add_center("beta");

    ASSERT_TRUE(report_end(job, refused()));

    EXPECT_EQ(state_of(job), "queued");
    EXPECT_EQ(sql("SELECT cause FROM job_event ORDER BY id DESC LIMIT 1"),
              "could not be started: no local user: this center has none for ann in the project p: placed anew");
    route();
    EXPECT_EQ(center_of(job).value, center_id("beta"));
    EXPECT_EQ(outcomes(), "failed_to_start -");
    ASSERT_TRUE(report_start(job));
    ASSERT_TRUE(report_end(job, exited(0)));
    EXPECT_EQ(state_of(job), "succeeded");
}

TEST_F(JobRequeue, DoesNotComeForAnEndThatHasTheWordsOfAnotherAndNotItsCause)
{
    const JobId job = submit();
    route();
    add_center("beta");
    AttemptEnd end = refused();
    end.cause = AttemptCause::kNone;

    ASSERT_TRUE(report_end(job, end));

    EXPECT_EQ(state_of(job), "failed");
}

TEST_F(JobRequeue, NeverGoesToACenterThatHadNoLocalUserForIt)
{
    const JobId job = submit();
    route();
    add_center("beta");
    ASSERT_TRUE(report_end(job, refused()));
    sql("UPDATE center SET state = 'lost' WHERE name = 'beta'");
    reload_catalog();

    route();

    EXPECT_EQ(state_of(job), "queued") << "alpha is free";
    const net::Response answer = call(net::Method::kGet, "/jobs/" + job.value + "/placement");
    EXPECT_THAT(answer.body, ::testing::HasSubstr("has no local user for whose job it is"));
    EXPECT_EQ(outcomes(), "failed_to_start");
}

TEST_F(JobRequeue, OfAJobThatNoCenterHasALocalUserForEndsWithTheReason)
{
    const JobId job = submit();
    route();
    add_center("beta");
    ASSERT_TRUE(report_end(job, refused()));
    route();
    ASSERT_EQ(center_of(job).value, center_id("beta"));

    ASSERT_TRUE(report_end(job, refused()));

    EXPECT_EQ(state_of(job), "failed");
    EXPECT_EQ(sql("SELECT end_reason FROM job"),
              "could not be started: no local user: this center has none for ann in the project p");
    EXPECT_EQ(outcomes(), "failed_to_start failed_to_start");
}

TEST_F(JobRequeue, OfAJobThatCanRunAtTheCenterWithoutALocalUserOnlyDoesNotCome)
{
    const JobId job = submit(spec({{"units", {{"center", "alpha"}}}}));
    route();
    add_center("beta");

    ASSERT_TRUE(report_end(job, refused()));

    EXPECT_EQ(state_of(job), "failed");
}

TEST_F(JobRequeue, IsNotForMembersOfGangsWithoutALocalUser)
{
    add_center("beta");
    const Json member = spec({{"gang", {{"id", "g"}, {"size", 2}}}});
    const JobId first = submit(member);
    const JobId second = submit(member);
    route();
    ASSERT_EQ(state_of(second), "placed");

    ASSERT_TRUE(report_end(first, refused()));

    EXPECT_EQ(state_of(first), "failed");
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
