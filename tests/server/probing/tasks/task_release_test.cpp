#include "server/probing/results/probe_results.hpp"
#include "server/probing/tasks/probe_planning.hpp"
#include "server/probing/tasks/task_release.hpp"
#include "tests/server/probing/probing_fixture.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// {op1, op3} run on u1 and u2 of alpha (M8's golden catalog).
class TaskRelease : public ProbingFixture {
  protected:
    TaskRelease() : ProbingFixture({"op1", "op2", "op3", "op4", "op5"})
    {
        test::add_center(store_, "alpha", test::golden_catalog());
    }

    std::string unit_type(const std::string& name) const
    {
        return store_.sql("SELECT id FROM unit_type WHERE name = '" + name + "'");
    }
    RequestedProbes request(const std::vector<std::string>& names, const std::string& type = "solver")
    {
        std::vector<UnitTypeId> targets;
        for (const std::string& name : names)
            targets.push_back({unit_type(name)});
        return store_
            .run([&](pqxx::work& transaction) {
                return planning_.request_probes(transaction, type, {use_of("op1", 3000), use_of("op3", 2000)}, targets);
            })
            .value();
    }
    ProbeProgress progress(const std::string& type = "solver")
    {
        return store_.run([&](pqxx::work& transaction) { return planning_.probe_progress(transaction, type); }).value();
    }
    std::string state() const { return store_.sql("SELECT state FROM probe_task"); }
    std::string runs() const
    {
        return store_.sql(
            "SELECT coalesce(string_agg(u.name || ':' || r.cause || ':' || r.state, ' ' ORDER BY r.id), '') "
            "FROM probe_run r JOIN unit_type u ON u.id = r.unit_type_id");
    }
    JobId job_of(const ProbeRunId& run) const
    {
        return {store_.sql("SELECT job_id FROM probe_run WHERE id = '" + run.value + "'")};
    }
    void end(EndedProbeJob ended)
    {
        store_.run([&](pqxx::work& transaction) { return results_.probe_job_ended(transaction, ended); }).value();
    }
    void pass(const ProbeRunId& run, double error = 0)
    {
        const ProbeTask task =
            parse_probe_task(Json::parse(store_.sql("SELECT document FROM probe_run WHERE id = '" + run.value + "'")))
                .value();
        ProbeResult result = test::right_result(task);
        result.operators[0].error = error;
        EndedProbeJob ended;
        ended.job = job_of(run);
        ended.succeeded = true;
        ended.outcome = AttemptOutcome::kExited;
        ended.stdout_text = to_json(result).dump();
        end(ended);
    }
    void fail(const ProbeRunId& run, AttemptOutcome outcome, const std::string& words = "")
    {
        EndedProbeJob ended;
        ended.job = job_of(run);
        ended.reason = "exited with code 3";
        ended.outcome = outcome;
        ended.stderr_text = words;
        end(ended);
    }
    ProbeTaskRecord composed()
    {
        ProbeTask document;
        document.name = "mine";
        document.operators = {use_of("op1", 3)};
        return io_.run(service_.create_tasks(expert_, {.document = document, .job_type = "solver"})).value().front();
    }
    Result<ProbingService::StepAnswer> move(const ProbeTaskRecord& task, ProbingService::TaskStep step)
    {
        const ProbingService::VersionCheck any = [](std::int64_t) { return true; };
        return io_.run(service_.move_task(expert_, task.id.value, step, any));
    }

    using Step = ProbingService::TaskStep;
    ProbePlanning planning_{operators_, writer_};
    Metrics metrics_;
    ProbeResults results_{operators_, writer_, metrics_, {}};
};

TEST_F(TaskRelease, ATaskOfAJobIsTriedOnOneUnitThenMeasuredOnTheOthers)
{
    const RequestedProbes requested = request({"u1", "u2"});
    ASSERT_EQ(requested.runs.size(), 1U);
    EXPECT_TRUE(requested.is_pretest);
    EXPECT_EQ(state(), "testing");
    EXPECT_TRUE(progress().is_pending);
    const std::string tried = store_.sql("SELECT u.name FROM probe_run r JOIN unit_type u ON u.id = r.unit_type_id");

    pass(requested.runs[0]);

    EXPECT_EQ(state(), "released");
    EXPECT_EQ(store_.sql("SELECT count(*) FROM measurement"), "2") << "a pre-test measures";
    const std::string other = tried == "u1" ? "u2" : "u1";
    EXPECT_EQ(runs(), tried + ":pretest:succeeded " + other + ":arrival:queued") << "nothing is measured twice";
    EXPECT_TRUE(progress().is_pending) << "the job still waits for the other unit type";
    EXPECT_EQ(store_.sql("SELECT string_agg(o->>'count', ' ' ORDER BY o->>'id') "
                         "FROM probe_task, jsonb_array_elements(document->'operators') o"),
              "3 2")
        << "M4";
}

