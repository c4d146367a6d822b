#include "server/routing/batch/routing_store.hpp"
#include "tests/server/jobs/routing_fixture.hpp"

#include <chrono>
#include <random>
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST_F(Routing, DoesNotLetAWaitingPlaceBlockJobsForOthers)
{
    add_center("alpha", 1);
    add_center("beta", 1);
    const Json at_alpha = spec({{"units", {{"center", "alpha"}}}});
    for (int i = 0; i < 300; ++i) // more than one batch
        submit(at_alpha);
    const JobId last = submit(spec({{"units", {{"center", "beta"}}}}));

    route();

    EXPECT_EQ(state_of(last), "placed");
}

TEST_F(Routing, ReachesJobsBehindThousandsThatWait)
{
    add_center("alpha", 1);
    add_center("beta", 1);
    submit(spec({{"units", {{"center", "alpha"}}}}));
    route(); // alpha is taken
    sql("INSERT INTO job (id, name, project, spec, submitted_by, waiting_reason) "
        "SELECT 'job_00000000000000000000' || lpad(n::text, 6, '0'), 'x', 'd', "
        "'{\"operators\": [], \"units\": {\"center\": \"alpha\"}, \"metering_wait_s\": 1}', 'x', 'waits' "
        "FROM generate_series(1, 9000) n");
    const JobId last = submit(spec({{"units", {{"center", "beta"}}}}));

    for (int cycle = 0; cycle < 4; ++cycle)
        run(routing_.run_cycle(RoutingService::Wake::kWoken)).value();

    EXPECT_EQ(state_of(last), "placed");
}

TEST_F(Routing, GivesWhatBecomesFreeToTheFirstInLine)
{
    add_center("alpha", 2);
    add_center("beta", 1);
    const Json at_alpha = spec({{"units", {{"center", "alpha"}}}});
    std::vector<JobId> line;
    for (int i = 0; i < 60; ++i)
        line.push_back(submit(at_alpha));
    const JobId last = submit(spec({{"units", {{"center", "beta"}}}}));

    EXPECT_EQ(run(routing_.run_cycle(RoutingService::Wake::kFirst)).value(), 2);

    EXPECT_EQ(state_of(line[0]), "placed");
    EXPECT_EQ(state_of(line[1]), "placed");
    EXPECT_EQ(state_of(last), "queued") << "a cycle through the line finds it";
    EXPECT_EQ(run(routing_.run_cycle(RoutingService::Wake::kWoken)).value(), 1);
    EXPECT_EQ(state_of(last), "placed");
}

TEST_F(Routing, LeavesAJobThatCannotBeRoutedToAPassThroughTheLine)
{
    add_center("alpha", 1);
    const JobId broken = submit();
    sql("UPDATE job SET spec = '{\"units\": {\"count\": 1e300}}' WHERE id = '" + broken.value + "'");
    const JobId good = submit();

    EXPECT_TRUE(run(routing_.run_cycle(RoutingService::Wake::kFirst)));
    route();

    EXPECT_EQ(state_of(good), "placed");
}

TEST(KnownSpecs, ReadsEachTextOnce)
{
    KnownSpecs specs;
    const std::string text = R"({"command": ["-"], "operators": [], "units": {"center": "alpha"}})";

    const std::shared_ptr<const KnownSpec> first = specs.get(text);

    EXPECT_EQ(specs.get(std::string(text)), first);
    EXPECT_FALSE(first->unreadable);
    EXPECT_EQ(first->spec.units.center, "alpha");
    EXPECT_TRUE(specs.get(R"({"units": 7})")->unreadable);
}

TEST_F(Routing, ChecksAgainWhenItsSnapshotIsOld)
{
    const std::string unit_type = add_center("alpha", 4);
    for (int i = 0; i < 4; ++i)
        submit();
    sql("UPDATE unit_type SET unit_count = 1");

    run(routing_.run_cycle(RoutingService::Wake::kTick)).value();

    EXPECT_EQ(sql("SELECT count(*) FROM attempt WHERE unit_type_id = '" + unit_type + "'"), "1");
}

TEST_F(Routing, StepsOverAJobThatCannotBeRead)
{
    add_center("alpha");
    const JobId broken = submit();
    const JobId good = submit();
    sql("UPDATE job SET spec = '{\"units\": 7}' WHERE id = '" + broken.value + "'");

    route();

    EXPECT_EQ(state_of(broken), "queued");
    EXPECT_EQ(state_of(good), "placed");
}

TEST_F(Routing, ReadsHowMuchDataAJobMovesAndNotWhereItIs)
{
    const std::string url = "https://data.example/" + std::string(4000, 'x');
    const Json data{{"in", {{{"url", url}, {"bytes", 1.5}}, {{"bytes", 2}}}}, {"out_bytes", 7}, {"sites", {"alpha"}}};
    add_center("alpha");
    submit(spec({{"data", data}}));
    KnownSpecs specs;
    auto work = [&specs](pqxx::work& transaction) -> Result<std::vector<WaitingJob>> {
        return claim_oldest_jobs(transaction, 10, ClaimTerms{"rep_test", {}}, specs);
    };

    const std::vector<WaitingJob> jobs = run(database_.run(work)).value();

    ASSERT_EQ(jobs.size(), 1U);
    ASSERT_FALSE(jobs[0].known->unreadable);
    const JobData& read = jobs[0].spec.data;
    ASSERT_EQ(read.in.size(), 1U) << "thousands of jobs are read at once, each with up to a thousand URLs";
    EXPECT_EQ(read.in[0].url, "");
    EXPECT_EQ(read.in_bytes(), 3.5);
    EXPECT_EQ(read.out_bytes, 7);
    EXPECT_EQ(read.sites, std::vector<std::string>{"alpha"});
}

