#include "tests/server/job_types/learning_fixture.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(Learning, AJobTeachesItsTypeAndTheNextOneNeedsNoOperators)
{
    const JobId first = finish(dgemm_job({{"type", "solver"}}));

    ASSERT_EQ(probing_.learned.size(), 1U);
    EXPECT_EQ(probing_.learned[0].job_type, "solver");
    EXPECT_EQ(probing_.learned[0].operators[0].count, 3000);
    const Json type = get("/job-types/solver");
    EXPECT_EQ(type["origin"], "user");
    EXPECT_EQ(type["learned_from"], first.value);
    EXPECT_EQ(type["profiled"], false);

    add_measurement(unit_type_, 0.01);
    const JobId second = submit(spec({{"type", "solver"}}));
    EXPECT_EQ(shown(second)["spec"]["operators"][0]["count"], 3000);
    EXPECT_EQ(shown(second)["operators_from"], first.value);
    EXPECT_EQ(shown(first)["operators_from"], nullptr);
    route();
    EXPECT_EQ(state_of(second), "placed") << "at once, from stored results";
    EXPECT_TRUE(probing_.requested.empty());
    EXPECT_EQ(get("/jobs/" + second.value + "/operators")["source"], "type");
}

TEST_F(Learning, AProfiledRunIsWhatRunsElsewhereArePredictedFrom)
{
    const std::string beta = add_center("beta");
    add_measurement(unit_type_, 0.01);
    add_measurement(beta, 0.02);
    const Json at_alpha = {{"center", "alpha"}, {"count", 1}};
    const Json at_beta = {{"center", "beta"}, {"count", 1}};
    const JobId first =
        finish_as(admin_, spec({{"type", "solver"}, {"profile", true}, {"units", at_alpha}}), dense_profile(), 0, 4);
    const JobId second = submit(spec({{"type", "solver"}, {"units", at_beta}}));
    sql("UPDATE job SET metered = true");
    route();
    const Json decision = get("/jobs/" + second.value + "/placement")["decision"];
    const Json winner = decision["candidates"][0];

    EXPECT_EQ(shown(first)["run_s"], 2.5) << "what the profiler did beside the program is not in it";
    EXPECT_EQ(sql("SELECT actual_run_s FROM prediction WHERE job_id = '" + first.value + "'"), "2.5");
    EXPECT_EQ(sql("SELECT run_s FROM attempt WHERE job_id = '" + first.value + "'"), "4") << "its units were held";
    // 80 % products, twice as slow; 5 % waiting, the same; 15 % without an operator, as the mean.
    EXPECT_NEAR(winner["correction"]["raw_prediction_s"].get<double>(), 2.5 * (0.8 * 2 + 0.05 + 0.15 * 2), 1e-9);
    EXPECT_EQ(winner["rungs"][0]["rung"], "reference");
    EXPECT_THAT(winner["rungs"][0]["text"].get<std::string>(), HasSubstr("alpha/core"));
    EXPECT_EQ(sql("SELECT raw_prediction_basis FROM prediction WHERE job_id = '" + second.value + "'"), "reference");
}

TEST_F(Learning, TheLedgersRawPredictionsHaveAKnownRunAsItsPlaceTakesIt)
{
    add_measurement(unit_type_, 0.01);
    add_measurement(add_center("beta"), 0.01);
    const Json at_alpha = {{"center", "alpha"}, {"count", 1}};
    const Json later = spec({{"type", "solver"}, {"units", at_alpha}});
    finish_as(admin_, spec({{"type", "solver"}, {"profile", true}, {"units", at_alpha}}), dense_profile(), 0, 4);
    finish_as(admin_, later, nullptr, 0, 2); // the profiled one took 2.5 s
    finish_as(admin_, later, nullptr, 0, 2);
    const JobId job = submit(spec({{"type", "solver"}, {"units", {{"center", "beta"}, {"count", 1}}}}));
    sql("UPDATE job SET metered = true");
    route();
    const Json winner = get("/jobs/" + job.value + "/placement")["decision"]["candidates"][0];
    const double kept_s = std::stod(sql("SELECT raw_prediction_s FROM prediction WHERE job_id = '" + job.value + "'"));

    EXPECT_NEAR(winner["correction"]["raw_prediction_s"].get<double>(), 2.5, 1e-9);
    EXPECT_LT(kept_s, 2.35) << "else beta would be taken to be faster than its probes say";
    EXPECT_NEAR(winner["prediction"]["run_s"].get<double>(), kept_s, 0.1);
}

