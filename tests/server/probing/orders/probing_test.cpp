#include "core/decide/probing/copies_plan.hpp"
#include "core/decide/statistics/slowdown.hpp"
#include "server/probing/tasks/full_benchmark_task.hpp"
#include "server/probing/tasks/probe_planning.hpp"
#include "tests/server/probing/probing_fixture.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

namespace fathom::server {
namespace {

using testing::ElementsAre;

class Probing : public ProbingFixture {
  protected:
    Probing() : ProbingFixture({"op1", "op2", "op3", "op4", "op5"})
    {
        center_ = test::add_center(store_, "alpha", test::golden_catalog());
    }

    Result<std::vector<ProbeRunRecord>> create(RunOrder order)
    {
        Result<ProbingService::CreatedRuns> created = io_.run(service_.create_runs(expert_, std::move(order)));
        if (!created) return created.error();
        return std::move(created->runs);
    }
    static std::vector<std::string> unit_types(const std::vector<ProbeRunRecord>& runs)
    {
        std::vector<std::string> names;
        for (const ProbeRunRecord& run : runs)
            names.push_back(run.unit_type);
        return names;
    }

    CenterId center_;
};

TEST_F(Probing, RunsGoWhereTheCatalogSaysThatTheyCan)
{
    EXPECT_THAT(unit_types(create(order_of({"op1", "op3"})).value()), ElementsAre("u1", "u2"));
    EXPECT_THAT(unit_types(create(order_of({"op2", "op5"})).value()), ElementsAre("u2", "u3"));
    EXPECT_EQ(create(order_of({"op4", "op5"})).error().code, Errc::kInfeasible);
    EXPECT_EQ(store_.sql("SELECT count(*) FROM probe_task"), "2") << "a refused order leaves nothing behind";
}

TEST_F(Probing, ARunIsAnOrdinaryJobWithALabel)
{
    RunOrder order = order_of({"op4"});
    order.places.unit_counts = {3};
    const ProbeRunRecord run = create(order).value().front();

    const auto& [job, spec] = writer_.jobs.front();
    EXPECT_EQ(run.job_id, job);
    EXPECT_EQ(run.state, "queued");
    EXPECT_EQ(run.cause, "command");
    EXPECT_THAT(spec.command, ElementsAre("fathom-probe", "--task", "probe-task.json"));
    const ProbeTask task = parse_probe_task(Json::parse(spec.files.at("probe-task.json"))).value();
    EXPECT_EQ(task.operators.front().id, "op4");
    EXPECT_EQ(task.operators.front().version, 1);
    EXPECT_EQ(spec.units.type, run.unit_type_id.value);
    EXPECT_EQ(spec.units.center, center_.value);
    EXPECT_EQ(spec.units.count, 3);
    EXPECT_EQ(spec.metering_wait_s, 0);
    EXPECT_EQ(spec.wall_limit_s, 70);
    EXPECT_TRUE(parse_job_spec(to_json(spec))) << "a client could have sent it";
}

TEST_F(Probing, CopiesSideBySideAreOneJobOnAsManyUnits)
{
    store_.sql("UPDATE center SET host_id = 'h1'");
    RunOrder order = order_of({"op4"});
    order.places.mode = ScalingMode::kThroughput;
    order.places.unit_counts = {3};
    const ProbeRunRecord run = create(order).value().front();

    const JobSpec& spec = writer_.jobs.front().second;
    EXPECT_THAT(spec.command, ElementsAre("fathom-probe", "--task", "probe-task.json", "--copies", "3"));
    EXPECT_EQ(spec.units.count, 3);
    EXPECT_EQ(run.mode, ScalingMode::kThroughput);
    EXPECT_EQ(to_json(run)["mode"], "throughput");
    const ProbeTask task = parse_probe_task(Json::parse(spec.files.at("probe-task.json"))).value();
    EXPECT_EQ(task.limit_s, copies_limit_s(10)) << "copies are measured alone, too";
    EXPECT_EQ(spec.wall_limit_s, 90);

    order.places.mode = ScalingMode::kStrong;
    EXPECT_NE(create(order).value().front().id, run.id) << "three units on one problem are another run";
    order.places.mode = ScalingMode::kThroughput;
    EXPECT_EQ(create(order).value().front().id, run.id) << "it waits already";
}

TEST_F(Probing, CopiesHaveSamplesEnoughForMeans)
{
    constexpr auto kMinSamples = static_cast<std::int64_t>(kMinForMeans);
    EXPECT_GE(ProbeTask{}.repeats, kMinSamples);
    EXPECT_GE(full_benchmark_task({}).repeats, kMinSamples);
}

TEST_F(Probing, CopiesAreRefusedWhereUnitsAreNotOfOneHost)
{
    RunOrder order = order_of({"op4"});
    order.places.mode = ScalingMode::kThroughput;
    order.places.unit_counts = {2};
    order.places.selection = RunSelection::kUser;
    order.places.unit_types = {"alpha/u1"};

    const auto refused = create(order);

    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().fields.at(0).detail,
                testing::HasSubstr("does not run jobs itself (Slurm, Kubernetes)"));
}

TEST_F(Probing, AnOrderOfCopiesIsReadWithItsCounts)
{
    const auto read = [](const Json& more) {
        Json json = {{"operators", {{{"id", "op4"}}}}, {"mode", "throughput"}};
        json.update(more);
        return parse_run_order(json);
    };
    EXPECT_EQ(read(Json::object())->places.count_by, CountBy::kScaling) << "as many as tell a curve";
    EXPECT_THAT(read({{"unit_counts", {4, 2}}})->places.unit_counts, ElementsAre(2, 4));
    EXPECT_EQ(read({{"unit_count", 2}})->places.mode, ScalingMode::kThroughput);
    EXPECT_FALSE(read({{"unit_count", 1}}));
    EXPECT_FALSE(read({{"unit_counts", {2, 65}}}));
    EXPECT_FALSE(read({{"count_by", "center"}}));
    EXPECT_FALSE(read({{"mode", "weak"}}));
}

TEST_F(Probing, ACenterThatChoosesGetsOneRunOnAnyOfItsUnits)
{
    RunOrder order = order_of({"op1"});
    order.places.selection = RunSelection::kCenter;

    const std::vector<ProbeRunRecord> runs = create(order).value();

    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].selection, "center");
    EXPECT_EQ(writer_.jobs[0].second.units.type, "any");
    EXPECT_EQ(writer_.jobs[0].second.units.center, center_.value);
    EXPECT_EQ(store_.sql("SELECT job_id FROM probe_run WHERE selection = 'center'"), runs[0].job_id.value);
}

