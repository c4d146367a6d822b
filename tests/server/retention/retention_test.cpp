#include "server/identity/audit_chain.hpp"
#include "server/identity/audit_chain_store.hpp"
#include "server/retention/retention_task.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

/// The clock of a day to come.
class LaterClock final : public Clock {
  public:
    explicit LaterClock(days later) : later_(later) {}
    Timestamp now() const override { return SystemClock().now() + later_; }

  private:
    days later_;
};

class Retention : public JobsFixture {
  protected:
    Retention() { alpha_ = add_center("alpha", 8); }

    /// A turn of the periodic task that many days from now.
    RetentionTask::Removed turn_after(days later, RetentionRule rule)
    {
        const LaterClock clock(later);
        RetentionTask task(database_, clock, metrics_, rule, {.pause = 0ms, .jobs = 3, .pieces = 2, .rows = 2});
        return run(task.turn()).value();
    }
    /// A job that wrote something and ended well, and that shares and quotas have counted.
    JobId ended_job()
    {
        const JobId job = job_in("running");
        EXPECT_TRUE(write_output(job, 0, "one"));
        EXPECT_TRUE(write_output(job, 3, "two"));
        EXPECT_TRUE(write_output(job, 0, "bad", "stderr"));
        AttemptEnd end;
        end.outcome = AttemptOutcome::kExited;
        end.exit_code = 0;
        end.started_at = clock_.now();
        end.ended_at = clock_.now();
        end.run_s = 1;
        EXPECT_TRUE(report_end(job, end));
        sql("UPDATE attempt SET counted = true, metered = true WHERE job_id = '" + job.value + "'");
        return job;
    }
    /// Rows that are left of a job, in all tables that name it or its attempts, but for its events, which go with their
    /// month (EventMonths).
    std::string rows_of(const JobId& job, const std::string& attempt)
    {
        std::string rows;
        for (const char* table : {"attempt", "learning_queue", "kept_output"})
            rows += sql("SELECT count(*) FROM " + std::string(table) + " WHERE job_id = '" + job.value + "'");
        for (const char* table : {"job_output", "attempt_output", "placement", "prediction", "attempt_profile",
                                  "operator_outcome", "attempt_gpu"})
            rows += sql("SELECT count(*) FROM " + std::string(table) + " WHERE attempt_id = '" + attempt + "'");
        return rows;
    }
    net::Response get(const JobId& job, const std::string& rest = "")
    {
        return call(net::Method::kGet, "/jobs/" + job.value + rest);
    }
    std::int64_t count(const std::string& table) const { return std::stoll(sql("SELECT count(*) FROM " + table)); }

    std::string alpha_; ///< a unit type
};

TEST_F(Retention, RemovesOldJobsWithAllThatHangsOnThem)
{
    std::vector<JobId> old;
    for (int i = 0; i < 4; ++i) // more than a transaction takes
        old.push_back(ended_job());
    const std::string attempt = attempt_of(old[0]).value;
    sql("INSERT INTO attempt_gpu (attempt_id, gpu, capacity_bytes, programs, neighbours) VALUES ('" + attempt +
        "', 'GPU-1', 80, '{}', '{}')");
    sql("INSERT INTO operator_outcome (attempt_id, operator_id, parameters_key, unit_type_id, execution_count, "
        "actual_s, "
        "basis, similarity) SELECT id, 'dgemm', 'm=1', unit_type_id, 1, 1, 'unknown', 1 FROM attempt WHERE id = '" +
        attempt + "'");
    sql("INSERT INTO kept_output (job_id, path, center_id) VALUES ('" + old[0].value + "', 'a', 'ctr_a')");
    const JobId waits = job_in("queued");

    EXPECT_EQ(turn_after(days(89), {.jobs = days(90), .output = days(0)}).jobs, 0);
    EXPECT_EQ(turn_after(days(91), {.jobs = days(90), .output = days(0)}).jobs, 4);

    EXPECT_EQ(get(old[0]).status, 404);
    EXPECT_EQ(rows_of(old[0], attempt), "0000000000");
    EXPECT_EQ(get(waits).status, 200);
    const Json list = Json::parse(call(net::Method::kGet, "/jobs").body);
    ASSERT_EQ(list["items"].size(), 1U);
    EXPECT_EQ(list["items"][0]["id"], waits.value);
}

