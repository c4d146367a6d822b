#include "tests/server/jobs/routing_fixture.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace fathom::server {
namespace {

TEST_F(Routing, MetersManyJobsOfATypeWithOneRequest)
{
    add_operators();
    add_center("alpha");
    for (int i = 0; i < 20; ++i)
        submit(dgemm_job());

    route();
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'metering'"), "20");
    EXPECT_EQ(probing_.requested.size(), 1U);
    probing_.pending = false;
    route();

    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'placed'"), "2");
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE state = 'queued' AND metered"), "18");
}

TEST_F(Routing, MetersAJobOfATypeNeverMeasured)
{
    add_operators();
    const std::string alpha = add_center("alpha");
    const std::string beta = add_center("beta");
    add_measurement(alpha, 0.01);

    const JobId job = submit(dgemm_job());
    route();

    EXPECT_EQ(state_of(job), "metering");
    EXPECT_EQ(probing_.requested, std::vector<std::string>{beta});
    route();
    EXPECT_EQ(state_of(job), "metering") << "its probes have not ended";
    EXPECT_EQ(probing_.requested.size(), 1U) << "they are asked for once";

    // As the probe's end would do it; the snapshot is not read again by us.
    add_measurement(beta, 0.001);
    probing_.pending = false;
    route();
    EXPECT_EQ(state_of(job), "placed");
    EXPECT_EQ(center_name_of(job), "beta");
    EXPECT_EQ(events_of(job), (std::vector<std::string>{"queued", "metering", "queued", "placed"}));
}

TEST_F(Routing, AwaitsNoProbesWhereTheJobMayNotRun)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01);
    add_center("beta");
    sql("INSERT INTO project (name, centers, changed_by) VALUES ('near', '{alpha}', 'x')");
    reload_catalog();

    const JobId of_site = submit(dgemm_job({{"data", {{"sites", {"alpha"}}}}}));
    const JobId of_project = submit(dgemm_job({{"project", "near"}}));
    route();

    EXPECT_TRUE(probing_.requested.empty());
    for (const JobId& job : {of_site, of_project}) {
        EXPECT_EQ(center_name_of(job), "alpha");
        EXPECT_EQ(placement_of(job)["decision"]["assumptions"].dump().find("beta"), std::string::npos);
    }
}

TEST_F(Routing, AwaitsNoProbesBehindALongerQueueOfTheCenter)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01);
    const std::string beta = add_center("beta");
    const std::string gamma = add_center("gamma");
    const auto queue_before_beta = [&](std::chrono::seconds wait) {
        ASSERT_TRUE(run(attempts_.note_queues({CenterId{center_id("beta")}}, {{}, {{"core", clock_.now() + wait}}},
                                              CatalogNotice::kNow)));
        reload_catalog();
    };
    queue_before_beta(std::chrono::hours(1));
    const JobId job = submit(dgemm_job({{"metering_wait_s", 120}}));
    route();
    EXPECT_EQ(state_of(job), "metering");
    EXPECT_EQ(probing_.requested, std::vector<std::string>{gamma});

    add_measurement(gamma, 0.02);
    probing_.pending = false;
    route();
    EXPECT_EQ(center_name_of(job), "alpha");
    const JobId next = submit(dgemm_job({{"metering_wait_s", 120}}));
    route();
    EXPECT_EQ(center_name_of(next), "alpha") << "placed at once: nothing can be measured in time";
    EXPECT_THAT(placement_of(next)["decision"]["assumptions"].dump(), ::testing::HasSubstr("on beta/core"));

    queue_before_beta(std::chrono::seconds(30));
    const JobId last = submit(dgemm_job({{"metering_wait_s", 120}}));
    route();
    EXPECT_EQ(state_of(last), "metering");
    EXPECT_EQ(probing_.requested.back(), beta);
}

TEST_F(Routing, PlacesOnWhatIsKnownWhenTheWaitIsOver)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01);
    add_center("beta");
    const JobId job = submit(dgemm_job({{"metering_wait_s", 1}}));
    route();
    ASSERT_EQ(state_of(job), "metering");

    sql("UPDATE job SET metering_until = now() - interval '1 second'");
    route();

    EXPECT_EQ(state_of(job), "placed");
    EXPECT_EQ(center_name_of(job), "alpha");
    const std::string assumptions = placement_of(job)["decision"]["assumptions"].dump();
    EXPECT_THAT(assumptions, ::testing::HasSubstr("no fresh measurement of all its operators on beta/core"));
    EXPECT_THAT(sql("SELECT cause FROM job_event WHERE state = 'queued' ORDER BY id DESC LIMIT 1"),
                ::testing::HasSubstr("its wait of 1 s for probes is over"));
}

TEST_F(Routing, MetersAgainAfterTheMeteringPeriod)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01, "now() - interval '8 days'");

    const JobId job = submit(dgemm_job());
    route();

    EXPECT_EQ(state_of(job), "metering");
}

TEST_F(Routing, DoesNotWaitForProbesWhenTheJobDoesNotWantTo)
{
    add_operators();
    add_center("alpha");

    const JobId job = submit(dgemm_job({{"metering_wait_s", 0}}));
    route();

    EXPECT_EQ(state_of(job), "placed");
    EXPECT_TRUE(probing_.requested.empty());
}

} // namespace
} // namespace fathom::server
