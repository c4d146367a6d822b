#include "tests/server/jobs/routing_fixture.hpp"

#include <chrono>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace fathom::server {
namespace {

using testing::HasSubstr;

TEST_F(Routing, PlacesByWhatWasMeasured)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.02);
    add_measurement(add_center("beta"), 0.01);

    const JobId job = submit(dgemm_job());
    route();

    EXPECT_EQ(center_name_of(job), "beta");
    const Json placement = placement_of(job);
    EXPECT_EQ(placement["decision"]["candidates"][0]["center"], "beta");
    EXPECT_NEAR(placement["decision"]["candidates"][0]["prediction"]["run_s"].get<double>(), 1.1, 1e-6);
    EXPECT_EQ(placement["actual"], nullptr);
    end(job, 2.2);
    EXPECT_NEAR(placement_of(job)["actual"]["ratio"].get<double>(), 2, 1e-6);
    const Json shown = Json::parse(call(net::Method::kGet, "/jobs/" + job.value).body);
    EXPECT_NEAR(shown["predicted"]["run_s"].get<double>(), 1.1, 1e-6);
}

TEST_F(Routing, SaysWhatAJobWaitsForAndPlacesItThen)
{
    add_center("alpha", 1);
    const JobId first = submit();
    const JobId second = submit();

    route();

    EXPECT_EQ(state_of(first), "placed");
    EXPECT_EQ(state_of(second), "queued");
    EXPECT_THAT(reason_of(second), ::testing::StartsWith("waits for a unit of alpha/core, free in about "));
    const Json placement = placement_of(second);
    EXPECT_EQ(placement["attempt_id"], nullptr);
    EXPECT_EQ(placement["decision"]["can_start_now"], false);
    end(first);
    route();
    EXPECT_EQ(state_of(second), "placed");
    EXPECT_EQ(reason_of(second), "");
}

TEST_F(Routing, WhatWaitsInABatchSystemEndsAfterTheStartThatIsPlannedThere)
{
    add_operators();
    add_measurement(add_center("alpha", 1), 0.01);
    const JobId first = submit(dgemm_job());
    route();
    ASSERT_TRUE(run(report(attempts_, center_of(first), StartAcknowledged{attempt_of(first)})));
    const Timestamp start = clock_.now() + std::chrono::minutes(150);
    ASSERT_TRUE(run(attempts_.note_queues({center_of(first)}, {{{attempt_of(first), "Priority", start}}, {}},
                                          CatalogNotice::kNow)));

    const JobId second = submit(dgemm_job());
    route();

    EXPECT_EQ(reason_of(second), "waits for a unit of alpha/core, free in about 3 h");
}

TEST_F(Routing, KeepsTheOrderOfSubmission)
{
    add_center("alpha", 1);
    std::vector<JobId> jobs;
    for (int i = 0; i < 4; ++i)
        jobs.push_back(submit());

    for (const JobId& job : jobs) {
        route();
        EXPECT_EQ(state_of(job), "placed");
        end(job);
    }
}

TEST_F(Routing, CountsThePlansOfEarlierJobsAsBusy)
{
    add_operators();
    add_measurement(add_center("alpha", 1), 0.011);
    add_measurement(add_center("beta", 1), 0.01);

    const JobId first = submit(dgemm_job());
    const JobId second = submit(dgemm_job());
    route();

    EXPECT_EQ(center_name_of(first), "beta");
    EXPECT_EQ(center_name_of(second), "alpha");
}

TEST_F(Routing, WaitsForAClosedCenter)
{
    add_center("alpha");
    const JobId job = submit();
    sql("UPDATE center SET state = 'suspect'");
    reload_catalog();

    route();
    EXPECT_THAT(reason_of(job), ::testing::HasSubstr("alpha/core: the center is silent"));
    sql("UPDATE center SET state = 'online'");
    reload_catalog();
    route();

    EXPECT_EQ(state_of(job), "placed");
}

