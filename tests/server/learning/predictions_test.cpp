#include "server/learning/calibration.hpp"
#include "server/learning/health_store.hpp"
#include "server/learning/learning_api.hpp"
#include "server/learning/learning_service.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"
#include "tests/server/jobs/locked_table.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <future>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

class Predictions : public JobsFixture {
  protected:
    Predictions()
    {
        add_operators();
        unit_type_ = add_center("alpha");
        add_measurement(unit_type_, 0.01);
        reload_catalog();
    }

    JobId place()
    {
        const JobId job = submit(
            spec({{"type", "products"}, {"metering_wait_s", 0}, {"operators", {{{"id", "dgemm"}, {"count", 100}}}}}));
        route();
        EXPECT_EQ(state_of(job), "placed");
        return job;
    }
    /// A column of the job's only prediction, as PostgreSQL writes it; empty for NULL.
    std::string column(const JobId& job, const std::string& expression) const
    {
        return sql("SELECT " + expression + " FROM prediction WHERE job_id = '" + job.value + "'");
    }
    AttemptEnd exited(std::int64_t code, double run_s) const
    {
        AttemptEnd end;
        end.outcome = AttemptOutcome::kExited;
        end.exit_code = code;
        end.started_at = SystemClock().now();
        end.ended_at = SystemClock().now();
        end.run_s = run_s;
        return end;
    }

    std::string unit_type_;
};

TEST_F(Predictions, StandBesideEachPlacement)
{
    const JobId job = place();

    EXPECT_EQ(column(job, "count(*)"), "1");
    EXPECT_EQ(column(job, "attempt_id"), attempt_of(job).value);
    EXPECT_EQ(column(job, "unit_type_id"), unit_type_);
    EXPECT_EQ(column(job, "job_type"), "products");
    EXPECT_EQ(column(job, "round(raw_prediction_s::numeric, 6)"), "1.100000") << "0.1 s of start-up, 100 times 10 ms";
    EXPECT_EQ(column(job, "raw_prediction_low_s <= raw_prediction_s AND raw_prediction_s <= raw_prediction_high_s"),
              "t");
    EXPECT_EQ(column(job, "run_s > 0 AND low_s <= run_s AND run_s <= high_s"), "t");
    EXPECT_EQ(column(job, "ended_at IS NULL AND outcome = '' AND actual_run_s IS NULL"), "t");
}

TEST_F(Predictions, AreCompletedOnceByTheEnd)
{
    const JobId job = place();
    ASSERT_TRUE(report_start(job));
    ASSERT_TRUE(report_end(job, exited(0, 1.25)));
    ASSERT_TRUE(report_end(job, exited(3, 9)));

    EXPECT_EQ(column(job, "actual_run_s"), "1.25");
    EXPECT_EQ(column(job, "outcome"), "succeeded");
    EXPECT_EQ(column(job, "actual_wait_s >= 0 AND actual_cost = 0"), "t") << "it has no price";
    EXPECT_EQ(column(job, "ended_at <= now()"), "t");
    EXPECT_EQ(column(job, "count(*)"), "1");
}

TEST_F(Predictions, EndByOurClockWhenThatOfTheCenterIsBehind)
{
    const JobId job = place();
    AttemptEnd end = exited(0, 1.25);
    end.attempt_id = attempt_of(job);
    end.ended_at -= std::chrono::hours(48);

    ASSERT_TRUE(run(report(attempts_, center_of(job), link::AttemptEnded{end})));

    EXPECT_EQ(column(job, "ended_at BETWEEN decided_at AND now()"), "t");
}

TEST_F(Predictions, CostInProportionToTheirTimeWhereTheirUnitsHaveLeftTheCatalog)
{
    const JobId job = place();
    ASSERT_TRUE(report_start(job));
    sql("UPDATE prediction SET cost = 3, run_s = 2");
    sql("UPDATE unit_type SET active = false");
    reload_catalog();

    ASSERT_TRUE(report_end(job, exited(0, 4)));

    EXPECT_EQ(column(job, "actual_cost"), "6");
}

TEST_F(Predictions, AreListedByOwnerAndPlace)
{
    const JobId job = place();
    add_center("beta");
    LearningService learning(database_, metrics_, clock_, compute_);
    const auto found = [&](const std::string& owner, const std::string& center = "", const std::string& unit_type = "",
                           bool is_ended_only = false) {
        PredictionFilter filter;
        filter.scope.owner = owner;
        filter.center = center;
        filter.unit_type = unit_type;
        filter.is_ended_only = is_ended_only;
        return run(learning.list(std::move(filter), 10, "")).value().items.size();
    };
    const std::string own = sql("SELECT submitted_by FROM job WHERE id = '" + job.value + "'");

    EXPECT_EQ(column(job, "submitted_by"), own);
    EXPECT_EQ(found(""), 1U);
    EXPECT_EQ(found(own), 1U);
    EXPECT_EQ(found("tok_other"), 0U);
    EXPECT_EQ(found(own, "alpha"), 1U);
    EXPECT_EQ(found("tok_other", "alpha"), 0U);
    EXPECT_EQ(found(own, "beta"), 0U);
    EXPECT_EQ(found(own, "", "alpha/core"), 1U);
    EXPECT_EQ(found(own, "", unit_type_, true), 0U);
}