TEST_F(TaskRelease, SeveralJobsOfATypeShareOnePretest)
{
    const RequestedProbes first = request({"u1"});
    const RequestedProbes second = request({"u1", "u2"});

    EXPECT_EQ(second.runs, first.runs);
    pass(first.runs[0]);
    EXPECT_EQ(runs(), "u1:pretest:succeeded u2:arrival:queued") << "what the second job waits for follows too";
}

TEST_F(TaskRelease, AReleasedTaskIsMeasuredAtOnce)
{
    pass(request({"u1"}).runs[0]);

    const RequestedProbes again = request({"u2"});

    EXPECT_FALSE(again.is_pretest);
    EXPECT_EQ(runs(), "u1:pretest:succeeded u2:arrival:queued");
    EXPECT_EQ(request({"u2"}).runs, again.runs) << "a run that waits is joined";
}

TEST_F(TaskRelease, ATaskThatIsTooSlowIsRefusedWithItsFigure)
{
    const RequestedProbes requested = request({"u1", "u2"});
    fail(requested.runs[0], AttemptOutcome::kExited,
         "warning\nfathom-probe: took longer than its limit of 10 s: it would take about 31.4 s\n");

    EXPECT_EQ(state(), "refused");
    EXPECT_FALSE(progress().is_pending);
    EXPECT_THAT(progress().refusal, HasSubstr("limit of 10 s: it would take about 31.4 s"));
    const RequestedProbes again = request({"u1"});
    EXPECT_TRUE(again.runs.empty());
    EXPECT_THAT(again.obstacle, HasSubstr("31.4 s"));
    store_.sql("UPDATE probe_task SET state_changed_at = now() - interval '2 days'");
    EXPECT_EQ(request({"u1"}).runs.size(), 1U) << "a refusal is not for ever";
}

TEST_F(TaskRelease, WrongResultsAndNonsenseAreRefused)
{
    pass(request({"u1"}).runs[0], /*error=*/1);
    EXPECT_EQ(state(), "refused");
    EXPECT_THAT(progress().refusal, HasSubstr("op1(n=10) is wrong: relative error 1"));
}

TEST_F(TaskRelease, APlaceThatFailsIsNotTheTasksFault)
{
    const RequestedProbes requested = request({"u1", "u2"});
    fail(requested.runs[0], AttemptOutcome::kLost);
    EXPECT_EQ(state(), "testing") << "tried at the next place";

    const ProbeRunId second{store_.sql("SELECT pretest_run_id FROM probe_task")};
    EXPECT_NE(second, requested.runs[0]);
    fail(second, AttemptOutcome::kFailedToStart);
    EXPECT_EQ(state(), "draft") << "no place is left";
    EXPECT_FALSE(progress().is_pending);
    EXPECT_THAT(progress().refusal, HasSubstr("could not be tried"));
    EXPECT_EQ(request({"u1"}).runs.size(), 1U) << "the next job tries again";
}

TEST_F(TaskRelease, APretestAtASilentCenterIsHeldElsewhere)
{
    const RequestedProbes requested = request({"u1", "u2"});
    const std::string stuck = requested.runs[0].value;
    store_.sql("UPDATE job SET state = 'lost'");

    const RequestedProbes again = request({"u1", "u2"});

    ASSERT_EQ(again.runs.size(), 1U);
    EXPECT_NE(again.runs[0].value, stuck);
    pass(again.runs[0]);
    EXPECT_EQ(state(), "released");
    pass(requested.runs[0]); // it came back: an ordinary measurement by now
    EXPECT_EQ(state(), "released");
    EXPECT_EQ(store_.sql("SELECT count(*) FROM measurement"), "4");
}

TEST_F(TaskRelease, TheSmallestFreeUnitTakesTheTest)
{
    store_.sql("UPDATE unit_type SET cores_per_unit = CASE name WHEN 'u1' THEN 8 ELSE 2 END");
    const auto place = [&](const std::vector<std::string>& among = {}) {
        return store_
            .run([&](pqxx::work& transaction) -> Result<std::string> {
                const std::vector<UnitTypeOffer> offers = unit_type_offers(transaction);
                const UnitTypeOffer* offer = choose_test_place(offers, {use_of("op1"), use_of("op3")}, among);
                return offer == nullptr ? std::string("nowhere") : offer->name;
            })
            .value();
    };
    EXPECT_EQ(place(), "u2");
    EXPECT_EQ(place({unit_type("u1")}), "u1");
    EXPECT_EQ(place({unit_type("u3")}), "nowhere") << "it does not run op3";
    store_.sql("INSERT INTO job (id, name, project, spec, submitted_by) VALUES ('job_x', 'n', 'p', '{}', 't')");
    store_.sql("INSERT INTO attempt (id, job_id, epoch, center_id, unit_type_id, unit_count, decided_by) "
               "SELECT 'att_x', 'job_x', 1, center_id, id, 20, 'rep' FROM unit_type WHERE name = 'u2'");
    EXPECT_EQ(place(), "u1") << "u2 has no free unit";
    store_.sql("UPDATE center SET drained = true");
    EXPECT_EQ(place(), "nowhere");
}

