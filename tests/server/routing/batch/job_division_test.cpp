#include "tests/server/routing/batch/job_division_fixture.hpp"

namespace fathom::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(JobDivision, RunsItsPartsOneAfterTheOtherEachOnItsKindOfDevice)
{
    const JobId job = submit_divided();

    const AttemptOrder first = start(job);
    EXPECT_EQ(first.unit_type, "core");
    EXPECT_THAT(first.command, ElementsAre("/bin/read"));
    EXPECT_THAT(first.outputs, ElementsAre(JobOutput{"a", "https://h/a"}));
    ASSERT_TRUE(report_end(job, handing_on()));
    EXPECT_EQ(state_of(job), "queued");
    EXPECT_EQ(sql("SELECT cause FROM job_event ORDER BY id DESC LIMIT 1"),
              "part 1 of 2 (step read, on CPU) has succeeded at center alpha; now part 2 of 2 (step solve, on GPU)");
    route();
    const AttemptOrder second = start(job);
    EXPECT_EQ(second.unit_type, "gpu");
    EXPECT_THAT(second.command, ElementsAre("/bin/solve"));
    EXPECT_TRUE(second.outputs.empty());
    ASSERT_EQ(second.inputs.size(), 1U);
    EXPECT_EQ(second.inputs[0].from, "job:" + job.value + "/a");
    EXPECT_EQ(second.inputs[0].url, "https://h/a");
    EXPECT_EQ(second.inputs[0].sha256, std::string(64, 'a'));
    EXPECT_EQ(sql("SELECT spec #>> '{inputs,0,kept_at,0}' FROM job WHERE label = 'job'"), center_of(job).value);
    ASSERT_TRUE(report_end(job, exited(0)));

    EXPECT_EQ(state_of(job), "succeeded");
    const Json ended = job_json(job);
    EXPECT_DOUBLE_EQ(ended["run_s"].get<double>(), 3) << "of both parts";
    EXPECT_EQ(ended["steps"]["division"]["run"], "steps");
    EXPECT_EQ(ended["steps"]["part"], 1);
    EXPECT_EQ(ended["steps"]["parts"][0]["place"], "alpha/core");
    EXPECT_EQ(ended["steps"]["parts"][1]["place"], "alpha/gpu");
    EXPECT_DOUBLE_EQ(ended["steps"]["parts"][1]["run_s"].get<double>(), 1.5);
    EXPECT_THAT(ended["spec"]["script"].get<std::string>(), HasSubstr("'/bin/solve'")) << "as it was submitted";
    EXPECT_FALSE(ended["steps"].contains("whole"));
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE label = 'job'"), "1");
    EXPECT_EQ(sql("SELECT string_agg(job_type, ', ' ORDER BY decided_at) FROM prediction"), "scf / read, scf / solve")
        << "what is known of the whole's runs stays its own";
}

