#include "tests/server/jobs/jobs_fixture.hpp"

#include <future>

namespace fathom::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Centers alpha and beta share a host, gamma has one of its own.
class ProbeHosts : public JobsFixture {
  protected:
    ProbeHosts()
    {
        for (const std::string name : {"alpha", "beta", "gamma"})
            add_center(name, 4);
        set_hosts();
    }

    void set_hosts() { sql("UPDATE center SET host_id = " + hosts_); }
    /// A probe of a unit of this center that waits for a router.
    JobId waiting_probe(const std::string& center)
    {
        JobsProbeJobWriter writer;
        const JobId job = JobId::make();
        const Json body = spec({{"units", {{"center", center}, {"count", 1}}}, {"wall_limit_s", 70}});
        auto work = [&](pqxx::work& transaction) -> Result<void> {
            return writer.insert_probe_job(transaction, job, parse_job_spec(body).value(), "rep_1");
        };
        EXPECT_TRUE(database_.blocking_run(work));
        return job;
    }
    /// A probe that has a unit at this center, whatever else is at its host: as when two routers place probes at once.
    /// One that comes later is younger.
    JobId placed_probe(const std::string& center)
    {
        const JobId job = waiting_probe(center);
        sql("UPDATE center SET host_id = NULL");
        route();
        set_hosts();
        EXPECT_EQ(state_of(job), "placed");
        return job;
    }
    /// The jobs that this center is told to start now.
    std::vector<JobId> starts_at(const std::string& center)
    {
        std::vector<JobId> jobs;
        for (const link::Body& body : orders_for(CenterId{center_id(center)})) {
            if (const auto* start = std::get_if<link::StartAttempt>(&body)) jobs.push_back(start->order.job_id);
        }
        return jobs;
    }
    /// A probe that this center was told of, and runs.
    JobId running_probe(const std::string& center)
    {
        const JobId job = placed_probe(center);
        EXPECT_THAT(starts_at(center), ElementsAre(job));
        EXPECT_TRUE(report_start(job));
        return job;
    }
    /// Moves the times of an attempt back.
    void let_pass(const JobId& job, const std::string& interval)
    {
        sql("UPDATE attempt SET dispatched_at = dispatched_at - interval '" + interval +
            "', started_at = started_at - interval '" + interval + "' WHERE job_id = '" + job.value + "'");
    }

    std::string hosts_ = "CASE name WHEN 'gamma' THEN 'two' ELSE 'one' END"; ///< SQL
};

TEST_F(ProbeHosts, KeepAProbeWaitingAndItsUnitsForJobs)
{
    const JobId first = running_probe("alpha");
    const JobId second = waiting_probe("beta");
    route();
    EXPECT_EQ(state_of(second), "queued");
    EXPECT_EQ(sql("SELECT waiting_reason FROM job WHERE id = '" + second.value + "'"),
              "waits until the host of beta/core has ended another probe");
    const JobId job = submit(spec({{"units", {{"center", "beta"}, {"count", 4}}}})); // all that there are
    route();
    EXPECT_EQ(state_of(job), "placed");

    ASSERT_TRUE(report_end(job, exited(0)));
    ASSERT_TRUE(report_end(first, exited(0)));
    route();

    EXPECT_EQ(state_of(second), "placed");
    EXPECT_THAT(starts_at("beta"), ElementsAre(second));
}

TEST_F(ProbeHosts, GetOneProbeOfThoseThatAreDecidedTogether)
{
    waiting_probe("alpha");
    waiting_probe("beta");
    const JobId elsewhere = waiting_probe("gamma");

    route();

    EXPECT_EQ(sql("SELECT count(*) FROM attempt a JOIN center c ON c.id = a.center_id WHERE c.host_id = 'one'"), "1");
    EXPECT_EQ(state_of(elsewhere), "placed") << "another host goes on";
}

TEST_F(ProbeHosts, AreWhatAWaitingProbeSaysThatItWaitsFor)
{
    running_probe("alpha");
    const JobId waiting = waiting_probe("beta");
    route();

    const Json answer = Json::parse(call(net::Method::kGet, "/jobs/" + waiting.value + "/placement").body);

    const Json& reasons = answer["waiting"]["reasons"];
    ASSERT_EQ(reasons.size(), 1U) << answer["waiting"];
    EXPECT_EQ(reasons[0]["kind"], "host");
    EXPECT_EQ(reasons[0]["text"], "waits until the host of beta/core has ended another probe");
}

TEST_F(ProbeHosts, AreFreeAtOnceWhenTheirCenterComesBackWithoutTheProbe)
{
    const JobId gone = running_probe("alpha");
    const JobId other = waiting_probe("beta");
    route();
    ASSERT_EQ(state_of(other), "queued");

    ASSERT_TRUE(run(attempts_.reconcile(CenterId{center_id("alpha")}, {})));
    route();

    EXPECT_EQ(state_of(gone), "failed");
    EXPECT_EQ(state_of(other), "placed");
}

TEST_F(ProbeHosts, TakeOneProbeAfterTheOtherWhicheverCentersTheyAreOf)
{
    const JobId first = placed_probe("alpha");
    const JobId second = placed_probe("beta");
    const JobId elsewhere = placed_probe("gamma");

    EXPECT_THAT(starts_at("beta"), IsEmpty()) << "an older one waits for the host";
    EXPECT_THAT(starts_at("alpha"), ElementsAre(first));
    EXPECT_THAT(starts_at("beta"), IsEmpty()) << "it was sent";
    ASSERT_TRUE(report_start(first));
    EXPECT_THAT(starts_at("beta"), IsEmpty()) << "it runs";
    EXPECT_THAT(starts_at("gamma"), ElementsAre(elsewhere)) << "another host goes on";
    ASSERT_TRUE(report_end(first, exited(0)));

    EXPECT_THAT(starts_at("beta"), ElementsAre(second));
}