TEST_F(Learning, WhatAProgramComputesInItsOwnThreadsGoesAsProbesWithOneThreadDo)
{
    const std::string beta = add_center("beta");
    sql("UPDATE unit_type SET cores_per_unit = 2 WHERE id = '" + beta + "'");
    add_measurement(unit_type_, 0.01);
    add_measurement(beta, 0.015);
    Json profile = dense_profile();
    profile["operators"][0]["serial"] = profile["operators"][1]["serial"] = true;
    finish_as(admin_, spec({{"type", "solver"}, {"profile", true}, {"units", {{"center", "alpha"}, {"count", 1}}}}),
              profile, 0, 4);
    const auto raw_at_beta = [&] {
        const JobId job = submit(spec({{"type", "solver"}, {"units", {{"center", "beta"}, {"count", 1}}}}));
        sql("UPDATE job SET metered = true");
        route();
        const Json decision = get("/jobs/" + job.value + "/placement")["decision"];
        return decision["candidates"][0]["correction"]["raw_prediction_s"].get<double>();
    };

    // One thread was never measured: at best each core does half of what both do, 0.03 s.
    EXPECT_NEAR(raw_at_beta(), 2.5 * (0.8 * 3 + 0.05 + 0.15 * 3), 1e-9);
    sql("UPDATE measurement SET one_thread_median_s = 0.02, one_thread_ci_low_s = 0.02, one_thread_ci_high_s = 0.02 "
        "WHERE unit_type_id = '" +
        beta + "'");
    reload_catalog();
    EXPECT_NEAR(raw_at_beta(), 2.5 * (0.8 * 2 + 0.05 + 0.15 * 2), 1e-9);
}

TEST_F(Learning, NobodysJobsChangeWhatIsKnownOfAnothersType)
{
    add_measurement(unit_type_, 0.0001);
    const Principal ada = add_token("ada", Role::kUser);
    const Principal bob = add_token("bob", Role::kUser);
    const auto preview_of_ada = [&] {
        const Json asked = spec({{"type", "cfd/solver"}});
        const net::Response answer = call(net::Method::kPost, "/placements:preview", asked.dump(), {}, "ada");
        EXPECT_EQ(answer.status, 200) << answer.body;
        const Json decision = Json::parse(answer.body)["decision"];
        return Json{decision["candidates"][0]["prediction"], decision["candidates"][0]["correction"]};
    };
    const JobId own = finish_as(ada, dgemm_job({{"type", "cfd/solver"}}));
    const Json before = preview_of_ada();
    ASSERT_TRUE(before[0].is_object()) << before.dump();

    const Json invented = Json::parse(R"([{"id": "dgemm", "count": 90000000}])");
    for (int i = 0; i < 3; ++i)
        finish_as(bob, spec({{"type", "cfd/solver"}, {"operators", invented}}), nullptr, 0, 5000);
    finish_as(bob, spec({{"type", "cfd/solver"}}), dense_profile(), 0, 5000);

    const Json after = preview_of_ada();
    EXPECT_EQ(after[0]["operators"], before[0]["operators"]);
    EXPECT_EQ(after[1]["job_count"], before[1]["job_count"]);
    // Runs weigh less as they age, if only by a second.
    EXPECT_NEAR(after[0]["run_s"], before[0]["run_s"], 1e-6 * before[0]["run_s"].get<double>());
    EXPECT_NEAR(after[0]["high_s"], before[0]["high_s"], 1e-6 * before[0]["high_s"].get<double>());
    const JobId next = submit(spec({{"type", "cfd/solver"}}), ada);
    EXPECT_EQ(shown(next)["operators_from"], own.value);
    EXPECT_EQ(shown(next)["spec"]["operators"][0]["count"], 3000);
    const Json type = Json::parse(call(net::Method::kGet, "/job-types/cfd%2Fsolver", "", {}, "ada").body);
    EXPECT_EQ(type["learned_from"], own.value);
}

