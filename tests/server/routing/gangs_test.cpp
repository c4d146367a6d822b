#include "tests/server/jobs/jobs_fixture.hpp"

namespace fathom::server {
namespace {

using testing::HasSubstr;

class Gangs : public JobsFixture {
  protected:
    static Json member(std::int64_t size, Json more = Json::object())
    {
        more["gang"] = {{"id", "g"}, {"size", size}};
        return spec(more);
    }
    std::string reason_of(const JobId& job)
    {
        return sql("SELECT waiting_reason FROM job WHERE id='" + job.value + "'");
    }
    std::string placed() { return sql("SELECT count(*) FROM attempt WHERE state <> 'ended'"); }
    void found_impossible_since(const std::string& interval)
    {
        sql("UPDATE job SET waiting_reason_at = now() - interval '" + interval + "'");
    }
    void end_all()
    {
        sql("WITH gone AS (UPDATE attempt SET state = 'ended', outcome = 'exited', ended_at = now(), run_s = 1 "
            "WHERE state <> 'ended' RETURNING job_id) UPDATE job SET state = 'succeeded' FROM gone WHERE id = job_id");
    }
};

TEST_F(Gangs, WaitForAllMembersAndStartInOneGo)
{
    add_center("alpha", 2);
    add_center("beta", 2);
    const JobId first = submit(member(3));
    const JobId second = submit(member(3));
    const JobId stranger = submit(spec());
    route();

    EXPECT_EQ(state_of(first), "queued");
    EXPECT_EQ(reason_of(first), "waits for 1 more member of gang g");
    EXPECT_EQ(state_of(stranger), "placed") << "a gang holds nobody up";

    const JobId third = submit(member(3));
    route();

    for (const JobId& job : {first, second, third})
        EXPECT_EQ(state_of(job), "placed");
    EXPECT_EQ(sql("SELECT count(DISTINCT created_at) FROM attempt a JOIN job j ON j.id = a.job_id WHERE gang = 'g'"),
              "1")
        << "one transaction";
    EXPECT_EQ(sql("SELECT count(DISTINCT center_id) FROM attempt a JOIN job j ON j.id = a.job_id WHERE gang = 'g'"),
              "2");
}

TEST_F(Gangs, StartWholeOrNotAtAll)
{
    add_center("alpha", 2);
    const JobId busy = submit(spec());
    route();
    const JobId first = submit(member(2));
    const JobId second = submit(member(2));
    route();

    EXPECT_EQ(placed(), "1") << "one unit is free, the gang needs two";
    EXPECT_THAT(reason_of(first), HasSubstr("waits until all 2 members of gang g can start together"));
    end_all();
    route();
    EXPECT_EQ(state_of(first), "placed");
    EXPECT_EQ(state_of(second), "placed");
    EXPECT_EQ(state_of(busy), "succeeded");
}

TEST_F(Gangs, OthersSayThatAMemberIsGone)
{
    add_center("alpha", 4);
    const JobId first = submit(member(3));
    const JobId second = submit(member(3));
    ASSERT_EQ(call(net::Method::kPost, "/jobs/" + second.value + ":cancel", "").status, 202);

    route();

    EXPECT_EQ(reason_of(first), "waits for 2 more members of gang g; 1 of it cancelled");
    const JobId third = submit(member(3));
    const JobId fourth = submit(member(3));
    route();
    for (const JobId& job : {first, third, fourth})
        EXPECT_EQ(state_of(job), "placed") << "a member may be replaced";
}

TEST_F(Gangs, OfAnotherProjectAreOthers)
{
    add_center("alpha", 4);
    const JobId first = submit(member(2, {{"project", "p"}}));
    submit(member(2, {{"project", "q"}}));

    route();

    EXPECT_EQ(reason_of(first), "waits for 1 more member of gang g");
}

TEST_F(Gangs, ThatCanNeverStartTogetherEnd)
{
    add_center("alpha", 2);
    add_center("beta", 1);
    std::vector<JobId> jobs;
    for (int i = 0; i < 4; ++i)
        jobs.push_back(submit(member(4)));

    route();
    found_impossible_since("9 minutes");
    route();

    for (const JobId& job : jobs)
        EXPECT_EQ(reason_of(job),
                  "gang g cannot start together: its 4 members take 4 units, and what can run them has 3");
    found_impossible_since("11 minutes");
    route();
    for (const JobId& job : jobs) {
        EXPECT_EQ(state_of(job), "failed");
        EXPECT_EQ(sql("SELECT end_reason FROM job WHERE id = '" + job.value + "'"),
                  "gang g can never start together: its 4 members take 4 units, and what can run them has 3");
    }
}

TEST_F(Gangs, OutliveAPassingLossOfUnits)
{
    const std::string alpha = add_center("alpha", 4);
    std::vector<JobId> jobs;
    for (int i = 0; i < 4; ++i)
        jobs.push_back(submit(member(4)));
    const auto set_units = [&](int count) {
        sql("UPDATE unit_type SET unit_count = " + std::to_string(count) + " WHERE id = '" + alpha + "'");
        reload_catalog();
        route();
    };

    sql("UPDATE job SET submitted_at = now() - interval '1 day', state_changed_at = now() - interval '1 day'");
    set_units(3);
    found_impossible_since("11 minutes");
    set_units(2);
    EXPECT_EQ(state_of(jobs[0]), "queued") << "the network has changed";
    set_units(4);

    for (const JobId& job : jobs)
        EXPECT_EQ(state_of(job), "placed");
}

TEST_F(Gangs, OfManyMembersTheOldestStart)
{
    add_center("alpha", 8);
    // Four gangs of 900 in turns: too many members for a batch.
    sql("INSERT INTO job (id, name, project, spec, submitted_by, gang) "
        "SELECT 'job_' || to_char(i, 'FM000000'), 'n', 'default', jsonb_build_object('command', '[\"true\"]'::jsonb, "
        "'gang', jsonb_build_object('id', 'g' || i % 4, 'size', 2)), 'x', 'g' || i % 4 FROM generate_series(0, 3599) "
        "i");

    ASSERT_TRUE(run(routing_.run_cycle(RoutingService::Wake::kTick)));

    EXPECT_EQ(sql("SELECT string_agg(right(job_id, 1), '' ORDER BY job_id) FROM attempt"), "01234567");
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'queued' AND id < 'job_000100' AND waiting_reason = ''"),
              "0");
}

TEST_F(Gangs, KeepToTheirQuotaAsAWhole)
{
    add_center("alpha", 4);
    ASSERT_EQ(call(net::Method::kPut, "/projects/p", R"({"max_units": 2})").status, 200);
    reload_catalog();
    submit(spec({{"project", "p"}}));
    route();
    const JobId first = submit(member(2, {{"project", "p"}}));
    submit(member(2, {{"project", "p"}}));

    route();
    EXPECT_EQ(placed(), "1");
    EXPECT_EQ(state_of(first), "queued");
    end_all();
    route();

    EXPECT_EQ(placed(), "2");
}

TEST_F(Gangs, TwoRoutersNeverStartAPart)
{
    add_center("alpha", 3);
    add_center("beta", 2);
    RoutingService other(io_.executor(), {database_, metrics_, clock_, catalog_, unit_loads_, probing_, finalizer_},
                         {.replica = ReplicaId::make()});
    for (int gang = 0; gang < 10; ++gang) {
        for (int i = 0; i < 3; ++i)
            submit(spec({{"gang", {{"id", "g" + std::to_string(gang)}, {"size", 3}}}}));
        submit(spec());
    }

    for (int round = 0; round < 100 && sql("SELECT count(*) FROM job WHERE state = 'queued'") != "0"; ++round) {
        auto one = io_.spawn(routing_.run_cycle(RoutingService::Wake::kTick));
        auto two = io_.spawn(other.run_cycle(RoutingService::Wake::kTick));
        ASSERT_TRUE(test::TestIo::get(std::move(one)));
        ASSERT_TRUE(test::TestIo::get(std::move(two)));
        ASSERT_EQ(sql("SELECT count(*) FROM (SELECT gang FROM job WHERE gang <> '' GROUP BY gang HAVING "
                      "count(*) FILTER (WHERE state = 'queued') NOT IN (0, 3)) AS parts"),
                  "0");
        end_all();
    }

    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'queued'"), "0");
}

TEST_F(Gangs, AreTheirSubmittersOwn)
{
    add_center("alpha", 4);
    const Principal ann = add_token("ann", Role::kUser);
    const Principal mallory = add_token("mallory", Role::kUser);
    const auto member = [](int size) { return spec({{"gang", {{"id", "g"}, {"size", size}}}}); };
    const JobId first = submit(member(2), ann);
    const JobId intruder = submit(member(1000), mallory);
    const JobId second = submit(member(2), ann);

    route();

    EXPECT_EQ(state_of(first), "placed");
    EXPECT_EQ(state_of(second), "placed");
    EXPECT_EQ(reason_of(intruder), "waits for 999 more members of gang g");
}

} // namespace
} // namespace fathom::server
