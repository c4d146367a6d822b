#include "tests/server/jobs/jobs_fixture.hpp"

#include <cmath>

namespace fathom::server {
namespace {

/// Jobs that run, and what the next ones are told.
class History : public JobsFixture {
  protected:
    static Json dgemm_job(const std::string& center = "")
    {
        return spec({{"operators", {{{"id", "dgemm"}, {"count", 100}}}}, {"units", {{"center", center}}}});
    }
    static Json unknown_job(const std::string& center = "")
    {
        return spec({{"type", "mystery"}, {"units", {{"center", center}}}});
    }
    void end(const JobId& job, double run_s)
    {
        AttemptEnd ended;
        ended.outcome = AttemptOutcome::kExited;
        ended.exit_code = 0;
        ended.started_at = clock_.now();
        ended.ended_at = clock_.now();
        ended.run_s = run_s;
        ASSERT_TRUE(report_end(job, ended));
    }
    /// Runs this job so often, each for `run_s`.
    void run_jobs(const Json& job, int count, double run_s)
    {
        for (int i = 0; i < count; ++i) {
            const JobId id = submit(job);
            route();
            end(id, run_s);
        }
    }
    /// Reads the catalog until it has learned from all runs that have ended: it takes a share of the time only.
    void learn()
    {
        const std::int64_t ended =
            std::stoll(sql("SELECT count(*) FROM prediction WHERE outcome = 'succeeded' AND run_s > 0"));
        ASSERT_TRUE(test::eventually([&] {
            reload_catalog();
            const RouteKnowledge& known = catalog_.get()->knowledge;
            return known.runs && known.runs->calibration().job_count == ended;
        }));
    }
    /// The same until it has learned from so many.
    void learn_runs(std::size_t count)
    {
        ASSERT_TRUE(test::eventually([&] {
            reload_catalog();
            const RouteKnowledge& known = catalog_.get()->knowledge;
            return known.runs && known.runs->runs().size() == count;
        }));
    }
    /// An unknown job of a type of its own, whose submitter asks for so long.
    Json asking_job(const std::string& type, std::int64_t wall_limit_s)
    {
        return spec({{"type", type}, {"wall_limit_s", wall_limit_s}});
    }
    Json winner_of(const JobId& job)
    {
        const Json placement = Json::parse(call(net::Method::kGet, "/jobs/" + job.value + "/placement").body);
        return placement["decision"]["candidates"][placement["decision"]["winner"].get<std::size_t>()];
    }
    Json place(const Json& job)
    {
        const JobId id = submit(job);
        route();
        Json winner = winner_of(id);
        end(id, 1);
        return winner;
    }
};

TEST_F(History, AUnitTypeThatTakesTwiceItsRawPredictionIsPredictedSoAndLosesJobs)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.02); // raw prediction: 2.1 s
    add_measurement(add_center("beta"), 0.03);  // raw prediction: 3.1 s
    const JobId first = submit(dgemm_job());
    route();
    const Json before = winner_of(first);
    end(first, 4.2);
    run_jobs(dgemm_job("alpha"), 9, 4.2);
    run_jobs(dgemm_job("beta"), 10, 3.1);

    learn();
    const Json at_alpha = place(dgemm_job("alpha"));
    const Json chosen = place(dgemm_job());

    EXPECT_EQ(before["center"], "alpha");
    EXPECT_NEAR(before["prediction"]["run_s"].get<double>(), 2.1, 1e-6);
    EXPECT_EQ(chosen["center"], "beta");
    EXPECT_GT(at_alpha["prediction"]["run_s"].get<double>(), 3.5);
    EXPECT_LT(at_alpha["prediction"]["run_s"].get<double>(), 4.3);
    EXPECT_NEAR(chosen["prediction"]["run_s"].get<double>(), 3.1, 0.4);
    EXPECT_LT(chosen["prediction"]["low_s"].get<double>(), 3.1);
    EXPECT_GT(chosen["prediction"]["high_s"].get<double>(), 3.1);
    EXPECT_EQ(chosen["correction"]["job_count"], 10);
    EXPECT_NEAR(chosen["correction"]["raw_prediction_s"].get<double>(), 3.1, 1e-6)
        << "trust is judged by raw predictions";
    EXPECT_EQ(sql("SELECT round(avg(raw_prediction_s)::numeric, 3) FROM prediction p JOIN unit_type u ON "
                  "u.id = p.unit_type_id JOIN center c ON c.id = u.center_id WHERE c.name = 'alpha'"),
              "2.100");
}

