#include "tests/server/jobs/jobs_fixture.hpp"

#include <random>
#include <regex>
#include <thread>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Routing : public JobsFixture {
  protected:
    static Json dgemm_job(Json more = Json::object())
    {
        Json json = spec({{"operators", {{{"id", "dgemm"}, {"count", 100}}}}});
        json.update(more);
        return json;
    }
    std::string reason_of(const JobId& job)
    {
        return sql("SELECT waiting_reason FROM job WHERE id='" + job.value + "'");
    }
    Json placement_of(const JobId& job)
    {
        return Json::parse(call(net::Method::kGet, "/jobs/" + job.value + "/placement").body);
    }
    void end(const JobId& job, double run_s = 1)
    {
        AttemptEnd ended;
        ended.outcome = AttemptOutcome::kExited;
        ended.exit_code = 0;
        ended.started_at = clock_.now();
        ended.run_s = run_s;
        ASSERT_TRUE(report_end(job, ended));
    }
    std::string center_name_of(const JobId& job)
    {
        return sql("SELECT name FROM center WHERE id = '" + center_of(job).value + "'");
    }
};

TEST_F(Routing, PlacesByWhatWasMeasured)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.02);
    add_measurement(add_center("beta"), 0.01);

    const JobId job = submit(dgemm_job());
    route();

    EXPECT_EQ(center_name_of(job), "beta");
    const Json placement = placement_of(job);
    EXPECT_EQ(placement["decision"]["candidates"][0]["center"], "beta");
    EXPECT_NEAR(placement["decision"]["candidates"][0]["prediction"]["run_s"].get<double>(), 1.1, 1e-6);
    EXPECT_EQ(placement["actual"], nullptr);
    end(job, 2.2);
    EXPECT_NEAR(placement_of(job)["actual"]["ratio"].get<double>(), 2, 1e-6);
    const Json shown = Json::parse(call(net::Method::kGet, "/jobs/" + job.value).body);
    EXPECT_NEAR(shown["predicted"]["run_s"].get<double>(), 1.1, 1e-6);
}

TEST_F(Routing, SaysWhatAJobWaitsForAndPlacesItThen)
{
    add_center("alpha", 1);
    const JobId first = submit();
    const JobId second = submit();

    route();

    EXPECT_EQ(state_of(first), "placed");
    EXPECT_EQ(state_of(second), "queued");
    EXPECT_THAT(reason_of(second), ::testing::StartsWith("waits for a unit of alpha/core, free in about "));
    const Json placement = placement_of(second);
    EXPECT_EQ(placement["attempt_id"], nullptr);
    EXPECT_EQ(placement["decision"]["can_start_now"], false);
    end(first);
    route();
    EXPECT_EQ(state_of(second), "placed");
    EXPECT_EQ(reason_of(second), "");
}

TEST_F(Routing, WhatWaitsInABatchSystemEndsAfterTheStartThatIsPlannedThere)
{
    add_operators();
    add_measurement(add_center("alpha", 1), 0.01);
    const JobId first = submit(dgemm_job());
    route();
    ASSERT_TRUE(run(report(attempts_, center_of(first), StartAcknowledged{attempt_of(first)})));
    const Timestamp start = clock_.now() + std::chrono::minutes(150);
    ASSERT_TRUE(run(attempts_.note_queues({center_of(first)}, {{{attempt_of(first), "Priority", start}}, {}},
                                          CatalogNotice::kNow)));

    const JobId second = submit(dgemm_job());
    route();

    EXPECT_EQ(reason_of(second), "waits for a unit of alpha/core, free in about 3 h");
}

TEST_F(Routing, KeepsTheOrderOfSubmission)
{
    add_center("alpha", 1);
    std::vector<JobId> jobs;
    for (int i = 0; i < 4; ++i)
        jobs.push_back(submit());

    for (const JobId& job : jobs) {
        route();
        EXPECT_EQ(state_of(job), "placed");
        end(job);
    }
}

