#include "server/learning/learning_api.hpp"
#include "server/learning/learning_service.hpp"
#include "tests/server/jobs/jobs_fixture.hpp"
#include "tests/server/jobs/locked_table.hpp"

#include <pqxx/pqxx>

#include <future>

namespace fathom::server {
namespace {

/// What fathom-profile counted in a run of one second: products of 1024 that take so much of it.
Json products_profile(std::int64_t count, double share)
{
    return {{"operators",
             {{{"id", "dgemm"},
               {"parameters", {{"m", 1024}, {"n", 1024}, {"k", 1024}}},
               {"count", count},
               {"share", share}}}},
            {"remainder", {{"memory", 1 - share}}},
            {"coverage", share},
            {"wall_s", 1.0}};
}

/// Of the same operator as a part that it stands for, and of another that it only resembles.
Json profile_of_unlike_parts()
{
    Json profile = products_profile(50, 0.4);
    profile["operators"][0]["similarity"] = 0.75;
    Json rest = profile["operators"][0];
    rest["parameters"]["m"] = 512;
    rest["remainder"] = "compute";
    profile["operators"].push_back(std::move(rest));
    return profile;
}

class OperatorLedger : public JobsFixture {
  protected:
    OperatorLedger() : learning_service_(database_, metrics_, clock_, compute_)
    {
        add_operators();
        unit_type_ = add_center("alpha");
        add_learning_routes(api_, learning_service_);
    }

    /// A job that is profiled and ends.
    JobId finish(const Json& profile, std::int64_t exit_code = 0, std::int64_t units = 1)
    {
        const JobId job = submit(spec({{"units", {{"count", units}}}}));
        sql("UPDATE job SET metered = true");
        route();
        AttemptEnd end = exited(exit_code);
        end.profile = profile;
        EXPECT_TRUE(report_end(job, end));
        return job;
    }
    Json get(const std::string& path) { return Json::parse(call(net::Method::kGet, path).body); }
    std::string row_count() const { return sql("SELECT count(*) FROM operator_outcome"); }

