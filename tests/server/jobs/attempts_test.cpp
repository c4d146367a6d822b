#include "server/jobs/attempt_output_store.hpp"
#include "server/jobs/attempt_words.hpp"
#include "tests/server/jobs/attempts_fixture.hpp"

namespace fathom::server {
namespace {

TEST_F(Attempts, GoForwardsWithTheirJob)
{
    const JobId job = submit();
    route();
    const CenterId center = center_of(job);

    const std::vector<link::Body> orders = orders_for(center);
    ASSERT_EQ(orders.size(), 1U);
    const AttemptOrder order = std::get<link::StartAttempt>(orders[0]).order;
    EXPECT_EQ(order.job_id, job);
    EXPECT_EQ(order.unit_type, "core");
    EXPECT_EQ(order.command, std::vector<std::string>{"true"});
    EXPECT_EQ(order.label, "job");
    EXPECT_EQ(state_of(job), "placed");
    ASSERT_TRUE(run(report(attempts_, center, StartAcknowledged{attempt_of(job)})));
    EXPECT_EQ(state_of(job), "dispatched");
    ASSERT_TRUE(report_start(job));
    EXPECT_EQ(state_of(job), "running");
    ASSERT_TRUE(report_end(job, exited(0)));

    EXPECT_EQ(state_of(job), "succeeded");
    EXPECT_EQ(events_of(job), (std::vector<std::string>{"queued", "placed", "dispatched", "running", "succeeded"}));
    const Json json = job_json(job);
    EXPECT_EQ(json["exit_code"], 0);
    EXPECT_EQ(json["run_s"], 1.5);
    EXPECT_EQ(json["attempt"]["state"], "ended");
    EXPECT_EQ(json["attempt"]["cpus"], Json({0, 1}));
    EXPECT_EQ(json["attempt"]["center"], "alpha");
}

TEST_F(Attempts, TellWhyTheirCenterHasNotStartedThem)
{
    const JobId job = submit();
    route();
    const CenterId center = center_of(job);
    ASSERT_TRUE(run(report(attempts_, center, StartAcknowledged{attempt_of(job)})));
    const auto queue = [&] { return job_json(job)["attempt"]["center_queue"]; };
    EXPECT_TRUE(queue().is_null());
    const auto tell = [&](const CenterId& teller, std::vector<link::QueuedAttempt> attempts) {
        return run(attempts_.note_queues({teller}, {std::move(attempts)}, CatalogNotice::kNow));
    };

    ASSERT_TRUE(tell(center, {{attempt_of(job), "Priority", std::nullopt},
                              {AttemptId::make(), "of nobody", std::nullopt},
                              {attempt_of(job), "Resources", parse_rfc3339("2030-01-02T03:04:05Z").value()}}));
    EXPECT_EQ(queue()["reason"], "Resources") << "what was said last";
    EXPECT_THAT(queue()["expected_start"].get<std::string>(), ::testing::StartsWith("2030-01-02T03:04:05"));
    add_center("beta");
    ASSERT_TRUE(tell(CenterId{center_id("beta")}, {{attempt_of(job), "a lie", std::nullopt}}));
    EXPECT_EQ(queue()["reason"], "Resources") << "another center says nothing of it";

    ASSERT_TRUE(report_start(job));
    EXPECT_TRUE(queue().is_null());
    ASSERT_TRUE(tell(center, {{attempt_of(job), "late", std::nullopt}}));
    EXPECT_TRUE(queue().is_null());
}

TEST_F(Attempts, GoWhereTheCentersOwnQueueIsShort)
{
    add_operators();
    add_measurement(sql("SELECT id FROM unit_type"), 0.01); // alpha's
    add_measurement(add_center("beta"), 0.02);
    reload_catalog();
    const auto tell = [&](const std::string& center, std::optional<std::chrono::seconds> wait) {
        const std::optional<Timestamp> start = wait ? std::optional(clock_.now() + *wait) : std::nullopt;
        ASSERT_TRUE(run(attempts_.note_queues({CenterId{center_id(center)}},
                                              {{}, {{"core", clock_.now()}, {"core", start}, {"of nobody", start}}},
                                              CatalogNotice::kNow)));
        reload_catalog();
    };
    const auto center_of_new_job = [&](Json wanted = Json::object()) {
        wanted["operators"] = {{{"id", "dgemm"}, {"count", 50}}};
        const JobId job = submit(spec(std::move(wanted)));
        route();
        return sql("SELECT c.name FROM attempt a JOIN center c ON c.id = a.center_id WHERE a.job_id = '" + job.value +
                   "'");
    };
    EXPECT_EQ(center_of_new_job(), "alpha") << "which is faster";

    tell("alpha", std::chrono::hours(1));
    EXPECT_EQ(center_of_new_job(), "beta") << "other people's jobs hold alpha";
    EXPECT_EQ(sql("SELECT max(free_s) < 1 FROM prediction"), "t");
    EXPECT_EQ(center_of_new_job({{"units", {{"center", "alpha"}}}}), "alpha");
    EXPECT_EQ(sql("SELECT max(free_s) BETWEEN 3500 AND 3600 FROM prediction"), "t")
        << "a start after the queue is as expected: what starts take beyond that is not learned from it";

    tell("alpha", std::nullopt);
    EXPECT_EQ(sql("SELECT count(*) FROM unit_type_queue WHERE expected_start IS NULL"), "1");
}

TEST_F(Attempts, ManyReportsAtOnceAreTakenInTheirOrder)
{
    const JobId short_job = job_in("sent");
    const CenterId center = center_of(short_job);
    const AttemptId attempt = attempt_of(short_job);
    link::AttemptStarted started{attempt, clock_.now(), {0}, {0}, ""};
    link::AttemptEnded ended{exited(0)};
    ended.end.attempt_id = attempt;
    ended.end.started_at = ended.end.ended_at = clock_.now();
    link::AttemptEnded unknown = ended;
    unknown.end.attempt_id = AttemptId::make();
    link::AttemptStarted malformed = started;
    malformed.able_unit_types = {std::string("a\0b", 3)};

    const std::vector<Result<void>> taken =
        run(attempts_.take_reports(center, {StartAcknowledged{attempt}, malformed, started, unknown, ended, ended}));

    std::vector<bool> is_taken;
    for (const Result<void>& one : taken)
        is_taken.push_back(one.has_value());
    EXPECT_THAT(is_taken, ::testing::ElementsAre(true, false, true, false, true, true));
    EXPECT_EQ(taken[1].error().code, Errc::kInvalid);
    EXPECT_EQ(taken[3].error().code, Errc::kNotFound);
    EXPECT_EQ(sql("SELECT string_agg(state, ' ' ORDER BY id) FROM job_event WHERE job_id = '" + short_job.value + "'"),
              "queued placed dispatched running succeeded");
}

TEST_F(Attempts, LeaveTheSameRowsWhetherTheirReportsComeAloneOrTogether)
{
    const auto reports_of = [this](const JobId& job) {
        sql("UPDATE attempt SET dispatched_at = now() - interval '1 minute' WHERE job_id = '" + job.value + "'");
        const Timestamp began = clock_.now();
        link::AttemptEnded ended{exited(3)};
        ended.end.attempt_id = attempt_of(job);
        ended.end.started_at = began;
        ended.end.ended_at = began;
        return std::vector<AttemptReport>{StartAcknowledged{attempt_of(job)},
                                          link::AttemptStarted{attempt_of(job), began, {1}, {0}, ""}, ended};
    };
    const auto rows_of = [this](const JobId& job) {
        return sql("SELECT concat_ws(' ', j.state, j.exit_code, j.end_reason, j.run_s, j.started_at = a.started_at, "
                   "j.ended_at = a.ended_at, a.state, a.outcome, a.cpus, a.units, a.run_s, a.dispatched_at < now()) "
                   "FROM job j JOIN attempt a ON a.job_id = j.id WHERE j.id = '" +
                   job.value + "'") +
               " " +
               sql("SELECT string_agg(concat_ws(' ', state, cause), ', ' ORDER BY id) FROM job_event WHERE job_id = '" +
                   job.value + "'");
    };
    const JobId alone = job_in("sent");
    for (AttemptReport& one : reports_of(alone))
        ASSERT_TRUE(run(report(attempts_, center_of(alone), std::move(one))));
    const JobId together = job_in("sent");

    for (const Result<void>& taken : run(attempts_.take_reports(center_of(together), reports_of(together))))
        ASSERT_TRUE(taken) << describe(taken.error());

    EXPECT_EQ(rows_of(together), rows_of(alone));
    EXPECT_THAT(rows_of(together), ::testing::StartsWith("failed 3 "));
}

TEST_F(Attempts, AReportThatCannotBeStoredTakesNoOtherWithIt)
{
    const JobId bad = job_in("running");
    const CenterId center = center_of(bad);
    link::AttemptEnded unstorable{exited(0)};
    unstorable.end.attempt_id = attempt_of(bad);
    unstorable.end.detail = std::string("\xff\xfe not UTF-8");
    unstorable.end.started_at = unstorable.end.ended_at = clock_.now();
    const JobId good = job_in("sent");

    const std::vector<Result<void>> taken =
        run(attempts_.take_reports(center_of(good), {StartAcknowledged{attempt_of(good)}, unstorable}));

    EXPECT_TRUE(taken[0]);
    EXPECT_TRUE(taken[1]) << describe(taken[1].error());
    EXPECT_EQ(state_of(good), "dispatched");
    EXPECT_EQ(state_of(bad), "succeeded");
    EXPECT_EQ(center_of(good), center) << "one center's session reports both";
}

TEST_F(Attempts, CostNoMoreThanTheTimeSinceTheirOrderWasSent)
{
    const JobId job = job_in("running");
    sql("UPDATE attempt SET dispatched_at = now() - interval '10 seconds'");
    link::AttemptEnded said{exited(0)};
    said.end.attempt_id = attempt_of(job);
    said.end.ended_at = clock_.now();
    said.end.run_s = 86'400;

    ASSERT_TRUE(run(report(attempts_, center_of(job), said)));

    const double kept = job_json(job)["run_s"];
    EXPECT_GE(kept, 10);
    EXPECT_LT(kept, 60) << "by our own clock";
    EXPECT_EQ(
        sql("SELECT a.run_s < 60 AND p.actual_run_s < 60 FROM attempt a JOIN prediction p ON p.attempt_id = a.id"),
        "t");
}

TEST_F(Attempts, TakeTheTimeThatTheirCenterSaysWhenOurClockHasGoneBack)
{
    const JobId job = job_in("running");
    sql("UPDATE attempt SET created_at = now() + interval '1 hour', dispatched_at = now() + interval '1 hour'");
    link::AttemptEnded said{exited(0)};
    said.end.attempt_id = attempt_of(job);
    said.end.ended_at = clock_.now();
    said.end.run_s = 40;

    ASSERT_TRUE(run(report(attempts_, center_of(job), said)));

    EXPECT_EQ(job_json(job)["run_s"], 40);
}

TEST_F(Attempts, BeginAndEndByOurClockWhateverTheirCentersSays)
{
    for (const char* said : {"9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"}) {
        const Timestamp wrong = parse_rfc3339(said).value();
        const auto is_ours = [this](const JobId& job, const std::string& column) {
            return sql("SELECT " + column + " BETWEEN now() - interval '1 hour' AND now() FROM job WHERE id = '" +
                       job.value + "'");
        };
        const JobId job = job_in("sent");
        link::AttemptEnded ended{exited(0)};
        ended.end.attempt_id = attempt_of(job);
        ended.end.started_at = ended.end.ended_at = wrong;

        ASSERT_TRUE(run(report(attempts_, center_of(job), StartAcknowledged{attempt_of(job)})));
        ASSERT_TRUE(run(report(attempts_, center_of(job), link::AttemptStarted{attempt_of(job), wrong, {0}, {0}, ""})));
        EXPECT_EQ(is_ours(job, "started_at"), "t") << said;
        ASSERT_TRUE(run(report(attempts_, center_of(job), ended)));

        EXPECT_EQ(is_ours(job, "started_at"), "t") << said;
        EXPECT_EQ(is_ours(job, "ended_at"), "t") << said;
        EXPECT_EQ(sql("SELECT ended_at >= started_at FROM job WHERE id = '" + job.value + "'"), "t") << said;
    }
}

TEST_F(Attempts, WriteNoMoreThanAStreamHoldsAndThanTheirEndSaid)
{
    const JobId job = job_in("running");
    const auto rows = [&] { return sql("SELECT count(*) FROM job_output"); };
    ASSERT_TRUE(write_output(job, 0, "first"));

    EXPECT_TRUE(write_output(job, kMaxOutput_bytes, "beyond"));
    EXPECT_TRUE(write_output(job, std::int64_t{1} << 60, "far beyond"));
    EXPECT_EQ(rows(), "1");
    // The same bytes again and again, cut anew each time.
    for (std::int64_t i = 1; i <= 40; ++i)
        EXPECT_TRUE(write_output(job, 5 + i, std::string(link::kMaxOutputBytes, 'x')));
    EXPECT_LE(std::stoi(rows()), 7);
    const std::string before = rows();
    ASSERT_TRUE(report_end(job, exited(0)));
    EXPECT_TRUE(write_output(job, 4 << 20, "late")) << "so that nobody sends it again";
    EXPECT_EQ(rows(), before);
    const JobId other = job_in("running");
    AttemptEnd end = exited(0);
    end.stdout_bytes = 10;
    ASSERT_TRUE(report_end(other, end));
    EXPECT_TRUE(write_output(other, 0, "its bytes,"));
    EXPECT_TRUE(write_output(other, 10, "and more"));
    EXPECT_EQ(sql("SELECT sum(length(data)) FROM job_output WHERE attempt_id = '" + attempt_of(other).value + "'"),
              "10");
}

TEST_F(Attempts, BelongToTheNewestSessionOfTheirCenter)
{
    const JobId job = job_in("running");
    const CenterId center = center_of(job);
    sql("UPDATE center SET session_epoch = 5");
    link::AttemptOutput output;
    output.attempt_id = attempt_of(job);
    output.stream = "stdout";
    output.data = "text";
    link::AttemptEnded ended{exited(0)};
    ended.end.attempt_id = attempt_of(job);
    const auto expect_refused = [&](const Reporter& old) {
        EXPECT_EQ(run(attempts_.attempt_output(old, output)).error().code, Errc::kUnavailable);
        EXPECT_EQ(run(report(attempts_, old, ended)).error().code, Errc::kUnavailable);
        EXPECT_EQ(run(report(attempts_, old, StartAcknowledged{attempt_of(job)})).error().code, Errc::kUnavailable);
        EXPECT_EQ(run(attempts_.reconcile(old, {})).error().code, Errc::kUnavailable) << "else the job would be lost";
        EXPECT_EQ(run(attempts_.pending_orders(old, {}, 1'000'000)).error().code, Errc::kUnavailable);
        EXPECT_EQ(state_of(job), "running");
        EXPECT_EQ(sql("SELECT count(*) FROM job_output"), "0");
    };

    expect_refused({center, 4});
    sql("UPDATE center SET revoked_at = now()");
    expect_refused({center, 5});
    sql("UPDATE center SET revoked_at = NULL");
    EXPECT_TRUE(run(attempts_.attempt_output({center, 5}, output)));
    EXPECT_TRUE(run(report(attempts_, {center, 5}, ended)));
    EXPECT_EQ(state_of(job), "succeeded");
}

TEST_F(Attempts, TakeEachReportOnce)
{
    const JobId job = job_in("running");
    const CenterId center = center_of(job);

    EXPECT_TRUE(run(report(attempts_, center, StartAcknowledged{attempt_of(job)})));
    EXPECT_TRUE(report_start(job));
    EXPECT_TRUE(report_end(job, exited(3)));
    EXPECT_TRUE(report_end(job, exited(0)));
    EXPECT_TRUE(report_start(job));
    EXPECT_TRUE(run(report(attempts_, center, StartAcknowledged{attempt_of(job)})));

    EXPECT_EQ(state_of(job), "failed");
    EXPECT_EQ(job_json(job)["end_reason"], "exit code 3");
    EXPECT_EQ(events_of(job), (std::vector<std::string>{"queued", "placed", "dispatched", "running", "failed"}));
}

TEST_F(Attempts, AreCountedOnceHoweverOftenTheirEndIsWritten)
{
    const JobId job = job_in("running");
    // What sequences gave is not taken back: the first transaction fails at its end, and is run again.
    sql("CREATE SEQUENCE written");
    sql("CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF nextval('written') = 1 THEN RAISE EXCEPTION 'try again' USING ERRCODE = '40001'; END IF; "
        "RETURN NULL; END $$");
    sql("CREATE TRIGGER fail_once AFTER INSERT ON job_event FOR EACH STATEMENT EXECUTE FUNCTION fail_once()");

    ASSERT_TRUE(report_end(job, exited(0)));

    EXPECT_EQ(sql("SELECT last_value FROM written"), "2");
    EXPECT_EQ(state_of(job), "succeeded");
    EXPECT_THAT(metrics_.expose(), testing::HasSubstr("fathom_jobs_ended_total{label=\"job\",state=\"succeeded\"} 1"));
}

TEST_F(Attempts, MayReportTheEndBeforeAnythingElse)
{
    const JobId job = job_in("sent");

    EXPECT_TRUE(report_end(job, exited(0)));

    EXPECT_EQ(state_of(job), "succeeded");
}

TEST_F(Attempts, OfOtherCentersAreRefused)
{
    add_center("beta");
    const JobId job = job_in("dispatched");
    const CenterId other{center_id(center_of(job).value == center_id("alpha") ? "beta" : "alpha")};
    link::AttemptStarted started;
    started.attempt_id = attempt_of(job);
    link::AttemptOutput output{attempt_of(job), "stdout", 0, "x"};
    link::AttemptEnded ended;
    ended.end.attempt_id = attempt_of(job);

    EXPECT_EQ(run(report(attempts_, other, started)).error().code, Errc::kNotFound);
    EXPECT_EQ(run(attempts_.attempt_output(other, output)).error().code, Errc::kNotFound);
    EXPECT_EQ(run(report(attempts_, other, ended)).error().code, Errc::kNotFound);
    EXPECT_EQ(run(report(attempts_, other, StartAcknowledged{attempt_of(job)})).error().code, Errc::kNotFound);
    EXPECT_EQ(state_of(job), "dispatched");
    EXPECT_EQ(sql("SELECT count(*) FROM job_output"), "0");
}

TEST_F(Attempts, FailTheJobWhenTheAgentRefusesThem)
{
    const JobId job = job_in("sent");

    EXPECT_TRUE(run(report(attempts_, center_of(job),
                           StartAcknowledged{attempt_of(job), Error{Errc::kInvalid, "no such unit type"}})));

    EXPECT_EQ(state_of(job), "failed");
    EXPECT_THAT(job_json(job)["end_reason"].get<std::string>(), ::testing::HasSubstr("no such unit type"));
}

TEST_F(Attempts, MoveToTheUnitTypeThatTheCenterChose)
{
    sql("INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit, "
        "memory_bytes_per_unit, operators) SELECT 'ut_2', center_id, 'gpu', 'cuda', 1, 1, 0, '{}' FROM unit_type");
    const JobId job = job_in("dispatched");
    link::AttemptStarted started;
    started.attempt_id = attempt_of(job);
    started.started_at = clock_.now();
    started.unit_type = "gpu";

    EXPECT_TRUE(run(report(attempts_, center_of(job), started)));

    EXPECT_EQ(sql("SELECT unit_type_id FROM attempt"), "ut_2");
}

} // namespace
} // namespace fathom::server
