#include "server/retention/retention_task.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

class Quotas : public JobsFixture {
  protected:
    Quotas() { add_center("alpha", 100); }

    /// Submits a job of a project through a service with quotas.
    Result<JobId> submit_to(JobsService& jobs, const std::string& token, const std::string& project = "p",
                            std::int64_t bytes = 100)
    {
        Result<std::vector<AdmittedJob>> admitted = run(jobs.admit(
            {parse_job_spec(spec({{"project", project}})).value()}, JobBatch::kOne, admin_, Submitter{token, bytes}));
        if (!admitted) return admitted.error();
        return run(jobs.submit(std::move(admitted->front()), token)).value().id;
    }
    JobsService service(JobQuota quota)
    {
        return JobsService({database_, io_.executor(), metrics_, catalog_, finalizer_, compute_, clock_},
                           {.quota = quota});
    }
    /// What is used, as it is after the periodic task has added it up.
    std::string stored_by(const std::string& token)
    {
        return sql("SELECT (SELECT coalesce(sum(bytes), 0) FROM stored_use WHERE submitted_by = '" + token +
                   "') + (SELECT coalesce(sum(bytes), 0) FROM stored_change WHERE submitted_by = '" + token + "')");
    }
    void fold() { ASSERT_TRUE(run(database_.run(fold_stored_changes))); }
};

TEST_F(Quotas, BoundTheJobsOfATokenThatWait)
{
    JobsService jobs = service({.queued_of_token = 3});
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(submit_to(jobs, "ann", "p" + std::to_string(i)));

    const Result<JobId> refused = submit_to(jobs, "ann");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kTooMany);
    EXPECT_EQ(refused.error().detail,
              "this token has 3 jobs that wait, and may have 3 (max_queued_of_token): submit more when some have "
              "started, or cancel some");
    EXPECT_TRUE(submit_to(jobs, "bob")) << "others are not held up";
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "4");
}

TEST_F(Quotas, LetJobsInAgainWhenOthersHaveStarted)
{
    JobsService jobs = service({.queued_of_token = 2});
    ASSERT_TRUE(submit_to(jobs, "ann"));
    ASSERT_TRUE(submit_to(jobs, "ann"));
    ASSERT_FALSE(submit_to(jobs, "ann"));

    route();

    EXPECT_TRUE(test::eventually([&] { return submit_to(jobs, "ann").has_value(); }));
}

TEST_F(Quotas, BoundTheJobsOfAProjectThatWaitWhoeverSubmitsThem)
{
    JobsService jobs = service({.queued_of_project = 2});
    ASSERT_TRUE(submit_to(jobs, "ann", "physics"));
    ASSERT_TRUE(submit_to(jobs, "bob", "physics"));

    const Result<JobId> refused = submit_to(jobs, "cid", "physics");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kTooMany);
    EXPECT_NE(refused.error().detail.find("project physics has 2 jobs that wait"), std::string::npos)
        << refused.error().detail;
    EXPECT_TRUE(submit_to(jobs, "cid", "chemistry"));
}

TEST_F(Quotas, BoundABatchAsAWhole)
{
    JobsService jobs = service({.queued_of_token = 3});
    const auto admit = [&](std::size_t count) {
        return run(jobs.admit(std::vector<JobSpec>(count, parse_job_spec(spec()).value()), JobBatch::kMany, admin_,
                              Submitter{"ann", 100}));
    };

    EXPECT_FALSE(admit(4));
    EXPECT_TRUE(admit(3));
}

TEST_F(Quotas, CountWhatOtherReplicasTook)
{
    JobsService here = service({.queued_of_token = 2});
    JobsService there = service({.queued_of_token = 2});
    ASSERT_TRUE(submit_to(here, "ann"));
    ASSERT_TRUE(submit_to(here, "ann"));

    EXPECT_EQ(submit_to(there, "ann").error().code, Errc::kTooMany);
}

TEST_F(Quotas, BoundTheBytesThatAreStored)
{
    sql("INSERT INTO stored_use (submitted_by, project, bytes) VALUES ('ann', 'q', 2 << 20)");
    JobsService jobs = service({.stored_bytes_of_token = 3 << 20});
    ASSERT_TRUE(submit_to(jobs, "ann", "p", 1 << 10));

    const Result<JobId> refused = submit_to(jobs, "ann", "p", 2 << 20);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kTooMany);
    EXPECT_NE(refused.error().detail.find("may take 3 MiB (max_stored_mib_of_token)"), std::string::npos)
        << refused.error().detail;
}

