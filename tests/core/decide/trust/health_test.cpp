#include "core/decide/trust/drift.hpp"
#include "core/decide/trust/health.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fathom {
namespace {

using namespace std::chrono_literals;

const Timestamp kNow = parse_rfc3339("2026-11-21T12:00:00Z").value();

// Quarantine

EndedAttempt ended(std::chrono::seconds ago, bool is_centers_fault, bool has_failed, double run_s = 5)
{
    return {.ended_at = kNow - ago,
            .is_centers_fault = is_centers_fault,
            .run_s = run_s,
            .has_failed = has_failed,
            .job_type = "t",
            .submitter = "ann",
            .unit_type = "u1"};
}

/// So many attempts that failed half a second after their start, of these submitters in turn.
std::vector<EndedAttempt> failed_at_once(std::size_t count, const std::vector<std::string>& submitters)
{
    std::vector<EndedAttempt> attempts(count, ended(60s, false, true, 0.5));
    for (std::size_t i = 0; i < count; ++i)
        attempts[i].submitter = submitters[i % submitters.size()];
    return attempts;
}

using Ids = std::vector<std::string>;

std::vector<EndedAttempt> ended(std::size_t failed, std::size_t good)
{
    std::vector<EndedAttempt> attempts(failed, ended(60s, true, true));
    attempts.insert(attempts.end(), good, ended(60s, false, false));
    return attempts;
}

TEST(JudgeCenter, TakesAsManyFailuresAndAsLargeAShareAsTheRuleSays)
{
    EXPECT_FALSE(judge_center(ended(4, 0), {}, {}, kNow).is_bad) << "too few";
    EXPECT_TRUE(judge_center(ended(5, 0), {}, {}, kNow).is_bad);
    EXPECT_TRUE(judge_center(ended(8, 8), {}, {}, kNow).is_bad) << "half of 16";
    EXPECT_FALSE(judge_center(ended(8, 9), {}, {}, kNow).is_bad);
    EXPECT_FALSE(judge_center({}, {}, {.least_failures = 0}, kNow).is_bad);

    const QuarantineVerdict verdict = judge_center(ended(8, 1), {}, {}, kNow);

    EXPECT_EQ(verdict.failures, 8);
    EXPECT_EQ(verdict.attempts, 9);
    EXPECT_EQ(verdict.reason, "8 of 9 attempts failed by its fault within 10 min");
}

TEST(JudgeCenter, ForgetsWhatIsOlderThanTheWindow)
{
    std::vector<EndedAttempt> attempts(9, ended(601s, true, true));
    EXPECT_FALSE(judge_center(attempts, {}, {}, kNow).is_bad);
    EXPECT_EQ(judge_center(attempts, {}, {}, kNow).attempts, 0);

    attempts.assign(9, ended(599s, true, true));
    EXPECT_TRUE(judge_center(attempts, {}, {}, kNow).is_bad);
}

TEST(JudgeCenter, SeesABlackHoleByWhatSucceedsElsewhere)
{
    const std::vector<EndedAttempt> attempts = failed_at_once(9, {"ann", "bob"});

    EXPECT_FALSE(judge_center(attempts, {{}, 2}, {}, kNow).is_bad)
        << "nobody has run such jobs well: they may be broken";
    EXPECT_TRUE(judge_center(attempts, {{"s", "t"}, 2}, {}, kNow).is_bad);
}

TEST(JudgeCenter, TakesFailuresAfterALongRunForTheJobsOwn)
{
    const std::vector<EndedAttempt> attempts(9, ended(60s, false, true, 300));

    const QuarantineVerdict verdict = judge_center(attempts, {{"t"}, 1, true}, {}, kNow);

    EXPECT_FALSE(verdict.is_bad);
    EXPECT_EQ(verdict.suspected_unit_types, Ids{});
}

TEST(JudgeCenter, NoSubmitterAloneClosesItForOthers)
{
    const std::vector<EndedAttempt> of_one = failed_at_once(9, {"mallory"});
    for (const std::int64_t submitters : {1, 2, 3, 5})
        EXPECT_FALSE(judge_center(of_one, {{"t"}, submitters}, {}, kNow).is_bad) << submitters;

    const std::vector<EndedAttempt> of_two = failed_at_once(9, {"mallory", "ann"});
    EXPECT_TRUE(judge_center(of_two, {{"t"}, 2}, {}, kNow).is_bad) << "all there were";
    EXPECT_FALSE(judge_center(of_two, {{"t"}, 3}, {}, kNow).is_bad);

    const std::vector<EndedAttempt> of_three = failed_at_once(9, {"mallory", "ann", "bob"});
    EXPECT_TRUE(judge_center(of_three, {{"t"}, 5}, {}, kNow).is_bad);
    EXPECT_FALSE(judge_center(of_one, {{"t"}, 5}, {.doubtful_failure_submitters = 1}, kNow).is_bad)
        << "no rule lets one alone";
}

TEST(JudgeCenter, AFailedProbeStandsForTheSubmittersThatAreMissing)
{
    const QuarantineVerdict verdict = judge_center(failed_at_once(9, {"ann"}), {{"t"}, 1, true}, {}, kNow);

    EXPECT_TRUE(verdict.is_bad);
    EXPECT_EQ(verdict.failures, 9);
    EXPECT_EQ(verdict.reason, "9 of 9 attempts failed by its fault within 10 min, and so did a probe");
    EXPECT_EQ(verdict.suspected_unit_types, Ids{});

    EXPECT_FALSE(judge_center(failed_at_once(4, {"ann"}), {{"t"}, 1, true}, {}, kNow).is_bad) << "too few all the same";
    EXPECT_FALSE(judge_center(failed_at_once(9, {"ann"}), {{}, 1, true}, {}, kNow).is_bad) << "such jobs may be broken";
}

TEST(JudgeCenter, SuspectsTheUnitTypesWhereOneSubmittersJobsFail)
{
    std::vector<EndedAttempt> attempts = failed_at_once(5, {"ann"});
    attempts[0].unit_type = "u2";
    attempts.push_back(ended(60s, false, false));
    attempts.back().unit_type = "u3";

    const QuarantineVerdict verdict = judge_center(attempts, {{"t"}, 1}, {}, kNow);

    EXPECT_FALSE(verdict.is_bad);
    EXPECT_EQ(verdict.failures, 0);
    EXPECT_EQ(verdict.suspected_unit_types, (Ids{"u1", "u2"}));
    // What would not close it whoever met it is no ground for suspicion; what closes it anyway needs none.
    EXPECT_EQ(judge_center(failed_at_once(4, {"ann"}), {{"t"}, 1}, {}, kNow).suspected_unit_types, Ids{});
    attempts.insert(attempts.end(), 5, ended(60s, false, false));
    EXPECT_EQ(judge_center(attempts, {{"t"}, 1}, {}, kNow).suspected_unit_types, Ids{}) << "5 of 11";
    EXPECT_EQ(judge_center(failed_at_once(9, {"ann", "bob"}), {{"t"}, 2}, {}, kNow).suspected_unit_types, Ids{});
}

TEST(JudgeCenter, DoubtsJobsThatWereLostWhileTheyRan)
{
    std::vector<EndedAttempt> attempts(9, ended(60s, false, true, 300));
    for (EndedAttempt& one : attempts)
        one.was_lost_running = true;

    EXPECT_FALSE(judge_center(attempts, {{}, 1}, {}, kNow).is_bad) << "they may have cancelled themselves";
    EXPECT_EQ(judge_center(attempts, {{}, 1}, {}, kNow).suspected_unit_types, Ids{"u1"});
    EXPECT_TRUE(judge_center(attempts, {{}, 1, true}, {}, kNow).is_bad);
    attempts[0].submitter = "bob";
    EXPECT_TRUE(judge_center(attempts, {{}, 2}, {}, kNow).is_bad);
}

TEST(JudgeCenter, SuspectsByQuickFailuresTogetherWithItsOwnFaults)
{
    std::vector<EndedAttempt> attempts = failed_at_once(2, {"ann"});
    attempts.insert(attempts.end(), 3, ended(60s, true, true));

    EXPECT_EQ(judge_center(attempts, {{"t"}, 1}, {}, kNow).suspected_unit_types, Ids{"u1"});
    EXPECT_TRUE(judge_center(attempts, {{"t"}, 1, true}, {}, kNow).is_bad);

    attempts.insert(attempts.end(), 2, ended(60s, true, true));
    const QuarantineVerdict verdict = judge_center(attempts, {{"t"}, 1}, {}, kNow);
    EXPECT_TRUE(verdict.is_bad) << "5 of its own";
    EXPECT_EQ(verdict.failures, 5);
    EXPECT_EQ(verdict.suspected_unit_types, Ids{});
}

TEST(PauseBeforeNextCheck, DoublesWithEachProbeUpToAnHour)
{
    const QuarantineRule rule;

    EXPECT_EQ(pause_before_next_check(rule, 1), 120s);
    EXPECT_EQ(pause_before_next_check(rule, 2), 240s);
    EXPECT_EQ(pause_before_next_check(rule, 50), 3600s);
}

TEST(PauseBeforeProbe, DoublesWithEachBadProbeUpToAnHour)
{
    const QuarantineRule rule;

    EXPECT_EQ(pause_before_probe(rule, 0, 0), 60s);
    EXPECT_EQ(pause_before_probe(rule, 0, 1), 120s);
    EXPECT_EQ(pause_before_probe(rule, 0, 2), 240s);
    EXPECT_EQ(pause_before_probe(rule, 0, 50), 3600s);
    EXPECT_EQ(pause_before_probe(rule, 1, 0), 0s);
}

// Drift

/// A network whose jobs are wrong by their type, and by their type on each unit type.
class Jobs {
  public:
    explicit Jobs(unsigned seed, double noise = 0.1) : random_(seed), noise_(noise) {}