TEST_F(ProbeHosts, TakeTheProbesOfOneCenterOneAfterTheOther)
{
    const JobId first = placed_probe("gamma");
    const JobId second = placed_probe("gamma");

    EXPECT_THAT(starts_at("gamma"), ElementsAre(first));
    EXPECT_THAT(starts_at("gamma"), ElementsAre(first)) << "what is not acknowledged is sent again";
    ASSERT_TRUE(report_end(first, exited(1)));
    EXPECT_THAT(starts_at("gamma"), ElementsAre(second));
}

TEST_F(ProbeHosts, AreUnknownOfOlderAgentsWhoseProbesWaitForNobody)
{
    hosts_ = "CASE name WHEN 'beta' THEN NULL ELSE 'one' END";
    running_probe("alpha");

    const JobId first = waiting_probe("beta");
    const JobId second = waiting_probe("beta");
    route();

    EXPECT_THAT(starts_at("beta"), ElementsAre(first, second));
}

TEST_F(ProbeHosts, KeepNoJobWaiting)
{
    running_probe("alpha");
    const JobId waiting = placed_probe("beta");
    const JobId job = submit(spec({{"units", {{"center", "beta"}}}}));
    route();

    EXPECT_THAT(starts_at("beta"), ElementsAre(job));
    EXPECT_EQ(state_of(waiting), "placed");
}

TEST_F(ProbeHosts, AreFreeAgainWhenTheProgramOfASilentCenterMustHaveEnded)
{
    const JobId silent = running_probe("alpha");
    const JobId placed = placed_probe("beta");
    const JobId other = waiting_probe("beta");
    sql("UPDATE center SET state = 'lost' WHERE name = 'alpha'");
    let_pass(silent, "90 seconds");
    EXPECT_THAT(starts_at("beta"), IsEmpty()) << "it may run for 70 s, and be told of 30 s later";

    let_pass(silent, "20 seconds");

    EXPECT_THAT(starts_at("beta"), ElementsAre(placed));
    ASSERT_TRUE(report_end(placed, exited(0)));
    route();
    EXPECT_EQ(state_of(other), "placed");
}

TEST_F(ProbeHosts, DoNotWaitForACenterThatIsNotHeard)
{
    const JobId older = placed_probe("alpha");
    const JobId younger = placed_probe("beta");
    sql("UPDATE center SET state = 'suspect' WHERE name = 'alpha'");

    EXPECT_THAT(starts_at("beta"), ElementsAre(younger));
    sql("UPDATE center SET state = 'online' WHERE name = 'alpha'");
    EXPECT_THAT(starts_at("alpha"), IsEmpty()) << "the younger one is there";
    ASSERT_TRUE(report_end(younger, exited(0)));
    EXPECT_THAT(starts_at("alpha"), ElementsAre(older));
}

TEST_F(ProbeHosts, WakeTheCenterThatIsNext)
{
    const std::string beta = center_id("beta");
    const JobId first = running_probe("alpha");
    placed_probe("beta");
    std::atomic<bool> is_listening = false;
    std::atomic<bool> is_woken = false;
    notifier_.subscribe("listening", [&](const std::string&) { is_listening = true; });
    notifier_.subscribe("dispatch", [&](const std::string& payload) {
        if (payload == beta) is_woken = true;
    });
    notifier_.start();
    auto call = [](pqxx::work& transaction) -> Result<void> {
        notify(transaction, "listening", "");
        return {};
    };
    ASSERT_TRUE(test::eventually([&] { return database_.blocking_run(call) && is_listening; }));
    ASSERT_FALSE(is_woken);

    ASSERT_TRUE(report_end(first, exited(0)));

    EXPECT_TRUE(test::eventually([&] { return is_woken.load(); }));
    notifier_.stop();
}

TEST_F(ProbeHosts, GetOneProbeAlsoWhenTwoReplicasSendAtOnce)
{
    const CenterId alpha{center_id("alpha")};
    const CenterId beta{center_id("beta")};
    placed_probe("alpha");
    placed_probe("beta");
    sql("UPDATE center SET state = 'suspect' WHERE name = 'alpha'");
    auto claim = [this](const CenterId& center) {
        auto work = [&](pqxx::work& transaction) -> Result<std::size_t> {
            return claim_orders(transaction, center, {.on_their_way = {}, .bytes = 1 << 20}, CatalogSnapshot())
                .orders.size();
        };
        return database_.blocking_run(work).value();
    };
    std::future<std::size_t> other;
    auto work = [&](pqxx::work& transaction) -> Result<std::size_t> {
        const std::size_t sent =
            claim_orders(transaction, beta, {.on_their_way = {}, .bytes = 1 << 20}, CatalogSnapshot()).orders.size();
        // It is not committed yet when the center of the older one is heard again, and asks another replica.
        sql("UPDATE center SET state = 'online' WHERE name = 'alpha'");
        other = std::async(std::launch::async, [&] { return claim(alpha); });
        EXPECT_TRUE(test::eventually(
            [&] { return sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == "1"; }));
        return sent;
    };

    EXPECT_EQ(database_.blocking_run(work).value(), 1U);
    EXPECT_EQ(other.get(), 0U);
}

} // namespace
} // namespace fathom::server