TEST_F(Routing, PredictsFromSeveralResultsTogetherUntilOneTellsOfAChange)
{
    add_operators();
    const std::string alpha = add_center("alpha");
    const auto known = [&] {
        const CatalogPointer catalog = catalog_.get();
        const std::span<const MeasuredOperator> measured = catalog->find_unit_type(alpha)->measured;
        return measured.size() == 1 ? measured.front() : MeasuredOperator();
    };
    add_measurement(alpha, 0.0101, "now() - interval '3 hours'");
    EXPECT_EQ(known().ci_high_s, 0.0101);

    // 2 % apart, which chance may be: the mean of both, with their spread, though each by itself has none.
    add_measurement(alpha, 0.0099, "now() - interval '2 hours'");
    EXPECT_NEAR(known().median_s, 0.0099995, 1e-8);
    EXPECT_LT(known().ci_low_s, 0.0099);
    EXPECT_GT(known().ci_high_s, 0.0101);
    EXPECT_EQ(known().older_run_ids.size(), 1U);

    // Twice as slow is no chance.
    add_measurement(alpha, 0.02, "now() - interval '1 hour'");
    EXPECT_EQ(known().median_s, 0.02);
    EXPECT_TRUE(known().older_run_ids.empty());
}

TEST_F(Routing, TakesSeveralResultsWithOneThreadTogetherAsWell)
{
    add_operators();
    const std::string alpha = add_center("alpha");
    sql("UPDATE unit_type SET cores_per_unit = 2 WHERE id = '" + alpha + "'");
    const auto on_one_core_s = [&] {
        reload_catalog();
        return catalog_.get()->find_unit_type(alpha)->one_core[0].median_s;
    };
    add_measurement(alpha, 0.01, "now() - interval '3 hours'");
    EXPECT_EQ(on_one_core_s(), 0.02) << "what one core does of it at best";
    const MeasuredOperator guessed = catalog_.get()->find_unit_type(alpha)->one_core[0];
    EXPECT_EQ(guessed.ci_low_s, 0.01) << "more cores may have been of no use to it";
    EXPECT_EQ(guessed.ci_high_s, 0.02);
    sql("UPDATE measurement SET one_thread_median_s = 0.0151, one_thread_ci_low_s = 0.0151, "
        "one_thread_ci_high_s = 0.0151");
    add_measurement(alpha, 0.01, "now() - interval '2 hours'");
    EXPECT_EQ(on_one_core_s(), 0.0151) << "the newer result had no time for it: the older one says more than a guess";

    sql("UPDATE measurement SET one_thread_median_s = 0.0149, one_thread_ci_low_s = 0.0149, "
        "one_thread_ci_high_s = 0.0149 WHERE one_thread_median_s IS NULL");
    EXPECT_NEAR(on_one_core_s(), std::sqrt(0.0151 * 0.0149), 1e-9);
}

TEST_F(Routing, JobsGoWhereTheyMayRunAsLongAsTheirLimit)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01);
    add_measurement(add_center("beta"), 0.02);
    sql("UPDATE unit_type SET facts = facts || '{\"max_wall_s\": 300}' WHERE center_id = '" + center_id("alpha") + "'");
    reload_catalog();
    const JobId longer = submit(dgemm_job({{"wall_limit_s", 301}}));
    const JobId shorter = submit(dgemm_job({{"wall_limit_s", 300}}));
    route();

    EXPECT_EQ(center_name_of(longer), "beta");
    EXPECT_EQ(center_name_of(shorter), "alpha");
}

TEST_F(Routing, PreviewsWithoutMovingAnything)
{
    add_operators();
    add_measurement(add_center("alpha"), 0.01);

    const net::Response response = call(net::Method::kPost, "/placements:preview", dgemm_job().dump());
    const net::Response unknown =
        call(net::Method::kPost, "/placements:preview", R"({"command": ["x"], "operators": [{"id": "nope"}]})");

    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(Json::parse(response.body)["decision"]["candidates"][0]["center"], "alpha");
    EXPECT_EQ(unknown.status, 400);
    EXPECT_EQ(sql("SELECT count(*) FROM job WHERE label = 'job'"), "0");
}

TEST_F(Routing, TimesBeyondTheYear9999AreRefused)
{
    const net::Response answer =
        call(net::Method::kPost, "/jobs", spec({{"deadline", "9999-12-31T23:59:59-23:59"}}).dump());

    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("deadline"));
}

} // namespace
} // namespace fathom::server