TEST_F(Learning, NobodySeesWhatAnothersJobsTaught)
{
    const Principal ada = add_token("ada", Role::kUser);
    add_token("bob", Role::kUser);
    add_token("eve", Role::kViewer);
    finish_as(ada, dgemm_job({{"type", "secret/solver"}}));
    const auto seen_by = [&](const std::string& user) {
        return std::pair(call(net::Method::kGet, "/job-types/secret%2Fsolver", "", {}, user).status,
                         Json::parse(call(net::Method::kGet, "/job-types", "", {}, user).body)["items"].size());
    };

    EXPECT_EQ(seen_by("ada"), std::pair(200, std::size_t{1}));
    EXPECT_EQ(seen_by("eve"), std::pair(200, std::size_t{1}));
    EXPECT_EQ(seen_by("bob"), std::pair(404, std::size_t{0}));
}

TEST_F(Learning, ATypeThatCannotBeReadStopsNoOtherAndIsLearnedAnew)
{
    finish(dgemm_job({{"type", "a"}}));
    finish(dgemm_job({{"type", "b"}}));
    finish(dgemm_job({{"type", "c"}}));
    sql(R"(UPDATE job_type SET mix = '{"dgemm": "much"}' WHERE name = 'a')");
    sql(R"(UPDATE job_type SET operators = '[{"id": 7}]' WHERE name = 'b')");
    reload_catalog();

    const Json listed = get("/job-types");
    ASSERT_EQ(listed["items"].size(), 1U);
    EXPECT_EQ(listed["items"][0]["name"], "c");
    EXPECT_EQ(call(net::Method::kGet, "/job-types/a").status, 404);

    const JobId again = finish(dgemm_job({{"type", "a"}}));
    EXPECT_EQ(get("/job-types/a")["learned_from"], again.value);
}

TEST_F(Learning, AnothersTypeOfAlikeMixDoesNotRenameMine)
{
    const Principal bob = add_token("bob", Role::kUser);
    const JobId first = finish(dgemm_job());
    const std::string type = shown(first)["type"];

    finish_as(bob, dgemm_job({{"type", "a"}}));

    EXPECT_EQ(shown(submit(dgemm_job()))["type"], type);
}

TEST_F(Learning, ATypeThatItsSubmitterNeverRanStartsFromItsProject)
{
    const Principal ada = add_token("ada", Role::kUser);
    const Principal bob = add_token("bob", Role::kUser);
    const JobId first = finish_as(ada, dgemm_job({{"type", "solver"}, {"project", "materials"}}));

    EXPECT_EQ(shown(submit(spec({{"type", "solver"}, {"project", "materials"}}), bob))["operators_from"], first.value);
    EXPECT_EQ(shown(submit(spec({{"type", "solver"}, {"project", "physics"}}), bob))["operators_from"], nullptr);
    EXPECT_EQ(shown(submit(spec({{"type", "solver"}, {"project", "physics"}}), ada))["operators_from"], first.value);
}

TEST_F(Learning, WhatWasTakenOverTeachesNothing)
{
    finish(dgemm_job({{"type", "solver"}}));
    finish(spec({{"type", "solver"}}));
    EXPECT_EQ(probing_.learned.size(), 1U);
}