    double normal() { return normal_(random_); }
    /// `count` jobs of a type, one a minute from `start` on, off by a factor.
    void add(const std::string& unit_type, const std::string& job_type, int count, double factor, Timestamp start)
    {
        for (int i = 0; i < count; ++i)
            residuals.push_back({{unit_type, job_type, 10, 10 * factor * std::exp(noise_ * normal())},
                                 start + i * std::chrono::minutes(1)});
    }

    std::vector<TimedResidual> residuals;

  private:
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
    double noise_;
};

const Timestamp kStart = kNow - 24h;

TEST(FindDrift, NoticesThirtyPercentWithinTwentyJobs)
{
    int found = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        Jobs jobs(seed);
        std::map<std::string, Timestamp> measured_at;
        for (const char* unit_type : {"a", "b", "c", "d", "e"}) {
            jobs.add(unit_type, "t", 30, 1.2, kStart);
            measured_at[unit_type] = kStart;
        }
        jobs.add("c", "t", 20, 1.2 * 1.3, kStart + 2h);
        const std::vector<Drift> drifts = find_drift(jobs.residuals, measured_at);
        if (drifts.size() != 1) continue;
        EXPECT_EQ(drifts[0].unit_type, "c");
        EXPECT_GT(drifts[0].ratio, 1.1);
        ++found;
    }
    EXPECT_GE(found, 195);
}