    LearningService learning_service_;
    std::string unit_type_;
};

TEST_F(OperatorLedger, HoldsWhatOperatorsTookAgainstWhatProbesOfTheirUnitsLetExpect)
{
    add_measurement(unit_type_, 0.01);
    const JobId job = finish(products_profile(50, 0.6));

    const Json outcome = get("/jobs/" + job.value + "/operators")["operators"][0]["outcome"];
    EXPECT_NEAR(outcome["actual_s"].get<double>(), 0.6, 1e-9);
    EXPECT_NEAR(outcome["predicted_s"].get<double>(), 0.5, 1e-9) << "50 times 10 ms";
    EXPECT_EQ(outcome["basis"], "measured");
    EXPECT_LE(outcome["low_s"], outcome["predicted_s"]);
    EXPECT_GE(outcome["high_s"], outcome["predicted_s"]);
    const Json items = get("/predictions:operators")["items"];
    ASSERT_EQ(items.size(), 1U) << items.dump();
    EXPECT_EQ(items[0]["center"], "alpha");
    EXPECT_EQ(items[0]["unit_type_id"], unit_type_);
    EXPECT_EQ(items[0]["resource_type"], "cpu");
    EXPECT_EQ(items[0]["operator"], "dgemm");
    EXPECT_EQ(items[0]["run_count"], 1);
    EXPECT_EQ(items[0]["compared_count"], 1);
    EXPECT_EQ(items[0]["measured_count"], 1);
    EXPECT_NEAR(items[0]["median_ratio"].get<double>(), 1.2, 1e-9);
    EXPECT_NEAR(items[0]["predicted_s"].get<double>(), 0.5, 1e-9);
    EXPECT_NEAR(items[0]["actual_s"].get<double>(), 0.6, 1e-9);
}

TEST_F(OperatorLedger, IsByOperatorAndUnitTypeOverAllRuns)
{
    insert_measurement(unit_type_, "'dgemm', 'k=1024,m=1024,n=1024', 2147483648, 25165824", 0.01, "now()", 1);
    sql("UPDATE measurement SET ci_low_s = 0.009, ci_high_s = 0.011");
    reload_catalog();
    finish(products_profile(50, 0.25)); // half of what was expected
    finish(products_profile(50, 0.5));
    finish(products_profile(50, 0.75));
    const auto count_of = [&](const std::string& query) {
        return get("/predictions:operators?" + query)["items"].size();
    };

    const Json items = get("/predictions:operators")["items"];
    ASSERT_EQ(items.size(), 1U);
    EXPECT_EQ(items[0]["run_count"], 3);
    EXPECT_EQ(items[0]["size_count"], 1);
    EXPECT_NEAR(items[0]["median_ratio"].get<double>(), 1, 1e-9);
    EXPECT_NEAR(items[0]["within_share"].get<double>(), 1.0 / 3, 1e-9);
    EXPECT_NEAR(items[0]["actual_s"].get<double>(), 1.5, 1e-9);
    EXPECT_EQ(count_of("operator=dgemm&unit_type=alpha/core&center=alpha"), 1U);
    EXPECT_EQ(count_of("unit_type=" + unit_type_), 1U);
    EXPECT_EQ(count_of("operator=sort"), 0U);
    EXPECT_EQ(count_of("center=beta"), 0U);
    EXPECT_EQ(count_of("unit_type=alpha/gpu"), 0U);
}

TEST_F(OperatorLedger, SaysWhereNothingWasPredicted)
{
    const JobId job = finish(products_profile(50, 0.6));

    const Json outcome = get("/jobs/" + job.value + "/operators")["operators"][0]["outcome"];
    EXPECT_NEAR(outcome["actual_s"].get<double>(), 0.6, 1e-9);
    EXPECT_EQ(outcome["predicted_s"], nullptr);
    EXPECT_EQ(outcome["basis"], "unknown");
    const Json one = get("/predictions:operators")["items"][0];
    EXPECT_EQ(one["unknown_count"], 1);
    EXPECT_EQ(one["compared_count"], 0);
    EXPECT_EQ(one["median_ratio"], nullptr);
    EXPECT_EQ(one["within_share"], nullptr);
    EXPECT_EQ(one["actual_s"], nullptr);
}

TEST_F(OperatorLedger, HasTheTimeOfAllThreadsThatCallAnOperator)
{
    add_measurement(unit_type_, 0.01);
    Json profile = products_profile(200, 0.5);
    profile["thread_s"] = 4.0; // four threads of the program, each a second

    finish(profile);

    EXPECT_NEAR(get("/predictions:operators")["items"][0]["actual_s"].get<double>(), 2, 1e-9);
}

TEST_F(OperatorLedger, LeavesOutWhatStandsForUncountedWorkAndKeepsHowAlikeCallsAre)
{
    add_measurement(unit_type_, 0.01);
    const JobId job = finish(profile_of_unlike_parts());

    EXPECT_EQ(row_count(), "1");
    const Json one = get("/predictions:operators")["items"][0];
    EXPECT_EQ(one["size_count"], 1);
    EXPECT_NEAR(one["similarity"].get<double>(), 0.75, 1e-9);
    const Json work = get("/jobs/" + job.value + "/operators");
    ASSERT_EQ(work["operators"].size(), 2U) << work.dump();
    for (const Json& use : work["operators"])
        EXPECT_EQ(use["outcome"].is_null(), use.contains("remainder")) << use.dump();
}

TEST_F(OperatorLedger, HasNothingOfRunsThatFailedRanOnSeveralUnitsOrTellNonsense)
{
    add_measurement(unit_type_, 0.01);
    const JobId failed = finish(products_profile(50, 0.6), 1);
    finish(products_profile(50, 0.6), 0, 2);
    Json longer = products_profile(50, 0.6);
    longer["wall_s"] = 1e6; // its units were held for 1.5 s
    finish(longer);
    Json strange = products_profile(50, 0.6);
    strange["operators"][0]["id"] = "unheard_of";
    finish(strange);
    finish(nullptr);

    EXPECT_EQ(row_count(), "0");
    EXPECT_EQ(get("/predictions:operators")["items"], Json::array());
    EXPECT_EQ(get("/jobs/" + failed.value + "/operators")["operators"][0]["outcome"], nullptr);
}

TEST_F(OperatorLedger, CanBeReadWhateverOneJobWrites)
{
    add_measurement(unit_type_, 0.01);
    finish(products_profile(50, 0.6));
    Json unlike = products_profile(50, 1e-5);
    unlike["operators"][0]["similarity"] = 1e-320; // its product with the time is no figure
    finish(unlike);
    finish(products_profile(1'000'000'000'000, 1e-320)); // nor is the quotient of these times

    const net::Response answer = call(net::Method::kGet, "/predictions:operators");

    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json items = Json::parse(answer.body)["items"];
    ASSERT_EQ(items.size(), 1U) << items.dump();
    EXPECT_EQ(items[0]["run_count"], 2);
    EXPECT_NEAR(items[0]["actual_s"].get<double>(), 0.60001, 1e-9);
}

TEST_F(OperatorLedger, IsReadForATokenTwiceAtOnceWhateverElseItReads)
{
    const auto status = [this] { return call(net::Method::kGet, "/predictions:operators").status; };
    ASSERT_EQ(status(), 200);
    LockedTable table(database_, "operator_outcome");
    auto first = std::async(std::launch::async, status);
    auto second = std::async(std::launch::async, status);
    const bool both_wait = test::eventually([&] { return sql(kCountLockWaits) == "2"; });

    const int third = status();
    const int of_jobs = call(net::Method::kGet, "/predictions:calibration").status;
    table.release();

    EXPECT_TRUE(both_wait);
    EXPECT_EQ(third, 429);
    EXPECT_EQ(of_jobs, 200);
    EXPECT_EQ(first.get(), 200);
    EXPECT_EQ(second.get(), 200);
    EXPECT_EQ(status(), 200);
}

TEST_F(OperatorLedger, CostsNoJobItsEndWhereNothingCanBeKept)
{
    sql("ALTER TABLE operator_outcome ADD CONSTRAINT none CHECK (actual_s < 0) NOT VALID");

    const JobId job = finish(products_profile(50, 0.6));

    EXPECT_EQ(row_count(), "0");
    EXPECT_EQ(state_of(job), "succeeded");
    EXPECT_EQ(get("/jobs/" + job.value + "/operators")["source"], "profile");
}

} // namespace
} // namespace fathom::server
