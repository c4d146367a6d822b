#include "core/decide/trust/health.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fathom {
namespace {

using namespace std::chrono_literals;

const Timestamp kNow = parse_rfc3339("2026-11-21T12:00:00Z").value();

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
    EXPECT_FALSE(judge_center(of_one, {{"t"}, 5}, {.ambiguous_failure_submitters = 1}, kNow).is_bad)
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

} // namespace
} // namespace fathom
