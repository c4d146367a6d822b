#include "tests/server/jobs/jobs_fixture.hpp"

#include <pqxx/pqxx>

#include <future>

namespace fathom::server {
namespace {

class Cancelling : public JobsFixture {
  protected:
    Cancelling() { add_center("alpha"); }

    net::Response cancel(const JobId& job, const net::Headers& headers = {}, const std::string& user = "admin")
    {
        return call(net::Method::kPost, "/jobs/" + job.value + ":cancel", "", headers, user);
    }
};

TEST_F(Cancelling, OfAnothersJobIsAPrivilegedAct)
{
    const Principal ann = add_token("ann", Role::kUser);
    const JobId anns = submit(spec(), ann);
    const JobId other = submit(spec(), ann);

    ASSERT_EQ(cancel(anns, {}, "ann").status, 202);
    ASSERT_EQ(cancel(other).status, 202);

    EXPECT_EQ(sql("SELECT actor || ' ' || subject FROM audit_log WHERE action = 'job.cancel'"),
              admin_.token_id.value + " " + other.value);
    EXPECT_NE(sql("SELECT request_id FROM audit_log WHERE action = 'job.cancel'"), "");
}

TEST_F(Cancelling, EndsAtOnceWhatNoCenterHas)
{
    for (const std::string state : {"queued", "placed"}) {
        const JobId job = job_in(state);

        const net::Response response = cancel(job);

        EXPECT_EQ(response.status, 202) << response.body;
        EXPECT_EQ(Json::parse(response.body)["state"], "cancelled");
        EXPECT_EQ(Json::parse(response.body)["end_reason"], "cancelled by admin");
    }
    EXPECT_EQ(sql("SELECT count(*) FROM attempt WHERE state <> 'ended'"), "0");
}

TEST_F(Cancelling, HasItsTimesFromAfterItGotTheJob)
{
    const JobId job = job_in("placed");
    pqxx::connection elsewhere(url_);
    pqxx::work placing(elsewhere);
    placing.exec("SELECT FROM job WHERE id = '" + job.value + "' FOR UPDATE");
    std::future<net::Response> cancelled = std::async(std::launch::async, [&] { return cancel(job); });
    EXPECT_TRUE(test::eventually([&] {
        return sql("SELECT count(*) FROM pg_stat_activity "
                   "WHERE wait_event_type = 'Lock' AND datname = current_database()") == "1";
    }));
    placing.exec("UPDATE attempt SET created_at = clock_timestamp() WHERE job_id = '" + job.value + "'");
    placing.exec("UPDATE job SET state_changed_at = clock_timestamp() WHERE id = '" + job.value + "'");
    placing.exec("UPDATE job_event SET at = clock_timestamp() WHERE state = 'placed'");
    placing.commit();

    EXPECT_EQ(cancelled.get().status, 202);
    EXPECT_EQ(sql("SELECT closed_at >= created_at FROM attempt"), "t");
    EXPECT_EQ(sql("SELECT started_at IS NULL FROM attempt"), "t") << "it never ran";
    EXPECT_EQ(sql("SELECT actual_wait_s IS NULL FROM prediction"), "t") << "nor is it known how long it would wait";
    EXPECT_EQ(sql("SELECT j.state_changed_at >= a.created_at AND j.ended_at >= a.created_at FROM job j, attempt a"),
              "t");
    EXPECT_EQ(sql("SELECT string_agg(state, ' ' ORDER BY at) FROM job_event"), "queued placed cancelled");
}

TEST_F(Cancelling, AsksTheCenterThatMayRunIt)
{
    for (const std::string state : {"sent", "dispatched", "running"}) {
        const JobId job = job_in(state);
        const AttemptId attempt = attempt_of(job);

        const net::Response response = cancel(job);

        EXPECT_EQ(response.status, 202) << response.body;
        EXPECT_EQ(Json::parse(response.body)["state"], state == "sent" ? "placed" : state);
        EXPECT_EQ(cancel(job).status, 202) << "asking twice is no error";
        const std::vector<link::Body> orders = orders_for(center_of(job));
        ASSERT_EQ(orders.size(), 1U);
        EXPECT_EQ(std::get<link::CancelAttempt>(orders[0]).attempt_id, attempt);
        AttemptEnd end;
        end.outcome = AttemptOutcome::kCancelled;
        ASSERT_TRUE(report_end(job, end));
        EXPECT_EQ(state_of(job), "cancelled");
    }
}

TEST_F(Cancelling, KeepsTheTrueEndOfAJobThatWasQuicker)
{
    const JobId job = job_in("running");
    cancel(job);
    AttemptEnd end;
    end.outcome = AttemptOutcome::kExited;
    end.exit_code = 0;

    ASSERT_TRUE(report_end(job, end));

    EXPECT_EQ(state_of(job), "succeeded");
    EXPECT_EQ(cancel(job).status, 409);
}

TEST_F(Cancelling, EndsAJobOfALostCenterAndStopsItThereLater)
{
    const JobId job = job_in("lost");

    EXPECT_EQ(Json::parse(cancel(job).body)["state"], "cancelled");

    const auto answer = run(attempts_.reconcile(center_of(job), {{attempt_of(job), "running"}})).value();
    EXPECT_EQ(answer.stop, std::vector<AttemptId>{attempt_of(job)});
}

TEST_F(Cancelling, EndsWhatTheAgentNeverGotWhenItComesBack)
{
    const JobId job = job_in("sent");
    cancel(job);

    run(attempts_.reconcile(center_of(job), {})).value();

    EXPECT_EQ(state_of(job), "cancelled");
}

TEST_F(Cancelling, HonoursIfMatch)
{
    const JobId job = job_in("queued");

    EXPECT_EQ(cancel(job, {{"If-Match", "\"7\""}}).status, 412);
    EXPECT_EQ(state_of(job), "queued");
    EXPECT_EQ(cancel(job, {{"If-Match", "\"1\""}}).status, 202);
}

TEST_F(Cancelling, IsForOwnersAndAdmins)
{
    const Principal ann = add_token("ann", Role::kUser);
    add_token("bob", Role::kUser);
    add_token("exa", Role::kExpert);
    const JobId job = submit(spec(), ann);

    EXPECT_EQ(cancel(job, {}, "bob").status, 404);
    EXPECT_EQ(cancel(job, {}, "exa").status, 403);
    EXPECT_EQ(cancel(job, {}, "ann").status, 202);
    EXPECT_EQ(cancel(JobId::make()).status, 404);
    EXPECT_EQ(call(net::Method::kPost, "/jobs/nonsense:cancel").status, 404);
}

TEST_F(Cancelling, TellsProbingOfCancelledProbes)
{
    JobsProbeJobWriter writer;
    const JobId job = JobId::make();
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        return writer.insert_probe_job(transaction, job, parse_job_spec(spec()).value(), "rep_1");
    };
    ASSERT_TRUE(database_.blocking_run(work));

