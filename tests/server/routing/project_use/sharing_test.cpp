#include "server/routing/project_use/project_use_api.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using testing::HasSubstr;

class Sharing : public JobsFixture {
  protected:
    Sharing() { add_project_use_routes(api_, project_uses_, clock_); }

    net::Response set(const std::string& project, const Json& settings, const std::string& user = "admin")
    {
        const net::Response response = call(net::Method::kPut, "/projects/" + project, settings.dump(), {}, user);
        if (response.status == 200) reload_catalog();
        return response;
    }
    Json use_of(const std::string& project)
    {
        const net::Response response = call(net::Method::kGet, "/projects/" + project + "/use");
        EXPECT_EQ(response.status, 200) << response.body;
        return Json::parse(response.body);
    }
    JobId submit_for(const std::string& project, Json more = Json::object())
    {
        more["project"] = project;
        return submit(spec(more));
    }
    static Json dgemm(std::int64_t count) { return {{"operators", {{{"id", "dgemm"}, {"count", count}}}}}; }
    std::string reason_of(const JobId& job)
    {
        return sql("SELECT waiting_reason FROM job WHERE id='" + job.value + "'");
    }
    std::string count(const std::string& what) { return sql("SELECT count(*) FROM " + what); }
    void end(const JobId& job, double run_s = 1)
    {
        AttemptEnd ended;
        ended.outcome = AttemptOutcome::kExited;
        ended.exit_code = 0;
        ended.started_at = clock_.now();
        ended.run_s = run_s;
        ASSERT_TRUE(report_end(job, ended));
    }
    void count_ended()
    {
        auto work = [this](pqxx::work& transaction) { return project_uses_.count_ended(transaction); };
        ASSERT_TRUE(run(database_.run(std::move(work))));
    }

    ProjectUseService project_uses_{database_, catalog_};
};

TEST_F(Sharing, SettingsThatAreLeftOutStay)
{
    add_center("alpha");
    set("p", {{"share", 3}, {"max_units", 8}, {"max_cost", "12.50"}, {"centers", {"alpha"}}});

    const net::Response response = set("p", {{"profile_jobs", true}});

    ASSERT_EQ(response.status, 200) << response.body;
    const Json project = Json::parse(response.body);
    EXPECT_EQ(project["share"], 3);
    EXPECT_EQ(project["max_units"], 8);
    EXPECT_EQ(project["max_score_hours"], 0);
    EXPECT_EQ(project["max_cost"], "12.5");
    EXPECT_EQ(project["centers"], Json({"alpha"}));
    EXPECT_EQ(project["profile_jobs"], true);
    EXPECT_EQ(count("audit_log WHERE action = 'project.change' AND (detail ->> 'share')::float = 3"), "2");
}

TEST_F(Sharing, SettingsAreTakenByTheNamesOfTheVersionBefore)
{
    const net::Response response = set("p", {{"most_units", 9}, {"most_score_hours", 0.5}, {"most_cost", "1.25"}});

    ASSERT_EQ(response.status, 200) << response.body;
    const Json project = Json::parse(response.body);
    EXPECT_EQ(project["max_units"], 9);
    EXPECT_EQ(project["max_score_hours"], 0.5);
    EXPECT_EQ(project["max_cost"], "1.25");
}

TEST_F(Sharing, SaysEverythingThatIsWrong)
{
    add_center("alpha");
    add_token("eve", Role::kExpert);

    const net::Response bad =
        set("p", {{"share", 0}, {"max_units", -1}, {"max_cost", 5}, {"centers", {"alpha", "alpha"}}, {"x", 1}});
    const net::Response unknown = set("p", {{"centers", {"alpha", "gamma"}}});

    EXPECT_EQ(bad.status, 400);
    for (const char* field : {"\"share\"", "\"max_units\"", "\"max_cost\"", "\"centers\"", "\"x\""})
        EXPECT_THAT(bad.body, HasSubstr(field));
    EXPECT_EQ(unknown.status, 400);
    EXPECT_THAT(unknown.body, HasSubstr("no center is named gamma; there are alpha"));
    EXPECT_EQ(set("p", Json::object()).status, 400);
    EXPECT_EQ(set("p", {{"share", 2}}, "eve").status, 403) << "an expert decides on profiling only";
    EXPECT_EQ(set("p", {{"profile_jobs", true}}, "eve").status, 200);
}

TEST_F(Sharing, AProjectHoldsNoMoreUnitsThanItMay)
{
    add_center("alpha", 10);
    set("p", {{"max_units", 3}});
    std::vector<JobId> jobs;
    for (int i = 0; i < 5; ++i)
        jobs.push_back(submit_for("p"));
    const JobId other = submit_for("q");

    route();

    EXPECT_EQ(count("attempt a JOIN job j ON j.id = a.job_id WHERE j.project = 'p'"), "3");
    EXPECT_EQ(state_of(other), "placed");
    EXPECT_THAT(reason_of(jobs[3]), HasSubstr("its project holds 3 of the 3 units that it may hold at once"));
    end(jobs[0]);
    route();
    EXPECT_EQ(state_of(jobs[3]), "placed");
    EXPECT_EQ(state_of(jobs[4]), "queued");
}