TEST_F(Probing, ARunThatWaitsAlreadyIsJoined)
{
    const ProbeRunId first = create(order_of({"op4"})).value().front().id;

    const std::vector<ProbeRunRecord> again = create(order_of({"op4"})).value();

    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].id, first);
    EXPECT_EQ(writer_.jobs.size(), 1U);
}

TEST_F(Probing, WithoutATaskEveryUnitTypeIsMeasuredWithAllThatItCan)
{
    test::add_center(store_, "beta", {{test::unit_type("all", 1, {"op1", "op2", "op3", "op4", "op5"})}, {}});

    const std::vector<ProbeRunRecord> runs = create({}).value();

    std::map<std::string, std::size_t> measured;
    for (const ProbeRunRecord& run : runs) {
        const ProbeTaskRecord task = io_.run(service_.get_task(run.probe_task_id.value)).value();
        EXPECT_EQ(task.origin, "default");
        measured[run.unit_type] = task.document.operators.size();
    }
    EXPECT_EQ(measured, (std::map<std::string, std::size_t>{{"u1", 3}, {"u2", 4}, {"u3", 3}, {"all", 5}}));
}

TEST_F(Probing, WrongOrdersNameTheirFields)
{
    const Error unknown_operator = create(order_of({"op1", "nothing"})).error();
    ASSERT_EQ(unknown_operator.fields.size(), 1U);
    EXPECT_EQ(unknown_operator.fields[0].field, "operators[1].id");
    RunOrder order;
    order.probe_task_id = "ptk_none";
    const Error unknown_task = create(order).error();
    ASSERT_EQ(unknown_task.fields.size(), 1U);
    EXPECT_EQ(unknown_task.fields[0].field, "probe_task_id");
}

TEST_F(Probing, TasksAreKeptOnceAndListedNewestFirst)
{
    ProbeTask document;
    document.name = "mine";
    document.operators = {use_of("op1", 3)};
    const auto add = [&](const std::string& type) {
        return io_.run(service_.create_tasks(expert_, {.document = document, .job_type = type}));
    };
    const ProbeTaskRecord task = add("solver").value().front();

    EXPECT_EQ(add("solver").error().code, Errc::kConflict);
    const ProbeTaskRecord other = add("another type").value().front();
    EXPECT_EQ(task.document.operators[0].parameters, (Parameters{{"n", 10}}));
    EXPECT_EQ(task.state, ProbeTaskState::kDraft);
    const Page<ProbeTaskRecord> page = io_.run(service_.list_tasks({}, 1, "")).value();
    EXPECT_EQ(page.items[0].id, other.id);
    EXPECT_EQ(page.next_after, other.id.value);
    const TaskFilter filter{.state = "draft", .job_type = "solver"};
    EXPECT_EQ(io_.run(service_.list_tasks(filter, 10, "")).value().items.size(), 1U);
    EXPECT_EQ(store_.sql("SELECT string_agg(action, ' ') FROM audit_log"), "probe_task.create probe_task.create");
}

TEST_F(Probing, RunsAreFiltered)
{
    create(order_of({"op1", "op3"})).value();
    create(order_of({"op2", "op5"})).value();

    const auto count = [&](const RunFilter& filter) {
        return io_.run(service_.list_runs(filter, 10, "")).value().items.size();
    };
    EXPECT_EQ(count({}), 4U);
    EXPECT_EQ(count({.state = "queued", .unit_type = "alpha/u2", .probe_task = ""}), 2U);
    EXPECT_EQ(count({.state = "failed", .unit_type = "", .probe_task = ""}), 0U);
    EXPECT_EQ(count({.state = "", .unit_type = "", .probe_task = store_.sql("SELECT min(id) FROM probe_task")}), 2U);
}

} // namespace
} // namespace fathom::server