TEST_F(Retention, KeepsWhatHasNotEndedAndWhatIsYetToBeCounted)
{
    const JobId waits = job_in("queued");
    const JobId runs = job_in("running");
    ASSERT_TRUE(write_output(runs, 0, "so far"));
    const JobId uncounted = ended_job();
    sql("UPDATE attempt SET counted = false WHERE job_id = '" + uncounted.value + "'");
    const JobId unmetered = ended_job();
    sql("UPDATE attempt SET metered = false WHERE job_id = '" + unmetered.value + "'");

    const RetentionTask::Removed removed = turn_after(days(1000), {.jobs = days(30), .output = days(10)});

    EXPECT_EQ(removed.jobs, 0);
    for (const JobId& job : {waits, runs, uncounted, unmetered})
        EXPECT_EQ(get(job).status, 200);
    EXPECT_EQ(get(runs, "/logs/stdout").status, 200);
    EXPECT_EQ(sql("SELECT sum(length(data)) FROM job_output"), "6");
}

TEST_F(Retention, RemovesOutputBeforeItsJobAndSaysSo)
{
    const JobId job = ended_job();
    EXPECT_EQ(sql("SELECT bytes FROM attempt_output"), "9");

    EXPECT_EQ(turn_after(days(31), {.jobs = days(90), .output = days(30)}).outputs, 1);

    const net::Response log = get(job, "/logs/stdout");
    EXPECT_EQ(log.status, 404);
    EXPECT_NE(log.body.find("no longer kept"), std::string::npos) << log.body;
    EXPECT_EQ(get(job).status, 200);
    EXPECT_EQ(count("job_output") + count("attempt_output"), 0);
}

TEST_F(Retention, KnowsTheBytesOfOutputThatWasCutAnew)
{
    const JobId job = job_in("running");

    ASSERT_TRUE(write_output(job, 0, "abc"));
    ASSERT_TRUE(write_output(job, 0, "abc"));
    ASSERT_TRUE(write_output(job, 0, "abcdef"));

    EXPECT_EQ(sql("SELECT bytes FROM attempt_output"), "6");
}

TEST_F(Retention, KeepsEverythingWhereTheSettingsSaySo)
{
    ended_job();

    const RetentionTask::Removed removed = turn_after(
        days(3000), {.jobs = days(0), .output = days(0), .measurements = days(0), .audit = days(0), .usage = days(0)});

    EXPECT_EQ(removed.jobs + removed.outputs + removed.probe_runs + removed.audit + removed.usage, 0);
}

TEST_F(Retention, OneJobThatCannotBeRemovedDoesNotKeepTheOthers)
{
    const JobId first = ended_job();
    const JobId held = ended_job();
    const JobId last = ended_job();
    sql("CREATE TABLE elsewhere AS SELECT '" + held.value + "'::text AS job_id");
    sql("ALTER TABLE elsewhere ADD FOREIGN KEY (job_id) REFERENCES job (id)");

    EXPECT_EQ(turn_after(days(100), {.jobs = days(90)}).jobs, 2);

    EXPECT_EQ(get(first).status, 404);
    EXPECT_EQ(get(held).status, 200);
    EXPECT_EQ(get(last).status, 404);
}

TEST_F(Retention, KeepsTheMeasurementsThatFiguresRestOn)
{
    add_operators();
    add_measurement(alpha_, 2.0, "now() - interval '2 days'");
    add_measurement(alpha_, 1.0, "now() - interval '1 day'");
    sql("UPDATE probe_run SET ended_at = now() - interval '1 day'");
    sql("UPDATE job SET state_changed_at = now() - interval '1 day' WHERE label = 'probe'");
    sql("INSERT INTO job_event (job_id, state, cause) SELECT id, 'queued', 'x' FROM job WHERE label = 'probe'");

    EXPECT_EQ(turn_after(days(100), {.measurements = days(90)}).probe_runs, 1);

    EXPECT_EQ(sql("SELECT string_agg(median_s::text, ',') FROM measurement"), "1");
    EXPECT_EQ(count("probe_run"), 1);
    EXPECT_EQ(count("job WHERE label = 'probe'"), 1) << "the job goes with its run";
    EXPECT_EQ(count("job_event"), 1) << "so do its events";
}

TEST_F(Retention, KeepsRunsThatFindingsAndPreTestsName)
{
    add_operators();
    for (const char* age : {"4 days", "3 days", "2 days"})
        add_measurement(alpha_, 1.0, "now() - interval '" + std::string(age) + "'");
    sql("UPDATE probe_run SET ended_at = now() - interval '1 day'");
    sql("UPDATE job SET state_changed_at = now() - interval '1 day' WHERE label = 'probe'");
    sql("UPDATE probe_task SET pretest_run_id = (SELECT min(id) FROM probe_run)");
    sql("INSERT INTO probe_finding (center_id, probe_run_id, kind, detail) "
        "SELECT center_id, id, 'late', '' FROM probe_run ORDER BY id OFFSET 1 LIMIT 1");

    EXPECT_EQ(turn_after(days(100), {.measurements = days(90)}).probe_runs, 0);
}