TEST_F(Predictions, TellFailuresApart)
{
    const JobId failed = place();
    ASSERT_TRUE(report_end(failed, exited(3, 1)));
    const JobId lost = place();
    AttemptEnd end;
    end.outcome = AttemptOutcome::kLost;
    end.started_at = SystemClock().now();
    end.ended_at = SystemClock().now();
    ASSERT_TRUE(report_end(lost, end));

    EXPECT_EQ(column(failed, "outcome"), "failed");
    EXPECT_EQ(column(lost, "outcome"), "lost");
    EXPECT_EQ(column(lost, "actual_run_s IS NULL AND actual_cost IS NULL"), "t") << "nobody knows";
}

TEST_F(Predictions, AreCalibratedForATokenTwiceAtOnce)
{
    LearningService learning(database_, metrics_, clock_, compute_);
    add_learning_routes(api_, learning);
    const auto status = [this] { return call(net::Method::kGet, "/predictions:calibration").status; };
    ASSERT_EQ(status(), 200);
    LockedTable table(database_, "prediction");
    auto first = std::async(std::launch::async, status);
    auto second = std::async(std::launch::async, status);
    const bool both_wait = test::eventually([&] { return sql(kCountLockWaits) == "2"; });

    const int third = status();
    table.release();

    EXPECT_TRUE(both_wait);
    EXPECT_EQ(third, 429);
    EXPECT_EQ(first.get(), 200);
    EXPECT_EQ(second.get(), 200);
    EXPECT_EQ(status(), 200);
}

TEST(PredictionRungs, AreToldApartInTheCalibration)
{
    const Timestamp now = SystemClock().now();
    const auto ended = [&](const std::string& basis, std::chrono::minutes ago) {
        PredictionRecord record;
        record.job_type = "scf";
        record.unit_type_id = {"ut_1"};
        record.raw_basis = basis;
        record.raw = record.run = {60, 55, 66};
        record.actual_run_s = 60;
        record.ended_at = now - ago;
        record.outcome = "succeeded";
        return record;
    };
    const std::vector<PredictionRecord> records{ended("reference", 10min), ended("reference", 20min),
                                                ended("reference", 30min)};

    const Json json = to_json(calibrate_network(records, now));

    const Json& by_rung = json["by_rung"];
    ASSERT_EQ(by_rung.size(), 2U);
    EXPECT_EQ(by_rung[0]["rung"], "runs");
    EXPECT_EQ(by_rung[0]["run"]["job_count"], 2);
    EXPECT_EQ(by_rung[1]["rung"], "reference");
    EXPECT_EQ(by_rung[1]["run"]["job_count"], 1);
    EXPECT_EQ(by_rung[1]["run"]["within_share"], 1);
}

TEST(PredictionRungs, AreThoseOfTheOwnerWhenTheJobWasDecidedOn)
{
    const Timestamp now = SystemClock().now();
    const auto ended = [&](const std::string& owner, std::chrono::minutes decided_ago, std::chrono::minutes ago) {
        PredictionRecord record;
        record.owner = owner;
        record.job_type = "scf";
        record.unit_type_id = {"ut_1"};
        record.raw_basis = "operators";
        record.raw = record.run = {60, 55, 66};
        record.actual_run_s = 60;
        record.decided_at = now - decided_ago;
        record.ended_at = now - ago;
        record.outcome = "succeeded";
        return record;
    };
    const std::vector<PredictionRecord> records{ended("bob", 15min, 10min), ended("ada", 40min, 20min),
                                                ended("ada", 40min, 30min)};

    const NetworkCalibration found = calibrate_network(records, now);

    ASSERT_EQ(found.by_rung.size(), 1U) << "none could rest on runs";
    EXPECT_EQ(found.by_rung[0].rung, Rung::kOperators);
    EXPECT_EQ(found.by_rung[0].run.job_count, 3);
}

