#include "server/probing/findings/findings_service.hpp"
#include "server/probing/findings/run_evidence.hpp"
#include "server/probing/findings/verification_store.hpp"
#include "server/probing/results/probe_results.hpp"
#include "tests/server/probing/probing_fixture.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using test::right_result;
using testing::HasSubstr;

/// One queued run of op1 on unit type u1 of center alpha; results are verified.
class FindingsTest : public ProbingFixture {
  protected:
    FindingsTest() : ProbingFixture({"op1"})
    {
        test::add_center(store_, "alpha", test::golden_catalog());
        run_ = new_run();
        task_ = parse_probe_task(run_.document).value();
    }

    ProbeRunRecord new_run()
    {
        const ProbeRunRecord made =
            io_.run(service_.create_runs(expert_, order_on("alpha/u1", {"op1"}))).value().runs.front();
        return io_.run(service_.get_run(made.id.value)).value();
    }

    EndedProbeJob ended(const ProbeRunRecord& run, const ProbeResult& result) const
    {
        EndedProbeJob ended;
        ended.job = run.job_id;
        ended.succeeded = true;
        ended.stdout_text = to_json(result).dump();
        return ended;
    }
    void end(const ProbeRunRecord& run, const ProbeResult& result)
    {
        store_.run([&](pqxx::work& transaction) { return results_.probe_job_ended(transaction, ended(run, result)); })
            .value();
    }
    /// "checksum checksum late"
    std::string kinds() { return store_.sql("SELECT string_agg(kind, ' ' ORDER BY id) FROM probe_finding"); }
    std::string state(const ProbeRunRecord& run)
    {
        return store_.sql("SELECT state || ': ' || error FROM probe_run WHERE id = '" + run.id.value + "'");
    }

    Metrics metrics_;
    ProbeResults results_{operators_, writer_, metrics_, {.is_possible = true, .share = 0}};
    FindingsService findings_{store_.database()};
    ProbeRunRecord run_;
    ProbeTask task_;
};

TEST_F(FindingsTest, TheResultOfAnotherSeedIsKeptApart)
{
    ProbeResult result = right_result(task_);
    result.seed = task_.seed - 1;
    end(run_, result);

    EXPECT_EQ(kinds(), "checksum");
    EXPECT_THAT(state(run_), HasSubstr("failed: "));
    EXPECT_EQ(store_.sql("SELECT count(*) FROM measurement"), "0");
}

TEST_F(FindingsTest, GarbageIsNonsense)
{
    ProbeResult result = right_result(task_);
    result.operators[0].first_s = -1;
    end(run_, result);

    EXPECT_EQ(kinds(), "nonsense");
}

TEST_F(FindingsTest, ASecondResultAndALateOneChangeNothing)
{
    end(run_, right_result(task_));
    ProbeResult faster = right_result(task_);
    for (double& sample : faster.operators[0].samples_s)
        sample /= 2;
    faster.operators[0].median_s /= 2;
    end(run_, faster);
    end(run_, faster);
    const ProbeRunRecord lost = new_run();
    store_.sql("UPDATE probe_run SET state = 'lost' WHERE id = '" + lost.id.value + "'");
    end(lost, right_result(parse_probe_task(lost.document).value()));

    EXPECT_EQ(kinds(), "doubled late") << "repeats of one report are one finding";
    EXPECT_EQ(store_.sql("SELECT count(*) || '/' || max(median_s) FROM measurement"), "1/0.2");
    EXPECT_THAT(state(lost), HasSubstr("lost: "));
}