TEST_F(Retention, RemovesFindingsThatNoTrustRestsOn)
{
    const auto find = [this](const std::string& kind, const std::string& found_at, const std::string& dismissed_at) {
        sql("INSERT INTO probe_finding (center_id, kind, detail, found_at, dismissed_at, dismissed_by) "
            "SELECT id, '" +
            kind + "', '" + kind + "', " + found_at + ", " + dismissed_at + ", CASE WHEN " + dismissed_at +
            " IS NULL THEN NULL ELSE 'tok' END FROM center LIMIT 1");
    };
    const std::string old = "now() - interval '100 days'";
    const std::string fresh = "now() - interval '1 day'";
    for (int i = 0; i < 3; ++i) // more than a transaction takes
        find("late", old, "NULL::timestamptz");
    find("checksum", old, old);
    find("checksum", old, "NULL::timestamptz"); // costs trust
    find("rate", old, fresh);                   // somebody has looked at it of late
    find("nonsense", fresh, "NULL::timestamptz");

    EXPECT_EQ(turn_after(days(0), {.findings = days(0)}).findings, 0) << "never";
    EXPECT_EQ(turn_after(days(0), {.findings = days(30)}).findings, 4);

    EXPECT_EQ(sql("SELECT string_agg(kind, ' ' ORDER BY id) FROM probe_finding"), "checksum rate nonsense");
}

TEST_F(Retention, RemovesOldAuditAndUsage)
{
    const auto audit = [this](int days_ago) {
        sql("INSERT INTO audit_log (at, actor, action, subject, request_id) VALUES (now() - interval '" +
            std::to_string(days_ago) + " days', 'a', 'b', 'c', '')");
        sql("INSERT INTO project_use (project, day, unit_type_id, unit_s, score_hours, cost) VALUES ('p', current_date "
            "- " +
            std::to_string(days_ago) + ", '" + alpha_ + "', 1, 1, 1)");
    };
    for (const int days_ago : {400, 399, 398, 397, 396, 1}) // more than a transaction takes
        audit(days_ago);
    const std::int64_t entries = count("audit_log");
    const auto chain = [](pqxx::work& transaction) { return chain_audit_log(transaction); };
    ASSERT_TRUE(run(database_.run(chain)));

    const RetentionTask::Removed removed = turn_after(days(0), {.audit = days(365), .usage = days(365)});

    EXPECT_EQ(removed.audit, 5);
    EXPECT_EQ(removed.usage, 5);
    EXPECT_EQ(count("audit_log"), entries - 5);
    EXPECT_EQ(sql("SELECT first_number FROM audit_chain"), "5");
    EXPECT_EQ(count("project_use"), 1);
}

TEST_F(Retention, NoTransactionRemovesMoreThanItsPace)
{
    sql("CREATE TABLE removal (id xid8, name text, removed bigint)");
    sql("CREATE FUNCTION note_removal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO removal SELECT pg_current_xact_id(), TG_TABLE_NAME, count(*) FROM gone; RETURN NULL; END $$");
    for (const char* table : {"job", "job_output", "probe_finding", "audit_log", "project_use", "kept_output"})
        sql("CREATE TRIGGER note_removal AFTER DELETE ON " + std::string(table) +
            " REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_removal()");
    for (int i = 0; i < 7; ++i) {
        const std::string number = std::to_string(i);
        ended_job();
        sql("INSERT INTO probe_finding (center_id, kind, detail) SELECT id, 'late', '' FROM center LIMIT 1");
        sql("INSERT INTO project_use (project, day, unit_type_id, unit_s, score_hours, cost) "
            "VALUES ('p', current_date - " +
            number + ", '" + alpha_ + "', 1, 1, 1)");
        sql("INSERT INTO audit_log (actor, action, subject, request_id) VALUES ('a', 'b', 'c', '')");
        sql("INSERT INTO kept_output (job_id, path, center_id) VALUES ('job_none', '" + number + "', 'ctr_a')");
    }
    const auto chain = [](pqxx::work& transaction) { return chain_audit_log(transaction); };
    ASSERT_TRUE(run(database_.run(chain)));

    turn_after(days(4000), {});

    EXPECT_EQ(count("job") + count("job_output") + count("probe_finding") + count("audit_log") + count("project_use") +
                  count("kept_output"),
              0);
    const auto most_of = [this](const std::string& table) {
        return sql("SELECT max(removed) FROM (SELECT sum(removed) AS removed FROM removal WHERE name = '" + table +
                   "' GROUP BY id) t");
    };
    EXPECT_EQ(most_of("job"), "3");
    for (const char* table : {"job_output", "probe_finding", "audit_log", "project_use", "kept_output"})
        EXPECT_EQ(most_of(table), "2") << table;
}