TEST_F(TaskRelease, AnExpertTestsThenReleases)
{
    const ProbeTaskRecord task = composed();
    EXPECT_THAT(move(task, Step::kRelease).error().detail, HasSubstr("it was never tested"));
    EXPECT_EQ(move(task, Step::kRelease).error().code, Errc::kConflict);

    EXPECT_EQ(move(task, Step::kTest).value().task.state, ProbeTaskState::kTesting);
    EXPECT_EQ(move(task, Step::kTest).error().code, Errc::kConflict);
    pass({store_.sql("SELECT pretest_run_id FROM probe_task")});
    EXPECT_EQ(state(), "tested");
    EXPECT_EQ(store_.sql("SELECT pretest_s FROM probe_task"), "2");

    EXPECT_EQ(move(task, Step::kRelease).value().task.state, ProbeTaskState::kReleased);
    EXPECT_EQ(move(task, Step::kRetire).value().task.state, ProbeTaskState::kRetired);
    EXPECT_EQ(move(task, Step::kTest).error().code, Errc::kConflict);
    EXPECT_EQ(store_.sql("SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log"),
              "probe_task.create probe_task.test probe_task.release probe_task.retire");
}

TEST_F(TaskRelease, ARefusedTaskIsNotReleased)
{
    const ProbeTaskRecord task = composed();
    move(task, Step::kTest).value();
    fail({store_.sql("SELECT pretest_run_id FROM probe_task")}, AttemptOutcome::kExited,
         "fathom-probe: took longer than its limit of 10 s: it would take about 99.0 s\n");

    const Error refused = move(task, Step::kRelease).error();
    EXPECT_EQ(refused.code, Errc::kConflict);
    EXPECT_THAT(refused.detail, HasSubstr("about 99.0 s"));
    EXPECT_TRUE(move(task, Step::kTest)) << "it may be tried again";
}

TEST_F(TaskRelease, OnlyReleasedTasksRunUnlessForced)
{
    const ProbeTaskRecord task = composed();
    RunOrder order;
    order.probe_task_id = task.id.value;
    EXPECT_EQ(io_.run(service_.create_runs(expert_, order)).error().code, Errc::kConflict);
    order.is_forced = true;
    EXPECT_TRUE(io_.run(service_.create_runs(expert_, order)));
}

TEST_F(TaskRelease, AStoredTaskRunsByItsJobType)
{
    RunOrder order;
    order.job_type = "solver";
    EXPECT_EQ(io_.run(service_.create_runs(expert_, order)).error().fields.at(0).field, "job_type");
    pass(request({"u1"}).runs[0]);
    EXPECT_EQ(io_.run(service_.create_runs(expert_, order)).value().runs.size(), 2U);
}

TEST_F(TaskRelease, WhatAJobTaughtIsTriedAndMeasuredEverywhere)
{
    const auto keep = [&] {
        const LearnedTask learned{
            .job_type = "solver", .operators = {use_of("op1", 3000), use_of("op3", 2000)}, .job = JobId::make()};
        return store_.run([&](pqxx::work& transaction) { return planning_.keep_learned_task(transaction, learned); })
            .value();
    };
    const ProbeTaskId task = keep();
    EXPECT_EQ(state(), "testing");
    pass({store_.sql("SELECT pretest_run_id FROM probe_task")});
    EXPECT_EQ(state(), "released");
    EXPECT_THAT(runs(), HasSubstr(":learned:queued"));
    const std::string before = runs();
    EXPECT_EQ(keep(), task);
    EXPECT_EQ(runs(), before) << "the same again is no news";
}

TEST_F(TaskRelease, ATaskIsMadeFromAJob)
{
    jobs_.jobs["job_1"] = {"solver", "my job", {use_of("op1", 3000), use_of("op2", 1)}};
    const auto make = [&](TaskForm form) {
        return io_.run(service_.create_tasks(expert_, {.from_job = "job_1", .form = form}));
    };
    const std::vector<ProbeTaskRecord> one = make(TaskForm::kOneTask).value();
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].job_type, "solver");
    EXPECT_EQ(one[0].name, "my job");
    EXPECT_EQ(one[0].from_job, "job_1");
    EXPECT_EQ(one[0].document.operators[0].count, 3);
    EXPECT_EQ(one[0].document.operators[1].count, 1);
    EXPECT_EQ(make(TaskForm::kSeveralTasks).value().size(), 2U) << "M5: operators that share no data";
    jobs_.jobs["job_1"].operators.clear();
    EXPECT_EQ(make(TaskForm::kOneTask).error().fields.at(0).field, "from_job");
    EXPECT_EQ(io_.run(service_.create_tasks(expert_, {.from_job = "job_2"})).error().fields.at(0).field, "from_job");
}

} // namespace
} // namespace fathom::server