TEST_F(Routing, CountsThePlansOfEarlierJobsAsBusy)
{
    add_operators();
    add_measurement(add_center("alpha", 1), 0.011);
    add_measurement(add_center("beta", 1), 0.01);

    const JobId first = submit(dgemm_job());
    const JobId second = submit(dgemm_job());
    route();

    EXPECT_EQ(center_name_of(first), "beta");
    EXPECT_EQ(center_name_of(second), "alpha");
}

TEST_F(Routing, DoesNotLetAWaitingPlaceBlockJobsForOthers)
{
    add_center("alpha", 1);
    add_center("beta", 1);
    const Json at_alpha = spec({{"units", {{"center", "alpha"}}}});
    for (int i = 0; i < 300; ++i) // more than one page
        submit(at_alpha);
    const JobId last = submit(spec({{"units", {{"center", "beta"}}}}));

    route();

    EXPECT_EQ(state_of(last), "placed");
}

TEST_F(Routing, ReachesJobsBehindThousandsThatWait)
{
    add_center("alpha", 1);
    add_center("beta", 1);
    submit(spec({{"units", {{"center", "alpha"}}}}));
    route(); // alpha is taken
    sql("INSERT INTO job (id, name, project, spec, submitted_by, waiting_reason) "
        "SELECT 'job_00000000000000000000' || lpad(n::text, 6, '0'), 'x', 'd', "
        "'{\"operators\": [], \"units\": {\"center\": \"alpha\"}, \"metering_wait_s\": 1}', 'x', 'waits' "
        "FROM generate_series(1, 9000) n");
    const JobId last = submit(spec({{"units", {{"center", "beta"}}}}));

    for (int pass = 0; pass < 4; ++pass)
        run(routing_.run_pass(RoutingService::Pass::kWoken)).value();

    EXPECT_EQ(state_of(last), "placed");
}

TEST_F(Routing, MetersManyJobsOfATypeWithOneRequest)
{
    add_operators();
    add_center("alpha");
    for (int i = 0; i < 20; ++i)
        submit(dgemm_job());

    route();
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'metering'"), "20");
    EXPECT_EQ(probing_.requested.size(), 1U);
    probing_.pending = false;
    route();

    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'placed'"), "2");
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'queued' AND metered"), "18");
}

TEST_F(Routing, WaitsForAClosedCenter)
{
    add_center("alpha");
    const JobId job = submit();
    sql("UPDATE center SET state = 'suspect'");
    reload_catalog();

    route();
    EXPECT_THAT(reason_of(job), ::testing::HasSubstr("alpha/core: the center is silent"));
    sql("UPDATE center SET state = 'online'");
    reload_catalog();
    route();

    EXPECT_EQ(state_of(job), "placed");
}

TEST_F(Routing, ChecksAgainWhenItsSnapshotIsOld)
{
    const std::string unit_type = add_center("alpha", 4);
    for (int i = 0; i < 4; ++i)
        submit();
    sql("UPDATE unit_type SET unit_count = 1");

    run(routing_.run_pass(RoutingService::Pass::kTick)).value();

    EXPECT_EQ(sql("SELECT count(*) FROM attempt WHERE unit_type_id = '" + unit_type + "'"), "1");
}

TEST_F(Routing, StepsOverAJobThatCannotBeRead)
{
    add_center("alpha");
    const JobId broken = submit();
    const JobId good = submit();
    sql("UPDATE job SET spec = '{\"units\": 7}' WHERE id = '" + broken.value + "'");

    route();

    EXPECT_EQ(state_of(broken), "queued");
    EXPECT_EQ(state_of(good), "placed");
}