TEST_F(Retention, TellsWhenAnIdIsSoOldThatItsJobMayBeGone)
{
    JobsService jobs({database_, io_.executor(), metrics_, catalog_, finalizer_, compute_, clock_},
                     {.keep_jobs = days(90)});

    const Error old = run(jobs.get(JobId{"job_01ARZ3NDEKTSV4RRFFQ69G5FAV"}, JobReader{admin_, ""})).error();
    const Error fresh = run(jobs.get(JobId::make(), JobReader{admin_, ""})).error();

    EXPECT_EQ(old.code, Errc::kNotFound);
    EXPECT_NE(old.detail.find("removed 90 days after their end"), std::string::npos) << old.detail;
    EXPECT_EQ(fresh.code, Errc::kNotFound);
    EXPECT_EQ(fresh.detail.find("removed"), std::string::npos) << fresh.detail;
}

TEST_F(Retention, ReadsNoTableFromEndToEnd)
{
    ended_job();
    ended_job();
    add_measurement(alpha_, 2.0, "now() - interval '2 days'");
    add_measurement(alpha_, 1.0, "now() - interval '1 day'");
    sql("UPDATE probe_run SET ended_at = now() - interval '1 day'");
    count_sequential_scans();
    Database database({.url = url_, .connections = 1}, metrics_); // connections of before do not have the setting
    const LaterClock clock(days(4000));
    RetentionTask task(database, clock, metrics_, RetentionRule(), {.pause = 0ms});

    ASSERT_EQ(run(task.turn()).value().jobs, 2);
    database.stop();

    EXPECT_TRUE(test::eventually([&] {
        return sql("SELECT count(*) FROM pg_stat_user_tables WHERE relname = 'job' AND n_tup_del >= 2") == "1";
    }));
    EXPECT_EQ(sql("SELECT string_agg(relname, ',') FROM pg_stat_user_tables WHERE seq_scan > 0 AND (relname IN "
                  "('job', 'attempt', 'job_output', 'attempt_output', 'placement', 'prediction', "
                  "'attempt_profile', 'operator_outcome', 'attempt_gpu', 'learning_queue', 'kept_output', 'probe_run', "
                  "'measurement', "
                  "'probe_finding', "
                  "'audit_log', "
                  "'project_use', 'sub_unit_request', 'sub_unit_grant', 'sub_unit_event', 'job_type', 'probe_task', "
                  "'advance_reservation', 'maintenance_window') OR relname ~ "
                  "'^job_event_(2|other)')"),
              "");
}

TEST_F(Retention, ShowsWhatIsStored)
{
    ended_job();
    RetentionTask task(database_, clock_, metrics_, RetentionRule());

    ASSERT_TRUE(run(task.set_gauges()));

    const std::string figures = metrics_.expose();
    for (const char* kind : {"jobs", "output", "events", "decisions", "measurements", "audit", "usage", "other"})
        EXPECT_NE(figures.find("fathom_stored_bytes{kind=\"" + std::string(kind) + "\"}"), std::string::npos) << kind;
}

TEST_F(Retention, TakesNoNewJobsWhileTheDiskIsNearlyFull)
{
    std::uint64_t free = 999;
    FreeSpace space([&free] { return std::optional(free); }, /*least_bytes=*/1000, metrics_);
    JobsService jobs({database_, io_.executor(), metrics_, catalog_, finalizer_, compute_, clock_}, {.space = &space});
    const auto admit = [&] { return run(jobs.admit({parse_job_spec(spec()).value()}, JobBatch::kOne, admin_)); };
    const JobId runs = job_in("running");

    EXPECT_TRUE(admit());
    space.look();
    const auto refused = admit();

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kUnavailable);
    EXPECT_NE(refused.error().detail.find("disk is nearly full"), std::string::npos) << refused.error().detail;
    EXPECT_TRUE(write_output(runs, 0, "goes on"));
    EXPECT_NE(metrics_.expose().find("fathom_free_bytes 999"), std::string::npos);
    free = 1000;
    space.look();
    EXPECT_TRUE(admit());
}

} // namespace
} // namespace fathom::server