TEST_F(JobDivision, WhatIsPredictedOfItIsOfAllPartsAsWhatTheyTookIs)
{
    const JobId job = submit(stepped(1e6));
    route(); // decides the division
    const Json waiting = job_json(job);
    const Json& planned = waiting["steps"]["parts"];
    const double solve_s = planned[1]["predicted_s"].get<double>();
    EXPECT_DOUBLE_EQ(planned[1]["passing_s"].get<double>(), 0);
    EXPECT_GT(planned[0]["passing_s"].get<double>(), 0);
    EXPECT_DOUBLE_EQ(waiting["predicted"]["run_s"].get<double>(),
                     planned[0]["predicted_s"].get<double>() - planned[0]["passing_s"].get<double>() + solve_s)
        << "what its programs take";
    EXPECT_TRUE(waiting["predicted"]["low_s"].is_null()) << "the division has no interval";

    route();
    start(job);
    const Json first = job_json(job);
    const double read_s = first["steps"]["parts"][0]["placed"]["run_s"].get<double>();
    EXPECT_DOUBLE_EQ(first["predicted"]["run_s"].get<double>(), read_s + solve_s);
    EXPECT_TRUE(first["steps"]["parts"][1]["placed"].is_null());
    const net::Response list = call(net::Method::kGet, "/jobs");
    EXPECT_EQ(Json::parse(list.body)["items"][0]["predicted"], first["predicted"]) << "in lists as well";

    ASSERT_TRUE(report_end(job, handing_on()));
    const Json between = job_json(job);
    EXPECT_DOUBLE_EQ(between["predicted"]["run_s"].get<double>(), read_s + solve_s) << "the second has no place yet";
    EXPECT_TRUE(between["steps"]["parts"][1]["placed"].is_null());
    EXPECT_TRUE(between["steps"]["parts"][0]["started_at"].is_string());
    EXPECT_TRUE(between["steps"]["parts"][0]["ended_at"].is_string());
    route();
    start(job);
    ASSERT_TRUE(report_end(job, exited(0)));

    const Json ended = job_json(job);
    const Json& parts = ended["steps"]["parts"];
    EXPECT_DOUBLE_EQ(ended["predicted"]["run_s"].get<double>(),
                     parts[0]["placed"]["run_s"].get<double>() + parts[1]["placed"]["run_s"].get<double>());
    EXPECT_DOUBLE_EQ(ended["predicted"]["high_s"].get<double>(),
                     parts[0]["placed"]["high_s"].get<double>() + parts[1]["placed"]["high_s"].get<double>());
    EXPECT_EQ(sql("SELECT count(*) FROM prediction"), "2");
    EXPECT_EQ(parts[0]["placed"]["run_s"], std::stod(sql("SELECT run_s FROM prediction ORDER BY decided_at LIMIT 1")));
}

TEST_F(JobDivision, WherePlacementsPredictedNothingWhatIsPredictedHasNoInterval)
{
    const JobId job = submit_divided();
    sql("UPDATE prediction SET run_s = 0");

    const Json shown = job_json(job);

    ASSERT_TRUE(shown["attempt"].is_object());
    EXPECT_TRUE(shown["steps"]["parts"][0]["placed"].is_null());
    EXPECT_GT(shown["predicted"]["run_s"].get<double>(), 0) << "the division predicts it";
    EXPECT_TRUE(shown["predicted"]["low_s"].is_null());
    EXPECT_TRUE(shown["predicted"]["high_s"].is_null());
}

TEST_F(JobDivision, AResultThatTakesLongToPassKeepsItWhole)
{
    const JobId job = submit(stepped(1e9)); // 2 s out and in
    route();
    route();

    const AttemptOrder order = start(job);
    EXPECT_EQ(order.unit_type, "gpu");
    EXPECT_TRUE(order.command.empty());
    EXPECT_THAT(order.script, HasSubstr("'/bin/read' ||"));
    EXPECT_TRUE(order.outputs.empty()) << "nothing is passed on";
    ASSERT_TRUE(report_end(job, exited(0)));
    EXPECT_EQ(state_of(job), "succeeded");
    const Json steps = job_json(job)["steps"];
    EXPECT_EQ(steps["division"]["run"], "whole");
    EXPECT_TRUE(steps["parts"].empty());
}

TEST_F(JobDivision, WithoutItsOwnersLeaveItRunsWhole)
{
    const JobId job = submit(stepped(1e6, {{"split", "never"}}));
    route();

    EXPECT_THAT(start(job).script, HasSubstr("'/bin/solve' ||"));
    EXPECT_TRUE(job_json(job)["steps"]["division"].is_null());
}

TEST_F(JobDivision, APartThatFailsEndsTheJob)
{
    const JobId job = submit_divided();
    start(job);

    ASSERT_TRUE(report_end(job, exited(3)));

    EXPECT_EQ(state_of(job), "failed");
    EXPECT_EQ(job_json(job)["end_reason"], "part 1 of 2 (step read, on CPU): exit code 3");
    route();
    EXPECT_EQ(sql("SELECT count(*) FROM attempt WHERE job_id = '" + job.value + "'"), "1");
}

