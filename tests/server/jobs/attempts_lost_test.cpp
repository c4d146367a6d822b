#include "tests/server/jobs/attempts_fixture.hpp"

namespace fathom::server {
namespace {

TEST_F(Attempts, ThatTheAgentLostFailTheirJobs)
{
    const JobId lost = job_in("running");

    const auto answer = reconcile({});

    EXPECT_TRUE(answer.stop.empty());
    EXPECT_EQ(state_of(lost), "failed");
    EXPECT_THAT(job_json(lost)["end_reason"].get<std::string>(), ::testing::HasSubstr("lost: center alpha"));
}

TEST_F(Attempts, AreToldApartOnReconnect)
{
    const JobId live = job_in("running");
    const JobId ended = job_in("running");
    ASSERT_TRUE(report_end(ended, exited(0)));
    const AttemptId unknown = AttemptId::make();

    const auto answer = reconcile({{attempt_of(live), "running"}, {attempt_of(ended), "ended"}, {unknown, "running"}});

    EXPECT_EQ(answer.stop, std::vector<AttemptId>{unknown});
    EXPECT_EQ(answer.forget, std::vector<AttemptId>{attempt_of(ended)});
    EXPECT_EQ(state_of(live), "running");
}

TEST_F(Attempts, OfProbesAreReportedWithTheirOutput)
{
    JobsProbeJobWriter writer;
    const JobId job = JobId::make();
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        return writer.insert_probe_job(transaction, job, parse_job_spec(spec()).value(), "rep_1");
    };
    ASSERT_TRUE(database_.blocking_run(work));
    route();
    ASSERT_TRUE(write_output(job, 0, "{\"a\":"));
    ASSERT_TRUE(write_output(job, 5, "1}"));

    ASSERT_TRUE(report_end(job, exited(0)));
    ASSERT_TRUE(report_end(job, exited(0)));

    ASSERT_EQ(probing_.ended.size(), 1U);
    EXPECT_EQ(probing_.ended[0].job, job);
    EXPECT_TRUE(probing_.ended[0].succeeded);
    EXPECT_EQ(probing_.ended[0].stdout_text, "{\"a\":1}");
}

TEST_F(Attempts, OfProbesThatWereTakenForLostAreNotedWhenTheyEndWellAllTheSame)
{
    JobsProbeJobWriter writer;
    const JobId job = JobId::make();
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        return writer.insert_probe_job(transaction, job, parse_job_spec(spec()).value(), "rep_1");
    };
    ASSERT_TRUE(database_.blocking_run(work));
    route();
    ASSERT_TRUE(run(report(attempts_, center_of(job), StartAcknowledged{attempt_of(job)})));
    reconcile({}); // its center came back without it
    ASSERT_EQ(sql("SELECT outcome FROM attempt"), "lost");

    ASSERT_TRUE(report_end(job, exited(3)));
    EXPECT_TRUE(probing_.late.empty()) << "it has no result";
    ASSERT_TRUE(report_end(job, exited(0)));

    ASSERT_EQ(probing_.late.size(), 1U);
    EXPECT_EQ(probing_.late[0].job, job);
    EXPECT_EQ(sql("SELECT outcome FROM attempt"), "lost");
}

TEST_F(Attempts, OfProbesWhoseCenterCountsHoldWhatIsFreeUntilTheyStart)
{
    JobsProbeJobWriter writer;
    const JobId job = JobId::make();
    auto work = [&](pqxx::work& transaction) -> Result<void> {
        return writer.insert_probe_job(transaction, job, parse_job_spec(spec()).value(), "rep_1");
    };
    ASSERT_TRUE(database_.blocking_run(work));
    sql("INSERT INTO probe_task (id, name, origin, document, document_sha256, created_by) "
        "VALUES ('ptk_1', 't', 'expert', '{}', 'x', 'tok_1')");
    sql("INSERT INTO probe_run (id, probe_task_id, center_id, unit_type_id, unit_count, selection, count_by, cause, "
        "job_id, "
        "created_by) SELECT 'prn_1', 'ptk_1', center_id, id, 0, 'center', 'center', 'command', '" +
        job.value + "', 'tok_1' FROM unit_type");
    route();
    ASSERT_EQ(sql("SELECT unit_count FROM attempt"), "1");

    const std::vector<link::Body> orders = orders_for(center_of(job));

    ASSERT_EQ(orders.size(), 1U);
    const AttemptOrder order = std::get<link::StartAttempt>(orders[0]).order;
    EXPECT_TRUE(order.center_counts);
    EXPECT_EQ(order.unit_count, 2);
    EXPECT_EQ(sql("SELECT unit_count FROM attempt"), "2") << "nobody else may have them meanwhile";

    link::AttemptStarted started;
    started.attempt_id = attempt_of(job);
    started.units = {1};
    started.able_unit_types = {"core"};
    ASSERT_TRUE(run(report(attempts_, center_of(job), started)));
    EXPECT_EQ(sql("SELECT unit_count FROM attempt"), "1");
    EXPECT_EQ(probing_.able, std::vector<std::string>{"core"});
}

TEST_F(Attempts, AtACenterThatIsLostAreLostUntilItReturns)
{
    const JobId job = job_in("lost");
    EXPECT_EQ(state_of(job), "lost");

    sql("UPDATE center SET state = 'online'");
    EXPECT_EQ(run(periodic_tasks_.follow_centers()).value(), 1);
    EXPECT_EQ(state_of(job), "running");
    ASSERT_TRUE(report_end(job, exited(0)));

    EXPECT_EQ(state_of(job), "succeeded");
    EXPECT_EQ(events_of(job).at(4), "lost");
}

TEST_F(Attempts, ReportedByALostCenterEndTheirJobAllTheSame)
{
    const JobId job = job_in("lost");

    ASSERT_TRUE(report_end(job, exited(0)));

    EXPECT_EQ(state_of(job), "succeeded");
}

TEST_F(Attempts, ThatALostCenterNeverGotArePlacedAnew)
{
    const JobId job = job_in("placed");
    const AttemptId first = attempt_of(job);
    const CenterId alpha = center_of(job);
    sql("UPDATE center SET state = 'lost'");
    clock_.advance(std::chrono::days(3));

    EXPECT_EQ(run(periodic_tasks_.follow_centers()).value(), 1);
    EXPECT_EQ(sql("SELECT ended_at > now() + interval '2 days' FROM attempt"), "t") << "by the clock that it was given";
    EXPECT_EQ(state_of(job), "queued");
    add_center("beta");
    route();

    EXPECT_EQ(state_of(job), "placed");
    EXPECT_NE(attempt_of(job), first);
    EXPECT_NE(center_of(job), alpha);
    EXPECT_EQ(sql("SELECT max(epoch) FROM attempt"), "2");
}

} // namespace
} // namespace fathom::server