TEST_F(Routing, NeverOversellsWithTwoRouters)
{
    const std::string alpha = add_center("alpha", 5);
    const std::string beta = add_center("beta", 3);
    RoutingService other(database_, io_.executor(), metrics_, clock_, catalog_, unit_loads_, probing_, finalizer_,
                         {.replica = ReplicaId::make()});
    std::mt19937 random(7);
    std::vector<JobId> jobs;
    for (int i = 0; i < 120; ++i) {
        const std::int64_t count = std::uniform_int_distribution<std::int64_t>(1, 3)(random);
        jobs.push_back(submit(spec({{"units", {{"count", count}}}})));
    }
    const auto sold = [&](const std::string& id) {
        return sql("SELECT coalesce(sum(unit_count), 0) FROM attempt WHERE state <> 'ended' AND unit_type_id = '" + id +
                   "'");
    };

    for (int round = 0; round < 200 && sql("SELECT count(*) FROM job WHERE state = 'queued'") != "0"; ++round) {
        auto one = io_.spawn(routing_.run_pass(RoutingService::Pass::kWoken));
        auto two = io_.spawn(other.run_pass(RoutingService::Pass::kWoken));
        ASSERT_TRUE(test::TestIo::get(std::move(one)));
        ASSERT_TRUE(test::TestIo::get(std::move(two)));
        ASSERT_LE(std::stoi(sold(alpha)), 5);
        ASSERT_LE(std::stoi(sold(beta)), 3);
        sql("WITH gone AS (UPDATE attempt SET state = 'ended', outcome = 'exited' WHERE state <> 'ended' "
            "AND random() < 0.7 RETURNING job_id) UPDATE job SET state = 'succeeded' FROM gone WHERE id = job_id");
    }

    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'queued'"), "0");
    EXPECT_EQ(sql("SELECT count(*) FROM attempt"), "120") << "each job was placed once";
}

TEST_F(Routing, PredictsFromSeveralResultsTogetherUntilOneTellsOfAChange)
{
    add_operators();
    const std::string alpha = add_center("alpha");
    const auto known = [&] {
        const CatalogPointer catalog = catalog_.get();
        const std::span<const MeasuredOperator> measured = catalog->find_unit_type(alpha)->measured;
        return measured.size() == 1 ? measured.front() : MeasuredOperator();
    };
    add_measurement(alpha, 0.0101, "now() - interval '3 hours'");
    EXPECT_EQ(known().ci_high_s, 0.0101);

    // 2 % apart, which chance may be: the mean of both, with their spread, though each by itself has none.
    add_measurement(alpha, 0.0099, "now() - interval '2 hours'");
    EXPECT_NEAR(known().median_s, 0.0099995, 1e-8);
    EXPECT_LT(known().ci_low_s, 0.0099);
    EXPECT_GT(known().ci_high_s, 0.0101);

    // Twice as slow is no chance.
    add_measurement(alpha, 0.02, "now() - interval '1 hour'");
    EXPECT_EQ(known().median_s, 0.02);
}

TEST_F(Routing, MetersAJobOfATypeNeverMeasured)
{
    add_operators();
    const std::string alpha = add_center("alpha");
    const std::string beta = add_center("beta");
    add_measurement(alpha, 0.01);

    const JobId job = submit(dgemm_job());
    route();

    EXPECT_EQ(state_of(job), "metering");
    EXPECT_EQ(probing_.requested, std::vector<std::string>{beta});
    route();
    EXPECT_EQ(state_of(job), "metering") << "its probes have not ended";
    EXPECT_EQ(probing_.requested.size(), 1U) << "they are asked for once";

    // As the probe's end would do it; the snapshot is not read again by us.
    add_measurement(beta, 0.001);
    probing_.pending = false;
    route();
    EXPECT_EQ(state_of(job), "placed");
    EXPECT_EQ(center_name_of(job), "beta");
    EXPECT_EQ(events_of(job), (std::vector<std::string>{"queued", "metering", "queued", "placed"}));
}