TEST_F(JobDivision, CancellingEndsItBetweenPartsAndWithThePartThatRuns)
{
    const JobId waiting = submit_divided();
    start(waiting);
    ASSERT_TRUE(report_end(waiting, handing_on()));
    EXPECT_EQ(call(net::Method::kPost, "/jobs/" + waiting.value + ":cancel").status, 202);
    EXPECT_EQ(state_of(waiting), "cancelled");
    EXPECT_DOUBLE_EQ(job_json(waiting)["run_s"].get<double>(), 1.5) << "of the part that ran";

    const JobId running = submit_divided();
    start(running);
    EXPECT_EQ(call(net::Method::kPost, "/jobs/" + running.value + ":cancel").status, 202);
    ASSERT_TRUE(report_end(running, handing_on())); // before its center heard of it
    EXPECT_EQ(state_of(running), "cancelled");
    EXPECT_EQ(job_json(running)["end_reason"], "cancelled after part 1 of 2 (step read, on CPU)");
}

TEST_F(JobDivision, APartThatItsCenterLosesRunsAgainAloneWhereItsOwnerLetsIt)
{
    const JobId job = submit_divided({{"requeue", true}});
    start(job);
    ASSERT_TRUE(report_end(job, handing_on()));
    route();
    start(job);
    AttemptEnd lost;
    lost.outcome = AttemptOutcome::kNodeFailure;
    lost.started_at = clock_.now();

    ASSERT_TRUE(report_end(job, lost));
    EXPECT_EQ(state_of(job), "queued");
    EXPECT_EQ(sql("SELECT started_at IS NOT NULL FROM job WHERE id = '" + job.value + "'"), "t")
        << "it started with its first part";
    route();

    EXPECT_THAT(start(job).command, ElementsAre("/bin/solve"));
    ASSERT_TRUE(report_end(job, exited(0)));
    EXPECT_EQ(state_of(job), "succeeded");
}

TEST_F(JobDivision, WhatAPartHandsOnIsNoOutputOfTheJob)
{
    const JobId job = submit_divided({{"outputs", Json::array({{{"path", "a"}, {"url", "https://h/end"}}})}});
    const std::string later =
        spec({{"inputs", Json::array({{{"url", "job:" + job.value + "/a"}, {"path", "in"}}})}}).dump();
    start(job);
    ASSERT_TRUE(report_end(job, handing_on()));

    const net::Response between = call(net::Method::kPost, "/jobs", later);
    route();
    start(job);
    AttemptEnd last = exited(0);
    last.outputs = {{"a", 50, std::string(64, 'b')}};
    ASSERT_TRUE(report_end(job, last));
    const net::Response after = call(net::Method::kPost, "/jobs", later);

    EXPECT_EQ(between.status, 400);
    EXPECT_THAT(between.body, HasSubstr("its outputs are there once it has succeeded"));
    ASSERT_EQ(after.status, 201) << after.body;
    EXPECT_EQ(Json::parse(after.body)["spec"]["inputs"][0]["sha256"], std::string(64, 'b'));
}

TEST_F(JobDivision, WhatIsStoredOfItCountsForWhoSubmittedIt)
{
    const std::string bytes = "SELECT spec_bytes FROM job WHERE label = 'job'";
    submit(stepped(1e6, {{"files", {{"data", std::string(10000, 'x')}}}}));
    const std::int64_t before = std::stoll(sql(bytes));

    route();

    EXPECT_GT(std::stoll(sql(bytes)), before + 10000) << "what was submitted stands beside what runs";
    EXPECT_EQ(sql("SELECT sum(bytes) FROM stored_change"), sql(bytes));
}