TEST(FindDrift, NoticesItEarlyWithAnEstimateOfIt)
{
    Jobs jobs(1);
    jobs.add("a", "t", 30, 0.9, kStart);
    jobs.add("a", "t", 10, 0.9 * 1.5, kStart + 2h);

    const std::vector<Drift> drifts = find_drift(jobs.residuals, {{"a", kStart + 1h}});

    ASSERT_EQ(drifts.size(), 1U);
    EXPECT_NEAR(drifts[0].ratio, 1.5, 0.15);
    EXPECT_LE(drifts[0].job_count, 10);
    EXPECT_THAT(drifts[0].reason, ::testing::HasSubstr("jobs took 1."));
}

TEST(FindDrift, NoticesWhatBecameFaster)
{
    Jobs jobs(2);
    jobs.add("a", "t", 30, 1, kStart);
    jobs.add("a", "t", 20, 0.7, kStart + 2h);

    const std::vector<Drift> drifts = find_drift(jobs.residuals, {{"a", kStart}});

    ASSERT_EQ(drifts.size(), 1U);
    EXPECT_LT(drifts[0].ratio, 0.8);
}

TEST(FindDrift, JoinsTheWordOfSeveralJobTypes)
{
    Jobs jobs(3);
    for (const auto& [type, factor] : {std::pair{"r", 0.5}, {"s", 1.0}, {"t", 3.0}}) {
        jobs.add("a", type, 15, factor, kStart);
        jobs.add("a", type, 7, factor * 1.3, kStart + 2h);
    }

    EXPECT_EQ(find_drift(jobs.residuals, {{"a", kStart}}).size(), 1U);
}

TEST(FindDrift, HonestNetworksAreSeldomAccused)
{
    int accused = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
        Jobs jobs(seed, 0.1 + 0.05 * (seed % 5));
        std::map<std::string, Timestamp> measured_at;
        std::map<std::string, double> of_type;
        for (const char* type : {"r", "s", "t"})
            of_type[type] = std::exp(0.5 * jobs.normal());
        for (const char* unit_type : {"a", "b", "c", "d", "e", "f"}) {
            measured_at[unit_type] = kStart + 30min * (seed % 3);
            for (const auto& [type, factor] : of_type)
                jobs.add(unit_type, type, 40, factor * std::exp(0.2 * jobs.normal()), kStart);
        }
        accused += find_drift(jobs.residuals, measured_at).empty() ? 0 : 1;
    }
    EXPECT_LE(accused, 15) << "1 % of 1 000, with the luck of the draw";
}

TEST(FindDrift, HonestNetworksWithoutAPastAreSeldomAccused)
{
    int accused = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
        Jobs jobs(seed);
        std::map<std::string, Timestamp> measured_at;
        for (const char* unit_type : {"a", "b", "c", "d"}) {
            measured_at[unit_type] = kStart - 1s;
            jobs.add(unit_type, "t", 8, std::exp(0.2 * jobs.normal()), kStart);
        }
        accused += find_drift(jobs.residuals, measured_at).empty() ? 0 : 1;
    }
    EXPECT_LE(accused, 15);
}