TEST_F(Sharing, TwoRoutersKeepAQuotaTogether)
{
    add_center("alpha", 50);
    set("p", {{"max_units", 3}});
    RoutingService other(io_.executor(), {database_, metrics_, clock_, catalog_, unit_loads_, probing_, finalizer_},
                         {.replica = ReplicaId::make()});
    for (int i = 0; i < 40; ++i)
        submit_for("p");

    for (int round = 0; round < 40 && count("job WHERE state = 'queued'") != "0"; ++round) {
        auto one = io_.spawn(routing_.run_cycle(RoutingService::Wake::kWoken));
        auto two = io_.spawn(other.run_cycle(RoutingService::Wake::kWoken));
        ASSERT_TRUE(test::TestIo::get(std::move(one)));
        ASSERT_TRUE(test::TestIo::get(std::move(two)));
        ASSERT_LE(std::stoi(count("attempt WHERE state <> 'ended'")), 3);
        sql("WITH gone AS (UPDATE attempt SET state = 'ended', outcome = 'exited', ended_at = now(), run_s = 1 "
            "WHERE state <> 'ended' RETURNING job_id) UPDATE job SET state = 'succeeded' FROM gone WHERE id = job_id");
    }

    EXPECT_EQ(count("job WHERE state = 'queued'"), "0");
    EXPECT_EQ(count("attempt"), "40");
}

TEST_F(Sharing, AMonthHasSoManyScoreHours)
{
    add_operators();
    add_measurement(add_center("alpha", 4), 0.36);
    // Each job takes 100 x 0.36 s and a start of 0.1 s: a hundredth of an hour on a unit that counts 1000.
    set("p", {{"max_score_hours", 0.016}});
    const JobId first = submit_for("p", dgemm(100));
    const JobId second = submit_for("p", dgemm(100));

    route();

    EXPECT_EQ(state_of(first), "placed");
    EXPECT_THAT(reason_of(second), HasSubstr("its project has taken 0.01 of its 0.02"));
    end(first, 18); // half of what was predicted: there is room again
    route();
    EXPECT_EQ(state_of(second), "placed");
}

TEST_F(Sharing, UnitsAreSharedByTheSharesOfProjects)
{
    add_center("alpha", 4);
    set("a", {{"share", 3}});
    set("b", {{"share", 1}});
    for (int i = 0; i < 80; ++i)
        submit_for("b"); // all of them before the first of the other
    for (int i = 0; i < 80; ++i)
        submit_for("a");

    for (int round = 0; round < 20; ++round) {
        route();
        sql("WITH gone AS (UPDATE attempt SET state = 'ended', outcome = 'exited', ended_at = now(), run_s = 5 "
            "WHERE state <> 'ended' RETURNING job_id) UPDATE job SET state = 'succeeded' FROM gone WHERE id = job_id");
    }

    const int started_a = std::stoi(count("attempt a JOIN job j ON j.id = a.job_id WHERE project = 'a'"));
    EXPECT_EQ(count("attempt"), "80");
    EXPECT_NEAR(started_a, 60, 4);
}

TEST_F(Sharing, JobsRunAtTheCentersOfTheirProjectOnly)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01);
    add_measurement(add_center("beta"), 0.02);
    set("p", {{"centers", {"beta"}}});

    const JobId job = submit_for("p", dgemm(100));
    route();

    EXPECT_EQ(center_of(job).value, center_id("beta"));
}

TEST_F(Sharing, ProbesAreBoundByNoProject)
{
    add_center("alpha", 2);
    add_center("beta", 2);
    set("default", {{"max_units", 1}, {"centers", {"beta"}}});
    const JobId probe = submit_for("default", {{"units", {{"center", "beta"}}}});
    sql("UPDATE job SET label = 'probe', spec = jsonb_set(spec, '{units}', '{\"center\": \"alpha\", \"count\": 2}') "
        "WHERE id = '" +
        probe.value + "'");

    route();

    EXPECT_EQ(state_of(probe), "placed");
    EXPECT_EQ(use_of("default")["units"], 0);
}

TEST_F(Sharing, AProbeThatWaitsIsExplainedWithoutItsProject)
{
    add_center("alpha", 2);
    add_center("beta", 2);
    submit_for("other", {{"units", {{"center", "alpha"}, {"count", 2}}}});
    route();
    set("default", {{"max_units", 1}, {"centers", {"beta"}}});
    const JobId probe = submit_for("default", {{"units", {{"center", "beta"}}}});
    sql("UPDATE job SET label = 'probe', spec = jsonb_set(spec, '{units}', '{\"center\": \"alpha\", \"count\": 2}') "
        "WHERE id = '" +
        probe.value + "'");

    const Json answer = Json::parse(call(net::Method::kGet, "/jobs/" + probe.value + "/placement").body);

    const Json& decision = answer["decision"];
    ASSERT_TRUE(decision["winner"].is_number()) << answer;
    EXPECT_EQ(decision["candidates"][decision["winner"].get<std::size_t>()]["center"], "alpha");
}