TEST_F(JobDivision, APartThatWaitedTooLongEndsTheJobAndSaysWhatItLeavesNoTimeFor)
{
    const JobId job = submit_divided({{"deadline", format_rfc3339(clock_.now() + std::chrono::hours(1))}});
    start(job);
    ASSERT_TRUE(report_end(job, handing_on()));

    clock_.advance(std::chrono::hours(2));
    route();

    EXPECT_EQ(state_of(job), "failed");
    EXPECT_THAT(job_json(job)["end_reason"].get<std::string>(),
                AllOf(HasSubstr("its part had to end by "), HasSubstr("could not be placed before")));
}

TEST_F(JobDivision, OfManyJobsSomeAreDividedACycle)
{
    constexpr int kJobs = 65;
    const std::string divided = "SELECT count(*) FROM job WHERE steps -> 'division' <> 'null'";
    for (int i = 0; i < kJobs; ++i)
        submit(stepped(1e6));

    route();
    EXPECT_EQ(sql(divided), "64") << "the others are not kept waiting by their division";
    route();
    EXPECT_EQ(sql(divided), "65");
}

TEST_F(JobDivision, ARepeatedSubmissionGetsTheJobAsItWasSubmitted)
{
    const std::string body = stepped(1e6).dump();
    const auto repeat = [&] { return call(net::Method::kPost, "/jobs", body, {{"Idempotency-Key", "k"}}); };
    const Json first = Json::parse(repeat().body);
    route();
    ASSERT_EQ(sql("SELECT jsonb_array_length(steps -> 'parts') FROM job WHERE label = 'job'"), "2");

    const Json again = Json::parse(repeat().body);

    EXPECT_EQ(again["id"], first["id"]);
    EXPECT_EQ(again["spec"], first["spec"]);
    EXPECT_EQ(again["steps"], first["steps"]);
    EXPECT_TRUE(first["steps"]["division"].is_null());
}

TEST_F(JobDivision, AReplicaThatKnowsNoPartsCannotEndItWithItsFirst)
{
    const JobId job = submit_divided();

    EXPECT_ANY_THROW(sql("UPDATE job SET state = 'succeeded' WHERE id = '" + job.value + "'"));
}

TEST_F(JobDivision, OperatorsOfAllStepsTogetherAreBounded)
{
    Json body = stepped(1e6);
    for (Json& step : body["steps"]) {
        Json operators = Json::array();
        Json labels = Json::array();
        for (int i = 0; i < 30; ++i) {
            const std::string label = step["name"].get<std::string>() + std::to_string(i) + std::string(50, 'x');
            Json one = {{"id", "dgemm"}, {"label", label}};
            if (i >= 8) one["inputs"] = labels;
            if (i < 8) labels.push_back(label);
            operators.push_back(std::move(one));
        }
        step["operators"] = std::move(operators);
    }

    const net::Response answer = call(net::Method::kPost, "/jobs", body.dump());

    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("bytes as JSON, of at most 16384"));
}

TEST_F(JobDivision, WhatTheNetworkDoesNotHaveIsSaidOfItsStep)
{
    Json body = stepped(1e6);
    body["steps"][1]["operators"][0]["id"] = "none such";
    const net::Response unknown = call(net::Method::kPost, "/jobs", body.dump());
    body = stepped(1e6);
    body["steps"][1]["inputs"] = Json::array({{{"url", "job:" + JobId::make().value + "/x"}, {"path", "x"}}});
    const net::Response missing = call(net::Method::kPost, "/jobs", body.dump());

    EXPECT_THAT(unknown.body, HasSubstr("\"steps[1].operators[0].id\""));
    EXPECT_THAT(missing.body, HasSubstr("\"steps[1].inputs[0]\""));
}

TEST_F(JobDivision, APreviewOfAJobWithStepsSaysWhetherItWouldBeDivided)
{
    const net::Response answer = call(net::Method::kPost, "/placements:preview", stepped(1e6).dump());

    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(Json::parse(answer.body)["split"][0]["run"], "steps");
}

} // namespace
} // namespace fathom::server