TEST_F(Routing, AwaitsNoProbesWhereTheJobMayNotRun)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01);
    add_center("beta");
    sql("INSERT INTO project (name, centers, changed_by) VALUES ('near', '{alpha}', 'x')");
    reload_catalog();

    const JobId of_site = submit(dgemm_job({{"data", {{"sites", {"alpha"}}}}}));
    const JobId of_project = submit(dgemm_job({{"project", "near"}}));
    route();

    EXPECT_TRUE(probing_.requested.empty());
    for (const JobId& job : {of_site, of_project}) {
        EXPECT_EQ(center_name_of(job), "alpha");
        EXPECT_EQ(placement_of(job)["decision"]["assumptions"].dump().find("beta"), std::string::npos);
    }
}

TEST_F(Routing, JobsGoWhereTheyMayRunAsLongAsTheirLimit)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01);
    add_measurement(add_center("beta"), 0.02);
    sql("UPDATE unit_type SET facts = facts || '{\"max_wall_s\": 300}' WHERE center_id = '" + center_id("alpha") + "'");
    reload_catalog();
    const JobId longer = submit(dgemm_job({{"wall_limit_s", 301}}));
    const JobId shorter = submit(dgemm_job({{"wall_limit_s", 300}}));
    route();

    EXPECT_EQ(center_name_of(longer), "beta");
    EXPECT_EQ(center_name_of(shorter), "alpha");
}

TEST_F(Routing, AwaitsNoProbesBehindALongerQueueOfTheCenter)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01);
    const std::string beta = add_center("beta");
    const std::string gamma = add_center("gamma");
    const auto queue_before_beta = [&](std::chrono::seconds wait) {
        ASSERT_TRUE(run(attempts_.note_queues({CenterId{center_id("beta")}}, {{}, {{"core", clock_.now() + wait}}},
                                              CatalogNotice::kNow)));
        reload_catalog();
    };
    queue_before_beta(std::chrono::hours(1));
    const JobId job = submit(dgemm_job({{"metering_wait_s", 120}}));
    route();
    EXPECT_EQ(state_of(job), "metering");
    EXPECT_EQ(probing_.requested, std::vector<std::string>{gamma});

    add_measurement(gamma, 0.02);
    probing_.pending = false;
    route();
    EXPECT_EQ(center_name_of(job), "alpha");
    const JobId next = submit(dgemm_job({{"metering_wait_s", 120}}));
    route();
    EXPECT_EQ(center_name_of(next), "alpha") << "placed at once: nothing can be measured in time";
    EXPECT_THAT(placement_of(next)["decision"]["assumptions"].dump(), ::testing::HasSubstr("on beta/core"));

    queue_before_beta(std::chrono::seconds(30));
    const JobId last = submit(dgemm_job({{"metering_wait_s", 120}}));
    route();
    EXPECT_EQ(state_of(last), "metering");
    EXPECT_EQ(probing_.requested.back(), beta);
}

TEST_F(Routing, PlacesOnWhatIsKnownWhenTheWaitIsOver)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01);
    add_center("beta");
    const JobId job = submit(dgemm_job({{"metering_wait_s", 1}}));
    route();
    ASSERT_EQ(state_of(job), "metering");

    sql("UPDATE job SET metering_until = now() - interval '1 second'");
    route();

    EXPECT_EQ(state_of(job), "placed");
    EXPECT_EQ(center_name_of(job), "alpha");
    const std::string assumptions = placement_of(job)["decision"]["assumptions"].dump();
    EXPECT_THAT(assumptions, ::testing::HasSubstr("no fresh measurement of all its operators on beta/core"));
    EXPECT_THAT(sql("SELECT cause FROM job_event WHERE state = 'queued' ORDER BY id DESC LIMIT 1"),
                ::testing::HasSubstr("its wait of 1 s for probes is over"));
}

TEST_F(Routing, MetersAgainAfterTheMeteringPeriod)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01, "now() - interval '8 days'");

    const JobId job = submit(dgemm_job());
    route();

    EXPECT_EQ(state_of(job), "metering");
}