TEST(FindDrift, IsNotFooledByOneOddJob)
{
    Jobs jobs(4);
    jobs.add("a", "t", 30, 1, kStart);
    jobs.add("a", "t", 1, 1000, kStart + 1h);
    jobs.add("a", "t", 9, 1, kStart + 2h);

    EXPECT_TRUE(find_drift(jobs.residuals, {{"a", kStart}}).empty());
}

TEST(FindDrift, AJobTypeThatChangedEverywhereSaysNothingOfOnePlace)
{
    Jobs jobs(5);
    std::map<std::string, Timestamp> measured_at;
    for (const char* unit_type : {"a", "b", "c"}) {
        jobs.add(unit_type, "t", 30, 1, kStart);
        jobs.add(unit_type, "t", 20, 2, kStart + 2h);
        measured_at[unit_type] = kStart;
    }

    EXPECT_TRUE(find_drift(jobs.residuals, measured_at).empty());
}

TEST(FindDrift, WhatWasMeasuredAgainIsQuietAtOnce)
{
    Jobs jobs(6);
    for (const char* unit_type : {"a", "b"})
        jobs.add(unit_type, "t", 30, 1, kStart);
    jobs.add("a", "t", 20, 1.5, kStart + 2h);
    ASSERT_EQ(find_drift(jobs.residuals, {{"a", kStart}, {"b", kStart}}).size(), 1U);

    // Measured, so that what is predicted fits again; the slow runs of before still stand there.
    EXPECT_TRUE(find_drift(jobs.residuals, {{"a", kStart + 3h}, {"b", kStart}}).empty());
    jobs.add("a", "t", 12, 1, kStart + 4h);

    EXPECT_TRUE(find_drift(jobs.residuals, {{"a", kStart + 3h}, {"b", kStart}}).empty());
}

TEST(FindDrift, WithoutAPastOnlyMuchMoreThanOthersCounts)
{
    Jobs jobs(7);
    for (const char* unit_type : {"a", "b", "c"})
        jobs.add(unit_type, "t", 20, 1, kStart);
    const auto measured_at = [](const char* unit_type) {
        return std::map<std::string, Timestamp>{{unit_type, kStart}};
    };
    jobs.add("near", "t", 20, 1.4, kStart + 1h);
    jobs.add("far", "t", 20, 2.5, kStart + 1h);

    EXPECT_TRUE(find_drift(jobs.residuals, measured_at("near")).empty());
    EXPECT_EQ(find_drift(jobs.residuals, measured_at("far")).size(), 1U);
}

TEST(FindDrift, LeavesOutWhatWasNeverMeasuredAndTimesThatAreNone)
{
    Jobs jobs(8);
    jobs.add("a", "t", 30, 1, kStart);
    jobs.add("a", "t", 20, 3, kStart + 2h);
    EXPECT_TRUE(find_drift(jobs.residuals, {}).empty());

    for (TimedResidual& one : jobs.residuals)
        one.residual.predicted_s = 0;
    EXPECT_TRUE(find_drift(jobs.residuals, {{"a", kStart}}).empty());
    EXPECT_TRUE(find_drift({}, {{"a", kStart}}).empty());
}

TEST(FindDrift, NoticesASlowUnitTypeInALargeNetworkWithoutAPast)
{
    Jobs jobs(7);
    std::map<std::string, Timestamp> measured_at{{"slow", kStart - 1h}};
    jobs.add("slow", "scf", 5, 3, kStart);
    for (int i = 0; i < 4000; ++i) {
        const std::string unit_type = "u" + std::to_string(i);
        jobs.add(unit_type, "scf", 5, 1, kStart);
        measured_at[unit_type] = kStart - 1h;
    }
    const std::vector<Drift> drifts = find_drift(jobs.residuals, measured_at);

    // 1 % over 12 003 looks, with five runs: the rank sum alone never says so much.
    EXPECT_TRUE(drifts.empty());
    EXPECT_EQ(find_drift(jobs.residuals, {{"slow", kStart - 1h}}).size(), 1U);
}

TEST(FindDrift, DoesNotDependOnOrder)
{
    Jobs jobs(9);
    jobs.add("a", "t", 30, 1, kStart);
    jobs.add("a", "t", 20, 1.3, kStart + 2h);
    const std::vector<Drift> forwards = find_drift(jobs.residuals, {{"a", kStart}});
    std::reverse(jobs.residuals.begin(), jobs.residuals.end());

    const std::vector<Drift> backwards = find_drift(jobs.residuals, {{"a", kStart}});

    ASSERT_EQ(forwards.size(), 1U);
    ASSERT_EQ(backwards.size(), 1U);
    EXPECT_EQ(forwards[0].ratio, backwards[0].ratio);
}

} // namespace
} // namespace fathom