TEST_F(Quotas, KnowWhatJobsAndTheirOutputTakeUntilTheyAreRemoved)
{
    const JobId job = job_in("running");
    const std::string owner = admin_.token_id.value;
    const std::string spec_bytes = sql("SELECT spec_bytes FROM job");
    EXPECT_EQ(stored_by(owner), spec_bytes);

    ASSERT_TRUE(write_output(job, 0, std::string(1000, 'x')));
    fold();
    ASSERT_TRUE(write_output(job, 0, std::string(1500, 'x'))); // cut anew
    ASSERT_TRUE(write_output(job, 0, std::string(500, 'y'), "stderr"));
    EXPECT_EQ(stored_by(owner), std::to_string(std::stoll(spec_bytes) + 2000));

    AttemptEnd end;
    end.outcome = AttemptOutcome::kExited;
    end.exit_code = 0;
    end.started_at = clock_.now();
    end.ended_at = clock_.now();
    ASSERT_TRUE(report_end(job, end));
    sql("UPDATE attempt SET counted = true, metered = true");
    sql("UPDATE job SET state_changed_at = now() - interval '20 days'");
    sql("UPDATE attempt_output SET first_at = now() - interval '20 days'");
    const auto turn = [this](RetentionRule rule) {
        RetentionTask task(database_, clock_, metrics_, rule, {.pause = 0ms, .pieces = 1});
        ASSERT_TRUE(run(task.turn()));
    };
    turn({.output = std::chrono::days(10)});
    EXPECT_EQ(stored_by(owner), spec_bytes);
    turn({.jobs = std::chrono::days(10)});
    fold();
    EXPECT_EQ(stored_by(owner), "0");
    EXPECT_EQ(sql("SELECT count(*) FROM stored_change"), "0");
}

TEST_F(Quotas, BoundTheOutputOfAJobAndSaySoOnce)
{
    AttemptsService attempts({database_, io_.executor(), metrics_, catalog_, finalizer_, clock_},
                             /*most_output_bytes=*/10);
    const JobId job = job_in("running");
    const CenterId center = center_of(job);
    const AttemptId attempt = attempt_of(job);
    const auto write = [&](std::int64_t offset, const std::string& data) {
        return run(attempts.attempt_output(center, {attempt, "stdout", offset, data}));
    };

    EXPECT_TRUE(write(0, "12345678"));
    EXPECT_TRUE(write(8, "90abc")) << "the agent need not keep it";
    EXPECT_TRUE(write(13, "more"));

    EXPECT_EQ(call(net::Method::kGet, "/jobs/" + job.value + "/logs/stdout").status, 200);
    EXPECT_EQ(sql("SELECT string_agg(convert_from(data, 'UTF8'), '' ORDER BY offset_bytes) FROM job_output"),
              "1234567890");
    EXPECT_EQ(sql("SELECT count(*) FROM job_event WHERE cause LIKE 'more output is not kept%'"), "1");
}

TEST_F(Quotas, IdempotencyKeysDoNotStoreSpecificationsAgain)
{
    const std::string large = Json{{"script", "#!/bin/sh\n# " + std::string(50000, 'x') + "\n"}}.dump();
    const auto post = [this](const std::string& body, const char* key) {
        return call(net::Method::kPost, "/jobs", body, {{"Idempotency-Key", key}});
    };
    const net::Response one = post(large, "one");
    const net::Response many = post("[" + large + "," + spec({{"name", "second"}}).dump() + "]", "many");
    ASSERT_EQ(one.status, 201) << one.body;
    ASSERT_EQ(many.status, 201) << many.body;
    route(); // they are not as they were

    const net::Response one_again = post(large, "one");
    const net::Response many_again = post("[" + large + "," + spec({{"name", "second"}}).dump() + "]", "many");

    EXPECT_LT(std::stoll(sql("SELECT max(length(k::text)) FROM idempotency_key k")), 500);
    EXPECT_EQ(one_again.body, one.body);
    EXPECT_EQ(one_again.headers.at("Location"), one.headers.at("Location"));
    EXPECT_EQ(many_again.body, many.body);
    EXPECT_EQ(many_again.headers.at("Idempotent-Replayed"), "true");
    EXPECT_EQ(sql("SELECT count(*) FROM job"), "3");
}

TEST_F(Quotas, AKeyWhoseJobsAreGoneIsNotUsedForNewOnes)
{
    const net::Headers key{{"Idempotency-Key", "k"}};
    ASSERT_EQ(call(net::Method::kPost, "/jobs", spec().dump(), key).status, 201);
    sql("DELETE FROM job");

    const net::Response again = call(net::Method::kPost, "/jobs", spec().dump(), key);

    EXPECT_EQ(again.status, 409);
    EXPECT_NE(again.body.find("have been removed"), std::string::npos) << again.body;
}

TEST_F(Quotas, AreAnsweredWith429AndTheReason)
{
    JobsService jobs = service({.queued_of_token = 1});
    net::Router router;
    ApiRouter api(router, identity_);
    add_jobs_routes(api, jobs, database_);
    std::swap(router, router_);
    ASSERT_EQ(call(net::Method::kPost, "/jobs", spec().dump(), {{"Idempotency-Key", "k"}}).status, 201);

    const net::Response refused = call(net::Method::kPost, "/jobs", spec().dump());
    const net::Response repeated = call(net::Method::kPost, "/jobs", spec().dump(), {{"Idempotency-Key", "k"}});

    EXPECT_EQ(refused.status, 429) << refused.body;
    EXPECT_NE(refused.body.find("max_queued_of_token"), std::string::npos) << refused.body;
    EXPECT_EQ(repeated.status, 201) << "a repeat gets its answer";
    std::swap(router, router_);
}

} // namespace
} // namespace fathom::server