TEST_F(FindingsTest, AnEndThatIsToldLateIsMeasuredAgainBeforeItIsAFinding)
{
    const auto end_late = [&](const ProbeRunRecord& run) {
        store_.sql("UPDATE center SET connected_at = now() - interval '1 hour'");
        // Events from before the database's start are no evidence.
        store_.sql("SELECT pg_sleep(greatest(0, 7.5 - extract(epoch FROM now() - pg_postmaster_start_time())))");
        store_.sql("INSERT INTO job_event (job_id, state, cause, at) VALUES ('" + run.job_id.value +
                   "', 'running', '', now() - interval '7 seconds')");
        end(run, right_result(parse_probe_task(run.document).value())); // claims 2 s
    };

    end_late(run_);
    EXPECT_EQ(store_.sql("SELECT count(*) FROM probe_finding"), "0");
    EXPECT_THAT(state(run_), HasSubstr("lost: its end was told late"));
    const ProbeRunRecord again =
        io_.run(service_.get_run(store_.sql("SELECT id FROM probe_run WHERE repeats_run_id = '" + run_.id.value + "'")))
            .value();
    EXPECT_EQ(again.state, "queued");

    end_late(again);
    EXPECT_EQ(kinds(), "clock");
    EXPECT_THAT(state(again), HasSubstr("failed: the run took 2 s by the center's clock"));
    EXPECT_EQ(store_.sql("SELECT count(*) FROM probe_run WHERE repeats_run_id = '" + again.id.value + "'"), "0");
}

TEST_F(FindingsTest, SeenIsWhatOurOwnClockSawWhileTheLinkHeld)
{
    const auto seen = [&] {
        return store_
            .run([&](pqxx::work& transaction) -> Result<RunEvidence> {
                return select_evidence(transaction, *lock_run_of_job(transaction, run_.job_id));
            })
            .value()
            .seen_s;
    };
    EXPECT_FALSE(seen()) << "nobody has reported its start";
    store_.sql("UPDATE center SET connected_at = now() - interval '1 hour'");
    store_.sql("INSERT INTO job_event (job_id, state, cause) VALUES ('" + run_.job_id.value + "', 'running', '')");
    ASSERT_TRUE(seen());
    EXPECT_LT(*seen(), 60);
    store_.sql("UPDATE center SET connected_at = now()");
    EXPECT_FALSE(seen()) << "its report of the end may have waited for the link";
}

TEST_F(FindingsTest, AClockOfOursThatWentBackIsNoEvidence)
{
    store_.sql("UPDATE center SET connected_at = now() - interval '1 hour'");
    store_.sql("INSERT INTO job_event (job_id, state, cause, at) VALUES ('" + run_.job_id.value +
               "', 'running', '', now() + interval '1 hour')");
    store_.sql("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, state, decided_by, "
               "dispatched_at) SELECT 'att_1', '" +
               run_.job_id.value +
               "', 1, center_id, id, 1, 'running', 't', now() + interval '1 hour' FROM unit_type WHERE name = 'u1'");

    const RunEvidence evidence =
        store_
            .run([&](pqxx::work& transaction) -> Result<RunEvidence> {
                return select_evidence(transaction, *lock_run_of_job(transaction, run_.job_id));
            })
            .value();

    EXPECT_FALSE(evidence.seen_s);
    EXPECT_FALSE(evidence.ordered_s);
}

TEST(JudgeEvidence, AClockThatIsTooSlowIsSeenByOurs)
{
    ProbeTask task;
    task.operators.resize(1);
    const ProbeResult result = right_result(task); // claims 2 s
    RunEvidence evidence;
    EXPECT_FALSE(judge_evidence(result, evidence));
    evidence.seen_s = 2.5;
    evidence.ordered_s = 30;
    EXPECT_FALSE(judge_evidence(result, evidence));
    evidence.seen_s = 7;

    const std::optional<Finding> alone = judge_evidence(result, evidence);
    ASSERT_TRUE(alone);
    EXPECT_EQ(alone->kind, FindingKind::kClock);
    EXPECT_THAT(alone->detail, HasSubstr("2 s by the center's clock, 7 s by ours"));
    EXPECT_FALSE(alone->is_pattern || alone->evidence.contains("runs_before")) << "it accuses no other run";
    EXPECT_TRUE(alone->may_be_late);
}

TEST(JudgeEvidence, APatternOfRunsAccusesThemAll)
{
    ProbeTask task;
    task.operators.resize(1);
    RunEvidence evidence;
    evidence.seen_s = 4; // of 2 s
    evidence.clocked.assign(4, {2, 4});
    evidence.clocked_runs = {"a", "b", "c", "d"};

    const std::optional<Finding> finding = judge_evidence(right_result(task), evidence);

    ASSERT_TRUE(finding);
    EXPECT_TRUE(finding->is_pattern);
    EXPECT_EQ(finding->evidence["runs_before"].size(), 4U);
}