TEST_F(Learning, AFailedJobTeachesNothing)
{
    finish(dgemm_job({{"type", "solver"}}), dense_profile(), 1);
    EXPECT_TRUE(probing_.learned.empty());
    EXPECT_EQ(sql("SELECT count(*) FROM attempt_profile"), "1") << "but its profile can be looked at";
}

TEST_F(Learning, AProfileCountsForMoreThanWhatWasSaid)
{
    const Json job{{"command", {"python3", "solve.py"}}};
    const JobId profiled = finish(job, dense_profile());

    const Json type = get("/job-types/app%2Fsolve.py");
    ASSERT_EQ(type["name"], "app/solve.py") << type.dump();
    EXPECT_EQ(type["profiled"], true);
    EXPECT_EQ(type["operators"].size(), 2U);
    const Json work = get("/jobs/" + profiled.value + "/operators");
    EXPECT_EQ(work["source"], "profile");
    EXPECT_EQ(work["operators"][0]["share"], 0.7);
    EXPECT_EQ(work["coverage"], 0.85);
    EXPECT_EQ(work["remainder"]["memory"], 0.1);
    EXPECT_EQ(work["remainder"]["code"]["loops"][0]["operator"], "spmv");
    EXPECT_EQ(work["unmatched"][0]["symbol"], "dtrsm_");
    EXPECT_THAT(work["left_out"][0].get<std::string>(), HasSubstr("unheard_of"));
    EXPECT_EQ(work["unlisted"]["count"], 0);
    EXPECT_EQ(work["unprobed"]["count"], 0);

    finish(dgemm_job({{"type", "app/solve.py"}}));
    EXPECT_EQ(get("/job-types/app%2Fsolve.py")["learned_from"], profiled.value);
    EXPECT_EQ(shown(submit(job))["operators_from"], profiled.value);
}

TEST_F(Learning, OperatorsBeyondTheLimitsAreCountedWithTheirTime)
{
    // 64 sizes of 1/128 of the time each and two of half of that: the list takes 64, the rest counts as remainder.
    Json profile = dense_profile();
    profile["operators"] = Json::array();
    for (int i = 0; i < 66; ++i)
        profile["operators"].push_back({{"id", "dgemm"},
                                        {"parameters", {{"m", 100 + i}, {"n", 64}, {"k", 64}}},
                                        {"count", 10},
                                        {"share", i < 64 ? 0.0078125 : 0.00390625}});
    profile["coverage"] = 0.5078125;
    const JobId job = finish({{"command", {"python3", "wide.py"}}, {"units", {{"count", 1}}}}, profile);

    const Json work = get("/jobs/" + job.value + "/operators");
    ASSERT_EQ(work["operators"].size(), 64U) << work.dump();
    EXPECT_EQ(work["unlisted"]["count"], 2);
    EXPECT_EQ(work["unlisted"]["share"], 0.0078125);
    EXPECT_EQ(work["coverage"], 0.5);
    EXPECT_EQ(work["remainder"]["unlisted"], 0.0078125);
    EXPECT_EQ(work["unprobed"]["count"], 48) << "a probe task measures 16 of the 64";
    EXPECT_EQ(work["unprobed"]["share"], 0.375);

    const Json type = get("/job-types/app%2Fwide.py");
    EXPECT_EQ(type["unlisted"], work["unlisted"]);
    EXPECT_EQ(type["unprobed"], work["unprobed"]);
    EXPECT_EQ(get("/job-types")["items"][0], type);

    sql("UPDATE job_type SET known_run = known_run - 'unlisted'"); // as an older server keeps it
    EXPECT_EQ(get("/job-types/app%2Fwide.py")["unlisted"], nullptr);
}

