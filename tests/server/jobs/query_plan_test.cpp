#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {
namespace {

/// PostgreSQL counts the sequential scans of each table. With enable_seqscan off it makes one only where no
/// index serves, so a count above zero names a query that would read the whole table.
class QueryPlans : public JobsFixture {
  protected:
    QueryPlans()
    {
        add_center("alpha", 4);
        add_operators();
        count_sequential_scans();
    }
};

TEST_F(QueryPlans, UseAnIndexOnEveryTableThatGrows)
{
    // Connections that were opened before do not have the setting.
    Database database({.url = url_, .connections = 2}, metrics_);
    CatalogCache catalog(database, io_.executor(), metrics_);
    JobsService jobs({database, io_.executor(), metrics_, catalog, finalizer_, compute_, clock_});
    AttemptsService attempts({database, io_.executor(), metrics_, catalog_, finalizer_, clock_});
    EventsService events(database, io_.executor(), metrics_);
    RoutingService routing(io_.executor(), {database, metrics_, clock_, catalog, unit_loads_, probing_, finalizer_},
                           {.replica = {"rep_1"}});
    JobPeriodicTasks tasks(database, io_.executor(), metrics_, clock_);
    const CenterId center{center_id("alpha")};
    const Principal ann = add_token("ann", Role::kUser);
    ASSERT_TRUE(catalog.load());
    const AdmittedJob one{parse_job_spec(spec()).value(), "app/true", {}};
    const JobId job = run(jobs.submit(one, ann.token_id.value)).value().id;

    for (const JobFilter& filter :
         {JobFilter{}, JobFilter{"all", "", "", {}}, JobFilter{"job", "queued", "", {}}, JobFilter{"job", "", "p", {}},
          JobFilter{"job", "", "", {"tok", {}}}, JobFilter{"probe", "queued", "p", {"tok", {}}},
          JobFilter{"job", "", "", {"tok", {"p", "q"}}}, JobFilter{"job", "", "p", {"tok", {"p", "q"}}}})
        ASSERT_TRUE(run(jobs.list(filter, 10, job.value)));
    JobFilter of_place{.center = "alpha"};
    JobFilter of_name{.center = "alpha", .name_prefix = "a"};
    JobFilter of_time{.job_type = "t", .submitted_by = "tok", .submitted_after = clock_.now()};
    for (const JobFilter& filter : {of_place, of_name, of_time})
        ASSERT_TRUE(run(jobs.list(filter, 10, job.value)));
    for (const char* order : {"submitted", "name", "-name", "-project", "state", "type"}) {
        JobFilter sorted;
        sorted.order = parse_job_order(order).value();
        sorted.scope.owner = "tok";
        ASSERT_TRUE(run(jobs.list(sorted, 10, job.value + " x"))) << order;
    }
    for (const JobGrouping by : {JobGrouping::kState, JobGrouping::kProject, JobGrouping::kType, JobGrouping::kCenter})
        ASSERT_TRUE(run(jobs.count_groups({}, by)));
    ASSERT_TRUE(run(jobs.get(job, JobReader{ann, ""})));
    ASSERT_TRUE(run(routing.run_cycle(RoutingService::Wake::kTick)));
    ASSERT_TRUE(run(routing.run_cycle(RoutingService::Wake::kTick))); // reads what the first one changed
    PlacementService placements(database, catalog, clock_, compute_);
    PlacementService::Question question;
    question.job = job;
    question.asker = {ann, ""};
    ASSERT_TRUE(run(placements.explain(question)));
    ASSERT_TRUE(run(placements.preview(one.spec, JobReader{ann, ""}, std::nullopt, {})));
    ASSERT_EQ(run(attempts.pending_orders(center, {}, 16 << 20)).value().bodies.size(), 1U);
    const AttemptId attempt = attempt_of(job);
    ASSERT_TRUE(run(report(attempts, center, StartAcknowledged{attempt})));
    ASSERT_TRUE(run(report(attempts, center, link::AttemptStarted{attempt, clock_.now(), {}, {}, ""})));
    ASSERT_TRUE(run(attempts.attempt_output(center, {attempt, "stdout", 0, "x"})));
    ASSERT_TRUE(run(attempts.reconcile(center, {{attempt, "running"}})));
    LogRequest log{.job = job, .stream = "stdout"};
    run(stream_log(database, log, std::make_shared<FakeWriter>()));
    ASSERT_TRUE(run(events.list(EventFilter{{}, job.value}, 10, 0, JobReader{ann, ""})));
    auto read_events = [](pqxx::work& transaction) -> Result<std::int64_t> {
        select_job_events(transaction, 0, 10, EventFilter{});
        return select_safe_start(transaction);
    };
    ASSERT_TRUE(run(database.run(read_events)));
    ASSERT_TRUE(run(tasks.follow_centers()));
    auto count = [](pqxx::work& transaction) -> Result<std::int64_t> {
        return static_cast<std::int64_t>(count_open_jobs(transaction).size());
    };
    ASSERT_TRUE(run(database.run(count)));
    const JobsService::VersionCheck any = [](std::int64_t) { return true; };
    ASSERT_TRUE(run(jobs.cancel(job, JobReader{ann, ""}, any)));
    AttemptEnd end;
    end.attempt_id = attempt;
    end.ended_at = clock_.now();
    ASSERT_TRUE(run(report(attempts, center, link::AttemptEnded{end})));

    sql("UPDATE center SET host_id = 'one'");
    JobsProbeJobWriter writer;
    const JobId probe = JobId::make();
    JobSpec of_alpha = one.spec;
    of_alpha.units.center = "alpha";
    auto insert_probe = [&](pqxx::work& transaction) {
        return writer.insert_probe_job(transaction, probe, of_alpha, "x");
    };
    ASSERT_TRUE(run(database.run(insert_probe)));
    ASSERT_TRUE(run(routing.run_cycle(RoutingService::Wake::kTick)));
    ASSERT_EQ(run(attempts.pending_orders(center, {}, 16 << 20)).value().bodies.size(), 1U);
    end.attempt_id = attempt_of(probe);
    ASSERT_TRUE(run(report(attempts, center, link::AttemptEnded{end})));
    database.stop(); // its connections report their counts when they close

    EXPECT_TRUE(test::eventually([&] {
        return sql("SELECT idx_scan > 0 FROM pg_stat_user_tables WHERE relname = 'job_output'") == "t";
    })) << "the counts did not arrive";
    EXPECT_EQ(sql("SELECT string_agg(relname, ',') FROM pg_stat_user_tables WHERE seq_scan > 0 AND (relname IN "
                  "('job', 'attempt', 'job_output', 'placement', 'prediction') OR relname ~ "
                  "'^job_event_(2|other)')"),
              "");
}

} // namespace
} // namespace fathom::server