    cancel(job);

    ASSERT_EQ(probing_.ended.size(), 1U);
    EXPECT_FALSE(probing_.ended[0].succeeded);
}

/// Of probes by probing, which has ended their runs.
class StoppingProbes : public Cancelling {
  protected:
    JobId probe()
    {
        const JobId job = JobId::make();
        auto work = [&](pqxx::work& transaction) -> Result<void> {
            return writer_.insert_probe_job(transaction, job, parse_job_spec(spec()).value(), "rep_1");
        };
        EXPECT_TRUE(database_.blocking_run(work));
        return job;
    }
    void stop(const JobId& job)
    {
        auto work = [&](pqxx::work& transaction) -> Result<void> {
            writer_.stop_probe_job(transaction, job, "operator lu version 1 was withdrawn");
            return {};
        };
        ASSERT_TRUE(database_.blocking_run(work));
    }
    std::string end_of(const JobId& job) const
    {
        return sql("SELECT state || ': ' || end_reason FROM job WHERE id = '" + job.value + "'");
    }

    JobsProbeJobWriter writer_{&metrics_};
};

TEST_F(StoppingProbes, EndsAtOnceWhatNoCenterHas)
{
    const JobId placed = probe();
    route();
    ASSERT_EQ(state_of(placed), "placed");
    const JobId queued = probe();

    stop(placed);
    stop(queued);
    stop(queued); // changes nothing

    EXPECT_EQ(end_of(placed), "cancelled: operator lu version 1 was withdrawn");
    EXPECT_EQ(end_of(queued), "cancelled: operator lu version 1 was withdrawn");
    EXPECT_EQ(events_of(queued), (std::vector<std::string>{"queued", "cancelled"}));
    EXPECT_EQ(sql("SELECT count(*) FROM attempt WHERE state <> 'ended'"), "0") << "its units are free";
    EXPECT_TRUE(probing_.ended.empty()) << "probing knows";
    EXPECT_TRUE(orders_for({center_id("alpha")}).empty());
    EXPECT_THAT(metrics_.expose(),
                testing::HasSubstr("fathom_jobs_ended_total{label=\"probe\",state=\"cancelled\"} 2"));
}

TEST_F(StoppingProbes, AsksTheCenterThatMayRunThem)
{
    const JobId job = probe();
    route();
    const CenterId center = center_of(job);
    ASSERT_EQ(orders_for(center).size(), 1U);
    ASSERT_TRUE(run(report(attempts_, center, StartAcknowledged{attempt_of(job)})));

    stop(job);

    EXPECT_EQ(state_of(job), "dispatched");
    const std::vector<link::Body> orders = orders_for(center);
    ASSERT_EQ(orders.size(), 1U);
    EXPECT_EQ(std::get<link::CancelAttempt>(orders[0]).attempt_id, attempt_of(job));
    EXPECT_THAT(sql("SELECT cause FROM job_event ORDER BY id DESC LIMIT 1"),
                testing::HasSubstr("operator lu version 1 was withdrawn: its center is told to stop it"));
    AttemptEnd end;
    end.outcome = AttemptOutcome::kCancelled;
    ASSERT_TRUE(report_end(job, end));
    EXPECT_EQ(state_of(job), "cancelled");
}

} // namespace
} // namespace fathom::server