TEST_F(Routing, NeverOversellsWithTwoRouters)
{
    const std::string alpha = add_center("alpha", 5);
    const std::string beta = add_center("beta", 3);
    RoutingService other(io_.executor(), {database_, metrics_, clock_, catalog_, unit_loads_, probing_, finalizer_},
                         {.replica = ReplicaId::make()});
    std::mt19937 random(7);
    std::vector<JobId> jobs;
    for (int i = 0; i < 120; ++i) {
        const std::int64_t count = std::uniform_int_distribution<std::int64_t>(1, 3)(random);
        jobs.push_back(submit(spec({{"units", {{"count", count}}}})));
    }
    const auto sold = [&](const std::string& id) {
        return sql("SELECT coalesce(sum(unit_count), 0) FROM attempt WHERE state <> 'ended' AND unit_type_id = '" + id +
                   "'");
    };

    for (int round = 0; round < 200 && sql("SELECT count(*) FROM job WHERE state = 'queued'") != "0"; ++round) {
        auto one = io_.spawn(routing_.run_cycle(RoutingService::Wake::kWoken));
        auto two = io_.spawn(other.run_cycle(RoutingService::Wake::kWoken));
        ASSERT_TRUE(test::TestIo::get(std::move(one)));
        ASSERT_TRUE(test::TestIo::get(std::move(two)));
        ASSERT_LE(std::stoi(sold(alpha)), 5);
        ASSERT_LE(std::stoi(sold(beta)), 3);
        sql("WITH gone AS (UPDATE attempt SET state = 'ended', outcome = 'exited' WHERE state <> 'ended' "
            "AND random() < 0.7 RETURNING job_id) UPDATE job SET state = 'succeeded' FROM gone WHERE id = job_id");
    }

    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'queued'"), "0");
    EXPECT_EQ(sql("SELECT count(*) FROM attempt"), "120") << "each job was placed once";
}

TEST_F(Routing, RunsByItselfOnWakeUps)
{
    catalog_.subscribe(notifier_);
    routing_.subscribe(notifier_);
    notifier_.start();
    catalog_.start(tasks_);
    routing_.start(tasks_);
    add_center("alpha", 50);

    std::vector<JobId> jobs;
    for (int i = 0; i < 20; ++i)
        jobs.push_back(submit());

    EXPECT_TRUE(test::eventually([&] { return sql("SELECT count(*) FROM job WHERE state = 'placed'") == "20"; }));
}

TEST_F(Routing, NewJobsDoNotWakeItWhileNoUnitIsFree)
{
    add_center("alpha", 1);
    const JobId first = submit();
    routing_.subscribe(notifier_);
    notifier_.start();
    routing_.start(tasks_);
    ASSERT_TRUE(test::eventually([&] { return state_of(first) == "placed"; }));
    const auto passes = [this] {
        std::smatch found;
        const std::string text = metrics_.expose();
        return std::regex_search(text, found, std::regex("fathom_scheduling_cycle_seconds_count (\\d+)"))
                   ? std::stol(found[1])
                   : 0;
    };
    long before = -1;
    auto began = std::chrono::steady_clock::now();
    while (before != passes()) { // until what the placing has woken is done: besides it comes a cycle every two seconds
        began = std::chrono::steady_clock::now();
        before = passes();
        std::this_thread::sleep_for(500ms);
    }

    for (int i = 0; i < 50; ++i) {
        submit();
        std::this_thread::sleep_for(30ms);
    }
    const long woken = passes() - before;
    const auto ticks = (std::chrono::steady_clock::now() - began) / 2s + 1;

    EXPECT_LE(woken, ticks + 1) << "one may be late of what the placing has woken";
    sql("UPDATE attempt SET state = 'ended', outcome = 'exited'; UPDATE job SET state = 'succeeded' WHERE id = '" +
        first.value + "'; SELECT pg_notify('fathom', 'route ')");
    EXPECT_TRUE(test::eventually([&] { return sql("SELECT count(*) FROM job WHERE state = 'placed'") == "1"; }));
}

TEST_F(Routing, OneJobThatCannotBeReadKeepsNoOtherWaiting)
{
    add_center("alpha", 4);
    const JobId bad = submit();
    sql("UPDATE job SET spec = spec || '{\"deadline\": \"10000-01-01T23:58:59Z\"}' WHERE id = '" + bad.value + "'");
    const JobId good = submit();
    std::vector<JobId> gang;
    for (int i = 0; i < 2; ++i)
        gang.push_back(submit(spec({{"gang", {{"id", "pair"}, {"size", 2}}}})));

    route();

    EXPECT_EQ(state_of(good), "placed");
    for (const JobId& member : gang)
        EXPECT_EQ(state_of(member), "placed");
    EXPECT_EQ(state_of(bad), "queued");
    EXPECT_THAT(reason_of(bad), HasSubstr("cannot be routed: invalid: its specification cannot be read; deadline"));
}

} // namespace
} // namespace fathom::server