TEST_F(Learning, JobsOfNearlyTheSameMixAreOfOneType)
{
    const JobId first = finish(dgemm_job());
    const std::string type = shown(first)["type"];
    EXPECT_THAT(type, StartsWith("mix/dgemm("));
    EXPECT_EQ(shown(submit(dgemm_job()))["type"], type);
    const Json nearly = Json::parse(R"([{"id": "dgemm", "count": 2900},
                                        {"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}, "count": 100}])");
    EXPECT_EQ(shown(submit(spec({{"operators", nearly}})))["type"], type);
    const Json other = Json::parse(R"([{"id": "dgemm", "parameters": {"m": 64, "n": 64, "k": 64}, "count": 100}])");
    EXPECT_NE(shown(submit(spec({{"operators", other}})))["type"], type);
}

TEST_F(Learning, WhatNoUnitCanRunIsNotTakenOver)
{
    finish(dgemm_job({{"type", "solver"}}));
    sql("UPDATE unit_type SET operators = '{}'");
    reload_catalog();
    const Json job = shown(submit(spec({{"type", "solver"}})));
    EXPECT_EQ(job["spec"]["operators"].size(), 0U);
    EXPECT_EQ(job["operators_from"], nullptr);
}

TEST_F(Learning, NonsenseInAProfileTeachesNothing)
{
    for (const char* text : {R"({"operators": 7})", R"({"operators": [{"id": "dgemm", "count": -1}, 3, null]})",
                             R"({"operators": [{"id": "dgemm", "parameters": {"m": 99999999}}]})"})
        finish(Json{{"command", {"program"}}}, Json::parse(text));
    EXPECT_TRUE(probing_.learned.empty());
}

TEST_F(Learning, AProjectMayProfileAllItsJobs)
{
    EXPECT_EQ(call(net::Method::kGet, "/projects/materials").status, 404);
    EXPECT_EQ(call(net::Method::kPut, "/projects/materials", R"({"profile_jobs": 1})").status, 400);
    const net::Response put = call(net::Method::kPut, "/projects/materials", R"({"profile_jobs": true})");
    EXPECT_EQ(put.status, 200);
    reload_catalog();
    EXPECT_EQ(shown(submit(spec({{"project", "materials"}})))["spec"]["profile"], true);
    EXPECT_EQ(shown(submit())["spec"]["profile"], false);
    EXPECT_EQ(
        call(net::Method::kPut, "/projects/materials", R"({"profile_jobs": false})", {{"If-Match", "\"7\""}}).status,
        412);
    EXPECT_EQ(sql("SELECT action FROM audit_log"), "project.change");
    add_token("ann", Role::kUser);
    EXPECT_EQ(call(net::Method::kPut, "/projects/x", R"({"profile_jobs": true})", {}, "ann").status, 403);
}

TEST_F(Learning, ARefusedProbeTaskIsSaidInTheEventsAndTheJobIsPlaced)
{
    probing_.obstacle = "its probe task ptk_1 was refused: too slow";
    const JobId job = submit(dgemm_job());
    route();
    EXPECT_EQ(state_of(job), "placed");
    EXPECT_THAT(sql("SELECT string_agg(cause, '|' ORDER BY id) FROM job_event WHERE job_id = '" + job.value + "'"),
                HasSubstr("was refused: too slow; it is placed on what is known"));
}

TEST_F(Learning, ATaskThatIsRefusedWhileItsJobWaitsSaysSo)
{
    const JobId job = submit(dgemm_job());
    route();
    EXPECT_EQ(state_of(job), "metering");
    probing_.pending = false;
    probing_.refusal = "its probe task ptk_1 was refused: it took 31 s";
    route();
    EXPECT_EQ(state_of(job), "placed");
    EXPECT_THAT(sql("SELECT string_agg(cause, '|' ORDER BY id) FROM job_event WHERE job_id = '" + job.value + "'"),
                HasSubstr("was refused: it took 31 s; it is placed on what is known"));
}

} // namespace
} // namespace fathom::server