TEST(JudgeEvidence, MoreTimeThanSinceTheOrderCannotBe)
{
    ProbeTask task;
    task.operators.resize(5); // 6 s
    RunEvidence evidence;
    evidence.ordered_s = 0.5;

    const std::optional<Finding> finding = judge_evidence(right_result(task), evidence);

    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->kind, FindingKind::kClock);
}

TEST_F(FindingsTest, FasterThanHardwareCanBeIsKeptApart)
{
    ProbeResult result = right_result(task_);
    result.operators[0].samples_s = {1e-12, 1e-12, 1e-12}; // 80 bytes in a picosecond
    result.operators[0].median_s = result.operators[0].ci_low_s = result.operators[0].ci_high_s = 1e-12;
    end(run_, result);

    EXPECT_EQ(kinds(), "rate");
}

TEST_F(FindingsTest, OneThreadCannotBeFasterThanACoreCanBe)
{
    ProbeResult result = right_result(task_);
    result.operators[0].one_thread = SampledTimes{{1e-12, 1e-12, 1e-12}, {1, 1, 1}, 1e-12, 1e-12, 1e-12};
    end(run_, result);

    EXPECT_EQ(kinds(), "rate");
}

TEST_F(FindingsTest, TheFirstResultOfAUnitTypeIsVerifiedAndAWrongOneLosesAll)
{
    end(run_, right_result(task_));
    const ProbeRunRecord second = new_run();
    end(second, right_result(parse_probe_task(second.document).value()));
    EXPECT_EQ(store_.sql("SELECT string_agg(verification, ' ' ORDER BY id) FROM probe_run"), "pending none");

    store_
        .run([](pqxx::work& transaction) -> Result<void> {
            const auto order = claim_verification(transaction);
            EXPECT_TRUE(order && order->obstacle.empty());
            conclude_verification(transaction, *order, {VerificationOutcome::kWrong, "op1(n=10): checksum"});
            EXPECT_FALSE(claim_verification(transaction));
            return {};
        })
        .value();

    EXPECT_EQ(kinds(), "checksum");
    EXPECT_EQ(store_.sql("SELECT count(*) FROM measurement WHERE void_reason = ''"), "0") << "nor the unverified one";
    EXPECT_EQ(store_.sql("SELECT count(*) FROM measurement"), "2") << "they stay readable";
}

TEST_F(FindingsTest, ResultsOfOneOrderThatDifferAreVerified)
{
    end(run_, right_result(task_));
    store_.sql("UPDATE probe_run SET verification = 'right'");
    const ProbeRunRecord second = new_run();
    // The same order: same seed, same sizes.
    store_.sql("UPDATE probe_run SET order_id = '" + run_.order_id + "', document = (SELECT document FROM probe_run " +
               "WHERE id = '" + run_.id.value + "') WHERE id = '" + second.id.value + "'");
    ProbeResult other = right_result(task_);
    other.operators[0].checksum = "1234";
    end(second, other);

    EXPECT_EQ(store_.sql("SELECT verification FROM probe_run WHERE id = '" + second.id.value + "'"), "pending");
}

TEST_F(FindingsTest, AreListedAndDismissed)
{
    ProbeResult result = right_result(task_);
    result.seed = task_.seed - 1;
    end(run_, result);
    const FindingRecord finding =
        io_.run(findings_.list({.center = "alpha", .kind = "", .is_open = true}, 10, "")).value().items.at(0);

    const Caller caller{"tok_expert", "req"};
    const FindingRecord dismissed = io_.run(findings_.dismiss(caller, std::to_string(finding.id), "a mistake")).value();

    EXPECT_EQ(dismissed.dismissed_by, "tok_expert");
    EXPECT_EQ(store_.sql("SELECT count(*) FROM audit_log WHERE action = 'probe_finding.dismiss'"), "1");
    EXPECT_TRUE(io_.run(findings_.list({.center = "", .kind = "", .is_open = true}, 10, "")).value().items.empty());
    EXPECT_EQ(io_.run(findings_.dismiss(caller, "999", "x")).error().code, Errc::kNotFound);
    EXPECT_EQ(io_.run(findings_.list({}, 10, "x")).error().code, Errc::kInvalid);
}

} // namespace
} // namespace fathom::server