TEST_F(History, WhereNothingIsKnownOfARunNoneIsPredicted)
{
    add_operators();
    add_center("alpha"); // and nothing was measured
    Json asked = dgemm_job();
    asked["metering_wait_s"] = 0; // placed on what is known
    const JobId job = submit(asked);
    route();

    const Json predicted = Json::parse(call(net::Method::kGet, "/jobs/" + job.value).body)["predicted"];

    EXPECT_EQ(winner_of(job)["prediction"]["run_s"], 0) << "a lower bound of what is not known";
    EXPECT_TRUE(predicted["run_s"].is_null()) << predicted;
    EXPECT_TRUE(predicted["low_s"].is_null()) << predicted;
    EXPECT_TRUE(predicted["high_s"].is_null()) << predicted;
    EXPECT_TRUE(predicted["wait_s"].is_number()) << predicted;
}

TEST_F(History, AJobThatFollowsAnotherOfItsTypeAtOnceIsToldWhatThatTook)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.02); // raw prediction: 2.1 s
    const JobId first = submit(dgemm_job());
    route();
    end(first, 4.2);
    // Reading runs may take a twentieth of the time; nobody has read the catalog since.
    ASSERT_TRUE(test::eventually([&] { return std::chrono::steady_clock::now() >= catalog_.runs_due(); },
                                 std::chrono::minutes(5)));

    const Json second = place(dgemm_job());

    EXPECT_EQ(second["correction"]["job_count"], 1);
    EXPECT_GT(second["prediction"]["run_s"].get<double>(), 2.5);
}

TEST_F(History, WhatAClusterDidToARunTeachesNoRunTime)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.02); // raw prediction: 2.1 s
    for (const AttemptOutcome outcome :
         {AttemptOutcome::kNodeFailure, AttemptOutcome::kPreempted, AttemptOutcome::kOutOfMemory}) {
        const JobId job = submit(dgemm_job());
        route();
        AttemptEnd ended;
        ended.outcome = outcome;
        ended.started_at = ended.ended_at = clock_.now();
        ended.run_s = 40;
        ASSERT_TRUE(report_end(job, ended));
    }
    run_jobs(dgemm_job(), 1, 2.1);

    learn();

    EXPECT_EQ(catalog_.get()->knowledge.runs->calibration().job_count, 1);
    EXPECT_NEAR(place(dgemm_job())["prediction"]["run_s"].get<double>(), 2.1, 0.1);
}

TEST_F(History, WhatWasLearnedBeforeAUnitTypeWasMeasuredAgainDoesNotCorrectItTwice)
{
    add_operators();
    const std::string alpha = add_center("alpha");
    add_measurement(alpha, 0.02);
    run_jobs(dgemm_job(), 10, 4.2);
    learn();
    const double learned_s = place(dgemm_job())["prediction"]["run_s"].get<double>();

    add_measurement(alpha, 0.04); // raw prediction: 4.1 s
    sql("UPDATE unit_type SET drift_requested_at = now()");
    ASSERT_TRUE(test::eventually([&] {
        reload_catalog();
        return catalog_.get()->knowledge.runs->calibration().job_count == 0;
    }));

    EXPECT_GT(learned_s, 3.3);
    EXPECT_NEAR(place(dgemm_job())["prediction"]["run_s"].get<double>(), 4.1, 1e-6);
}

TEST_F(History, ResultsOfAnotherVersionOfAnOperatorPredictNothing)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.02);
    Json job = dgemm_job();
    job["metering_wait_s"] = 0; // placed on what is known
    const Json before = place(job);
    sql("UPDATE measurement SET operator_version = 7");
    reload_catalog();
    const Json after = place(job);

    EXPECT_EQ(before["prediction"]["unknown_operators"], 0);
    EXPECT_EQ(after["prediction"]["unknown_operators"], 1);
}

TEST_F(History, AnUnknownJobTakesWhatItsTypeTookAndSaysSo)
{
    add_center("alpha");
    add_center("beta");
    const Json before = place(unknown_job("alpha"));
    run_jobs(unknown_job("alpha"), 8, 60);
    run_jobs(unknown_job("beta"), 8, 20);

    learn();
    const Json after = place(unknown_job());

    EXPECT_EQ(before["prediction"]["run_s"], 0);
    EXPECT_EQ(after["center"], "beta");
    EXPECT_NEAR(after["prediction"]["run_s"].get<double>(), 20, 1e-6);
    EXPECT_EQ(after["run_basis"], "8 runs of its type there");
}