TEST_F(Predictions, NodeFailuresSpeakAgainstTheirCenterPreemptionsAndWantOfMemoryDoNot)
{
    for (const AttemptOutcome outcome :
         {AttemptOutcome::kNodeFailure, AttemptOutcome::kPreempted, AttemptOutcome::kOutOfMemory}) {
        const JobId job = place();
        ASSERT_TRUE(report_start(job));
        AttemptEnd end = exited(0, 2);
        end.exit_code.reset();
        end.outcome = outcome;
        ASSERT_TRUE(report_end(job, end));
        EXPECT_EQ(column(job, "outcome"), to_string(outcome));
        EXPECT_EQ(column(job, "actual_cost"), "0") << "it has no price";
    }
    const auto select = [](pqxx::work& transaction) -> Result<std::vector<CenterAttempts>> {
        return select_center_attempts(transaction, std::chrono::minutes(10));
    };

    const std::vector<CenterAttempts> centers = run(database_.run(select)).value();

    ASSERT_EQ(centers.size(), 1U);
    std::vector<std::pair<bool, bool>> said; // by its fault, failed
    for (const fathom::EndedAttempt& one : centers[0].attempts)
        said.emplace_back(one.is_centers_fault, one.has_failed);
    EXPECT_THAT(said, ::testing::UnorderedElementsAre(std::pair(true, true), std::pair(false, false)))
        << "the pre-emption is left out";
    EXPECT_THAT(centers[0].types_that_succeed, ::testing::IsEmpty());
}

/// Of an attempt that failed to start.
AttemptEnd not_started(AttemptEnd end, AttemptCause cause, const std::string& detail)
{
    end.exit_code.reset();
    end.started_at.reset();
    end.outcome = AttemptOutcome::kFailedToStart;
    end.cause = cause;
    end.detail = detail;
    return end;
}

TEST_F(Predictions, WhatFailedToStartSpeaksAgainstTheCenterByItsCauseAndNotByItsWords)
{
    const std::vector<std::pair<AttemptCause, std::string>> ends{
        {AttemptCause::kNone, "staging failed: no disk"},
        {AttemptCause::kStagingFailed, "the server answered 404"},
        {AttemptCause::kProgramNotStarted, "not there"}};
    for (const auto& [cause, detail] : ends) {
        const JobId job = place();
        ASSERT_TRUE(report_end(job, not_started(exited(0, 0), cause, detail)));
    }
    const auto select = [](pqxx::work& transaction) -> Result<std::vector<CenterAttempts>> {
        return select_center_attempts(transaction, std::chrono::minutes(10));
    };

    const std::vector<CenterAttempts> centers = run(database_.run(select)).value();

    ASSERT_EQ(centers.size(), 1U);
    const auto& attempts = centers[0].attempts;
    EXPECT_EQ(attempts.size(), 3U);
    EXPECT_EQ(std::count_if(attempts.begin(), attempts.end(), [](const auto& one) { return one.is_centers_fault; }), 1);
}

TEST_F(Predictions, AUserWithoutALocalUserSpeaksNotAgainstTheCenter)
{
    const JobId job = place();
    const AttemptEnd end = not_started(exited(0, 0), AttemptCause::kNoLocalUser, "this center has none for ann");
    ASSERT_TRUE(report_end(job, end));
    ASSERT_EQ(column(job, "outcome"), "failed_to_start");
    const auto select = [](pqxx::work& transaction) -> Result<std::vector<CenterAttempts>> {
        return select_center_attempts(transaction, std::chrono::minutes(10));
    };

    EXPECT_THAT(run(database_.run(select)).value(), ::testing::IsEmpty());
}

TEST_F(Predictions, OfAnAttemptThatWasNeverSentEndWithIt)
{
    const JobId job = place();
    sql("UPDATE center SET state = 'lost'");

    ASSERT_EQ(run(periodic_tasks_.follow_centers()).value(), 1);

    EXPECT_EQ(state_of(job), "queued");
    EXPECT_EQ(column(job, "outcome"), "lost");
    EXPECT_EQ(column(job, "actual_cost"), "0");
    sql("UPDATE center SET state = 'online'");
    reload_catalog();
    route();
    EXPECT_EQ(column(job, "count(*)"), "2") << "another attempt, another prediction";
}

TEST_F(Predictions, AreNotMadeForProbes)
{
    const JobId job = submit();
    sql("UPDATE job SET label = 'probe'");
    route();

    EXPECT_EQ(state_of(job), "placed");
    EXPECT_EQ(sql("SELECT count(*) FROM prediction"), "0");
}

TEST_F(Predictions, QuarantinedCentersTakeProbesOnly)
{
    sql("UPDATE center SET quarantined_at = now(), quarantine_reason = '8 of 9 attempts failed'");
    reload_catalog();
    const JobId job = submit();
    const JobId probe = submit();
    sql("UPDATE job SET label = 'probe' WHERE id = '" + probe.value + "'");
    route();

    EXPECT_EQ(state_of(job), "queued");
    EXPECT_EQ(state_of(probe), "placed");
    EXPECT_THAT(sql("SELECT waiting_reason FROM job WHERE id = '" + job.value + "'"),
                ::testing::HasSubstr("the center is quarantined: 8 of 9 attempts failed"));
}

TEST_F(Predictions, UnitsOfACenterThatWasJustQuarantinedGoToNoJob)
{
    // The snapshot is older than the quarantine.
    sql("UPDATE center SET quarantined_at = now()");
    const JobId job = submit();
    route();

    EXPECT_EQ(state_of(job), "queued");
}

} // namespace
} // namespace fathom::server