TEST_F(Routing, DoesNotWaitForProbesWhenTheJobDoesNotWantTo)
{
    add_operators();
    add_center("alpha");

    const JobId job = submit(dgemm_job({{"metering_wait_s", 0}}));
    route();

    EXPECT_EQ(state_of(job), "placed");
    EXPECT_TRUE(probing_.requested.empty());
}

TEST_F(Routing, PreviewsWithoutMovingAnything)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01);

    const net::Response response = call(net::Method::kPost, "/placements:preview", dgemm_job().dump());
    const net::Response unknown =
        call(net::Method::kPost, "/placements:preview", R"({"command": ["x"], "operators": [{"id": "nope"}]})");

    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(Json::parse(response.body)["decision"]["candidates"][0]["center"], "alpha");
    EXPECT_EQ(unknown.status, 400);
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE label = 'job'"), "0");
}

TEST_F(Routing, RunsByItselfOnWakeUps)
{
    catalog_.subscribe(notifier_);
    routing_.subscribe(notifier_);
    notifier_.start();
    catalog_.start(tasks_);
    routing_.start(tasks_);
    add_center("alpha", 50);

    std::vector<JobId> jobs;
    for (int i = 0; i < 20; ++i)
        jobs.push_back(submit());

    EXPECT_TRUE(test::eventually([&] { return sql("SELECT count(*) FROM job WHERE state = 'placed'") == "20"; }));
}

TEST_F(Routing, NewJobsDoNotWakeItWhileNoUnitIsFree)
{
    add_center("alpha", 1);
    const JobId first = submit();
    routing_.subscribe(notifier_);
    notifier_.start();
    routing_.start(tasks_);
    ASSERT_TRUE(test::eventually([&] { return state_of(first) == "placed"; }));
    const auto passes = [this] {
        std::smatch found;
        const std::string text = metrics_.expose();
        return std::regex_search(text, found, std::regex("fathom_routing_pass_seconds_count (\\d+)"))
                   ? std::stol(found[1])
                   : 0;
    };
    std::this_thread::sleep_for(100ms); // what the placing has woken

    const long before = passes();
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) {
        submit();
        std::this_thread::sleep_for(10ms);
    }
    const auto ticks = (std::chrono::steady_clock::now() - began) / 2s + 1;

    EXPECT_LE(passes() - before, ticks);
    sql("UPDATE attempt SET state = 'ended', outcome = 'exited'; UPDATE job SET state = 'succeeded' WHERE id = '" +
        first.value + "'; SELECT pg_notify('fathom', 'route ')");
    EXPECT_TRUE(test::eventually([&] { return sql("SELECT count(*) FROM job WHERE state = 'placed'") == "1"; }));
}

TEST_F(Routing, OneJobThatCannotBeReadKeepsNoOtherWaiting)
{
    add_center("alpha", 4);
    const JobId bad = submit();
    sql("UPDATE job SET spec = spec || '{\"deadline\": \"10000-01-01T23:58:59Z\"}' WHERE id = '" + bad.value + "'");
    const JobId good = submit();
    std::vector<JobId> gang;
    for (int i = 0; i < 2; ++i)
        gang.push_back(submit(spec({{"gang", {{"id", "pair"}, {"size", 2}}}})));

    route();

    EXPECT_EQ(state_of(good), "placed");
    for (const JobId& member : gang)
        EXPECT_EQ(state_of(member), "placed");
    EXPECT_EQ(state_of(bad), "queued");
    EXPECT_THAT(reason_of(bad), HasSubstr("cannot be routed: invalid: its specification cannot be read; deadline"));
}

TEST_F(Routing, TimesBeyondTheYear9999AreRefused)
{
    const net::Response answer =
        call(net::Method::kPost, "/jobs", spec({{"deadline", "9999-12-31T23:59:59-23:59"}}).dump());

    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("deadline"));
}

} // namespace
} // namespace fathom::server