TEST_F(History, WhatAJobMovesItselfIsNotTakenForItsProgramsTime)
{
    add_transfer(add_center("alpha"), 1.0); // 1 MB/s
    ASSERT_TRUE(test::eventually([&] {
        reload_catalog();
        return catalog_.get()->unit_types.front().network != nullptr;
    }));
    Json moving = unknown_job("alpha");
    moving["data"] = {{"out_bytes", 3e7}};
    run_jobs(moving, 8, 50); // 30 s of it to move them

    learn_runs(8);
    const JobId again = submit(moving);
    const JobId without = submit(unknown_job("alpha"));
    route();

    EXPECT_NEAR(winner_of(again)["prediction"]["run_s"].get<double>(), 50, 1) << "not 80: they are moved once";
    EXPECT_NEAR(winner_of(without)["prediction"]["run_s"].get<double>(), 20, 1);
    EXPECT_NEAR(std::stod(sql("SELECT max(transfers_s) FROM prediction")), 30, 1);
    EXPECT_EQ(std::stod(sql("SELECT transfers_s FROM prediction WHERE job_id = '" + without.value + "'")), 0);
}

TEST_F(History, AFasterNetworkThanPredictedLeavesAProgramSomeTime)
{
    add_center("alpha");
    for (int i = 0; i < 4; ++i) {
        const JobId id = submit(unknown_job("alpha"));
        route();
        sql("UPDATE prediction SET transfers_s = 30 WHERE job_id = '" + id.value + "'");
        end(id, 10);
    }

    learn_runs(4);
    const JobId job = submit(unknown_job("alpha"));
    route();

    EXPECT_NEAR(winner_of(job)["prediction"]["run_s"].get<double>(), 1, 0.01);
}

TEST_F(History, AJobThatOnlyAsksForTimeIsPredictedByWhatItsSubmitterUsuallyUsesOfIt)
{
    add_center("alpha");
    // A third of what is asked for, each time by a job of another type: from 10 minutes to 4 hours.
    for (int i = 0; i < 24; ++i) {
        const std::int64_t asked_s = 600 * (1 + (i * 7) % 24);
        const JobId job = submit(asking_job("type" + std::to_string(i), asked_s));
        route();
        end(job, static_cast<double>(asked_s) / 3);
    }
    learn_runs(24);

    const JobId short_job = submit(asking_job("new", 900));
    route();
    const Json shorter = winner_of(short_job);
    end(short_job, 300);
    const JobId long_job = submit(asking_job("new2", 9000));
    route();
    const Json longer = winner_of(long_job);

    EXPECT_NEAR(shorter["prediction"]["run_s"].get<double>(), 300, 120);
    EXPECT_NEAR(longer["prediction"]["run_s"].get<double>(), 3000, 1000);
    EXPECT_LE(longer["prediction"]["high_s"].get<double>(), 9000);
    EXPECT_NE(longer["run_basis"].get<std::string>().find("% of the time asked for ("), std::string::npos)
        << longer["run_basis"];
    EXPECT_EQ(sql("SELECT asked_s FROM prediction WHERE job_id = '" + long_job.value + "'"), "9000");
}

TEST_F(History, WhatWasEndedAtItsLimitTeachesOnlyHowMuchIsAskedFor)
{
    add_center("alpha");
    const JobId cut_off = submit(asking_job("mystery", 300));
    route();
    AttemptEnd ended;
    ended.outcome = AttemptOutcome::kWallLimit;
    ended.started_at = ended.ended_at = clock_.now();
    ended.run_s = 300;
    ASSERT_TRUE(report_end(cut_off, ended));
    learn_runs(1);

    const RunHistory& runs = *catalog_.get()->knowledge.runs;

    EXPECT_FALSE(runs.estimate("mystery", "any"));
    EXPECT_TRUE(runs.runs().front().is_cut_off);
    EXPECT_EQ(runs.runs().front().asked_s, 300);
    EXPECT_TRUE(runs.asked_time("mystery", {}, 600).share);
}

TEST_F(History, OfRunsItIsKnownWhatOthersWereExpectedToMakeOfThem)
{
    add_center("alpha");
    const JobId job = submit(unknown_job());
    route();
    EXPECT_EQ(sql("SELECT host_slowdown || ' ' || gpu_slowdown FROM prediction"), "1 1");
    sql("UPDATE prediction SET host_slowdown = 2, gpu_slowdown = 1.5");
    end(job, 60);
    learn_runs(1);

    const PastRun run = catalog_.get()->knowledge.runs->runs().front();
    EXPECT_EQ(run.slowdown, 3);
    EXPECT_EQ(sql("SELECT decided_at = '" + format_rfc3339(run.decided_at) + "' FROM prediction"), "t");
}

TEST_F(History, TheUsualLimitIsNobodysWord)
{
    add_center("alpha");
    run_jobs(unknown_job(), 1, 60);

    learn_runs(1);

    EXPECT_EQ(sql("SELECT asked_s FROM prediction"), "0");
    EXPECT_FALSE(catalog_.get()->knowledge.runs->asked_time("mystery", {}, 600).share);
}

} // namespace
} // namespace fathom::server