TEST_F(Sharing, WhatWasUsedCanBeRead)
{
    const std::string alpha = add_center("alpha", 4);
    set("p", {{"share", 2}, {"max_units", 4}});
    const JobId ended = submit_for("p", {{"units", {{"count", 2}}}});
    const JobId live = submit_for("p");
    const JobId other = submit_for("q");
    route();
    end(ended, 1800);
    end(other, 3600);

    const Json before = use_of("p");
    count_ended();
    count_ended();
    const Json after = use_of("p");

    EXPECT_EQ(count("attempt WHERE counted"), "2");
    for (const Json& use : {before, after}) {
        EXPECT_EQ(use["units"], 1);
        EXPECT_NEAR(use["unit_hours"].get<double>(), 1, 0.01) << "two units for half an hour";
        EXPECT_NEAR(use["score_hours"].get<double>(), 1, 0.01) << "of the 1000 points that count without a score";
        EXPECT_EQ(use["unit_types"].size(), 1U);
        EXPECT_EQ(use["unit_types"][0]["unit_type_id"], alpha);
        EXPECT_EQ(use["quota"]["max_units"], 4);
        EXPECT_NEAR(use["fair_share"]["used_share"].get<double>(), 0.5, 0.01);
        // A quarter of the units and half of the use, for two thirds of the shares.
        EXPECT_NEAR(use["fair_share"]["load"].get<double>(), (0.25 + 0.5) / 2 / (2.0 / 3), 0.01);
    }
    EXPECT_EQ(use_of("nobody")["unit_hours"], 0);
    EXPECT_EQ(state_of(live), "placed");
}

TEST_F(Sharing, OldUseCountsLess)
{
    const std::string alpha = add_center("alpha", 4);
    const auto used = [&](const std::string& project, int days) {
        sql("INSERT INTO project_use VALUES ('" + project + "', (now() AT TIME ZONE 'UTC')::date - " +
            std::to_string(days) + ", '" + alpha + "', 1000, 0, 0)");
    };
    used("today", 0);
    used("week", 7);
    used("forgotten", 80);

    EXPECT_NEAR(use_of("today")["fair_share"]["used_share"].get<double>(), 1 / 1.5, 1e-9);
    EXPECT_NEAR(use_of("week")["fair_share"]["used_share"].get<double>(), 0.5 / 1.5, 1e-9);
    EXPECT_EQ(use_of("forgotten")["fair_share"]["used_share"], 0);
}

TEST_F(Sharing, WhatIsNotAddedUpYetAgesToo)
{
    add_center("alpha", 4);
    const JobId old = submit_for("old");
    const JobId fresh = submit_for("fresh");
    route();
    end(old, 1000);
    end(fresh, 1000);
    const auto ended = [&](int days) {
        const std::string at = "now() - interval '" + std::to_string(days) + " days'";
        sql("UPDATE attempt SET created_at = " + at + ", dispatched_at = NULL, ended_at = " + at + " WHERE job_id = '" +
            old.value + "'");
    };

    ended(7);
    EXPECT_NEAR(use_of("old")["fair_share"]["used_share"].get<double>(), 0.5 / 1.5, 1e-9);
    ended(80);
    EXPECT_EQ(use_of("old")["fair_share"]["used_share"], 0);
}

TEST_F(Sharing, ReadsNoTableAsAWhole)
{
    add_center("alpha", 4);
    set("p", {{"max_units", 4}});
    submit_for("p", {{"gang", {{"id", "g"}, {"size", 2}}}});
    submit_for("p");
    count_sequential_scans();
    // Connections that were opened before do not have the setting.
    Database database({.url = url_, .connections = 2}, metrics_);
    RoutingService routing(io_.executor(), {database, metrics_, clock_, catalog_, unit_loads_, probing_, finalizer_},
                           {.replica = {"rep_1"}});
    ProjectUseService uses(database, catalog_);

    ASSERT_TRUE(run(routing.run_cycle(RoutingService::Wake::kTick)));
    ASSERT_TRUE(run(uses.report("p", clock_.now())));
    auto work = [&uses](pqxx::work& transaction) { return uses.count_ended(transaction); };
    ASSERT_TRUE(run(database.run(std::move(work))));
    database.stop(); // its connections report their counts when they close

    EXPECT_TRUE(test::eventually([&] {
        return sql("SELECT coalesce(sum(idx_scan), 0) > 0 FROM pg_stat_user_tables WHERE relname = 'project_use'") ==
               "t";
    })) << "the counts did not arrive";
    EXPECT_EQ(sql("SELECT string_agg(relname, ',') FROM pg_stat_user_tables WHERE seq_scan > 0 AND relname IN "
                  "('job', 'attempt', 'project_use', 'prediction')"),
              "");
}

} // namespace
} // namespace fathom::server
