#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// Goes as it is told, up to the present.
class PastClock final : public Clock {
  public:
    explicit PastClock(std::chrono::hours ago) : ago_(ago) {}
    Timestamp now() const override { return SystemClock().now() - ago_; }
    void advance(std::chrono::hours by) { ago_ -= by; }

  private:
    std::chrono::hours ago_;
};

class Order : public JobsFixture {
  protected:
    Order() { add_operators(); }

    /// A job of 0.01 s x count on a unit that does dgemm in 0.01 s.
    JobId submit_dgemm(std::int64_t count, Json more = Json::object())
    {
        more["operators"] = {{{"id", "dgemm"}, {"count", count}}};
        return submit(spec(more));
    }
    Json decision_of(const JobId& job)
    {
        return Json::parse(call(net::Method::kGet, "/jobs/" + job.value + "/placement").body)["decision"];
    }
    void end_all()
    {
        sql("WITH gone AS (UPDATE attempt SET state = 'ended', outcome = 'exited', ended_at = now(), run_s = 1 "
            "WHERE state <> 'ended' RETURNING job_id) UPDATE job SET state = 'succeeded' FROM gone WHERE id = job_id");
    }
    std::string running() { return sql("SELECT j.id FROM job j WHERE state = 'placed'"); }
};

TEST_F(Order, WithUnitsForAllEachGoesWhereItWouldGoAlone)
{
    add_measurement(add_center("alpha", 2), 0.01);
    add_measurement(add_center("beta", 2), 0.02);
    std::vector<JobId> jobs;
    for (int i = 0; i < 4; ++i)
        jobs.push_back(submit_dgemm(100));

    run(routing_.run_cycle(RoutingService::Wake::kTick)).value();

    for (std::size_t i = 0; i < jobs.size(); ++i) {
        EXPECT_EQ(center_of(jobs[i]).value, center_id(i < 2 ? "alpha" : "beta"));
        EXPECT_EQ(decision_of(jobs[i])["rank_text"], nullptr);
    }
}

TEST_F(Order, TheShorterGoesFirstWhereUnitsAreScarce)
{
    add_measurement(add_center("alpha", 1), 0.01);
    const JobId running_now = submit_dgemm(100);
    route();
    const JobId longer = submit_dgemm(10000);
    const JobId shorter = submit_dgemm(200);
    route();
    ASSERT_EQ(running(), running_now.value);

    end_all();
    route();

    EXPECT_EQ(running(), shorter.value);
    EXPECT_EQ(decision_of(shorter)["rank_text"], "no. 1 of 2 waiting jobs that were decided together, by advantage");
    EXPECT_THAT(sql("SELECT cause FROM job_event WHERE state = 'placed' ORDER BY id DESC LIMIT 1"),
                HasSubstr("no. 1 of 2 waiting jobs"));
    EXPECT_EQ(state_of(longer), "queued");
}

TEST_F(Order, NothingWaitsForEverBehindShorterJobs)
{
    add_measurement(add_center("alpha", 1), 0.01);
    const JobId longer = submit_dgemm(10000);
    for (int i = 0; i < 300; ++i) // more than a batch
        submit_dgemm(100 + i);
    route();
    end_all();
    route();
    ASSERT_EQ(state_of(longer), "queued") << "shorter ones go first";

    // 20 times its 100 s, and more than an hour.
    sql("UPDATE job SET submitted_at = now() - interval '2 hours' WHERE id = '" + longer.value + "'");
    end_all();
    route();

    EXPECT_EQ(running(), longer.value);
}

TEST_F(Order, PriorityGoesFirstWithinAProject)
{
    add_measurement(add_center("alpha", 1), 0.01);
    submit_dgemm(100);
    const JobId second = submit_dgemm(100, {{"priority", 20}});

    route();

    EXPECT_EQ(running(), second.value);
}

TEST_F(Order, AJobThatIsShortIsFoundBehindThousandsThatAreLong)
{
    const std::string alpha = add_center("alpha", 1);
    add_measurement(alpha, 0.01);
    submit_dgemm(100);
    route(); // alpha is taken
    const std::string document = R"({"operators": [{"id": "dgemm", "version": 1, "count": 100000, "parameters": )"
                                 R"({"m": 1024, "n": 1024, "k": 1024}}], "metering_wait_s": 0})";
    sql("INSERT INTO job (id, name, project, spec, submitted_by) SELECT 'job_00000000000000000000' || "
        "lpad(n::text, 6, '0'), 'x', 'd', '" +
        document + "', 'x' FROM generate_series(1, 2000) n");
    for (int cycle = 0; cycle < 3; ++cycle)
        run(routing_.run_cycle(RoutingService::Wake::kTick)).value();
    const JobId shorter = submit_dgemm(100);

    end_all();
    run(routing_.run_cycle(RoutingService::Wake::kTick)).value();

    EXPECT_EQ(running(), shorter.value);
}

// After an idle day a job waits a minute for alpha, where it takes 2 min instead of 20; a router that has seen
// nothing yet would start it at beta.
TEST_F(Order, AJobWaitsForABetterPlaceWhereUnitsHaveBeenIdle)
{
    PastClock clock(24h);
    UnitLoadService loads(database_, catalog_, compute_, clock);
    RoutingService routing(io_.executor(), {database_, metrics_, clock, catalog_, loads, probing_, finalizer_},
                           {.replica = ReplicaId::make()});
    add_measurement(add_center("alpha", 1), 0.01);
    add_measurement(add_center("beta", 1), 0.1);
    for (int look = 0; look < 24; ++look) {
        run(loads.look()).value();
        clock.advance(1h);
    }
    submit_dgemm(6000); // a minute of alpha
    run(routing.run_cycle(RoutingService::Wake::kTick)).value();
    const JobId waits = submit_dgemm(12000);

    run(routing.run_cycle(RoutingService::Wake::kTick)).value();

    EXPECT_EQ(state_of(waits), "queued");
    const std::string reason = sql("SELECT waiting_reason FROM job WHERE id = '" + waits.value + "'");
    EXPECT_THAT(reason, StartsWith("waits for a unit of alpha/core, free in about "));
    EXPECT_THAT(reason, EndsWith(": runs 2 min there, 20 min on beta/core, which is free"));
    const net::Response explained = call(net::Method::kGet, "/jobs/" + waits.value + "/placement");
    EXPECT_THAT(Json::parse(explained.body)["waiting"]["reasons"].dump(),
                AllOf(HasSubstr("a unit of alpha/core, free in about "),
                      HasSubstr("beta/core is free now, but would complete 17 min later")));

    route();
    EXPECT_EQ(center_of(waits).value, center_id("beta")) << "of a router that has not looked";
}

TEST_F(Order, ALongerJobStillUsesWhatNobodyElseCan)
{
    add_measurement(add_center("alpha", 1), 0.01);
    add_measurement(add_center("beta", 1), 0.01);
    const JobId at_alpha = submit_dgemm(100, {{"units", {{"center", "alpha"}}}});
    const JobId waits = submit_dgemm(200, {{"units", {{"center", "alpha"}}}});
    const JobId longer = submit_dgemm(10000);

    route();

    EXPECT_EQ(state_of(at_alpha), "placed");
    EXPECT_EQ(state_of(waits), "queued");
    EXPECT_EQ(state_of(longer), "placed");
    EXPECT_EQ(center_of(longer).value, center_id("beta"));
}

} // namespace
} // namespace fathom::server
