// Counts of units, network windows and deadlines, from stored measurements to placed jobs.
#include "tests/server/jobs/routing_fixture.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RoutingWindows : public Routing {
  protected:
    Json winner_of(const JobId& job) { return placement_of(job).at("decision").at("candidates").at(0); }
    /// A time so long after now, as PostgreSQL and RFC 3339 write it.
    std::string later(std::chrono::seconds duration) { return format_rfc3339(clock_.now() + duration); }

    /// A week of hourly transfers: 1 MB/s, but 10 MB/s in the hour of the day that lies `after` from now.
    void add_week_of_transfers(const std::string& unit_type, std::chrono::hours after)
    {
        const Timestamp now = std::chrono::floor<std::chrono::hours>(clock_.now()) + 30min;
        for (int hour = -7 * 24; hour < 0; ++hour) {
            const bool is_good = ((hour - after.count()) % 24 + 24) % 24 == 0;
            add_transfer(unit_type, is_good ? 0.1 : 1.0, "'" + format_rfc3339(now + hour * 1h) + "'");
        }
        reload_catalog();
    }
};

TEST_F(RoutingWindows, AutoTakesUnitsUpToTheKneeOfWhatWasMeasured)
{
    add_operators();
    const std::string alpha = add_center("alpha", 8);
    for (const int n : {1, 2, 4, 8})
        add_measurement(alpha, 1 * (0.25 + 0.75 / n), "now()", n);

    const JobId job = submit(dgemm_job());
    route();

    EXPECT_EQ(sql("SELECT unit_count FROM attempt WHERE job_id = '" + job.value + "'"), "3");
    const Json winner = winner_of(job);
    EXPECT_EQ(winner["scaling"]["knee"], 3);
    EXPECT_EQ(winner["scaling"]["reason"], "3 units, the knee of its scaling: 6 units would be 25 % faster");
    EXPECT_NEAR(winner["prediction"]["run_s"].get<double>(), 50.1, 0.05);
    EXPECT_NEAR(winner["scaling"]["single_run_s"].get<double>(), 100.1, 0.01);
}

TEST_F(RoutingWindows, CurvesAreFittedAgainOnlyWhereTheirPointsChange)
{
    add_operators();
    const std::string alpha = add_center("alpha", 8);
    const std::string beta = add_center("beta", 8);
    for (const int n : {1, 2, 4})
        add_measurement(alpha, 1.0 / n, "now()", n);
    for (const int n : {1, 2, 4})
        add_measurement(beta, 1.0 / n, "now()", n);
    const auto speedup_of = [&](const std::string& id) {
        const CatalogPointer catalog = catalog_.get();
        const auto view = std::find_if(catalog->unit_types.begin(), catalog->unit_types.end(),
                                       [&](const UnitTypeView& one) { return one.id.value == id; });
        return view->speedups->front();
    };
    const auto alpha_before = speedup_of(alpha);
    const auto beta_before = speedup_of(beta);

    add_measurement(alpha, 0.2, "now()", 8);

    EXPECT_NE(speedup_of(alpha), alpha_before);
    EXPECT_EQ(speedup_of(alpha)->largest_measured(), 8);
    EXPECT_EQ(speedup_of(beta), beta_before);
}

TEST_F(RoutingWindows, WhatCopiesSideBySideToldIsAPartOfTheCatalog)
{
    add_operators();
    const std::string alpha = add_center("alpha", 8);
    add_measurement(alpha, 1);
    EXPECT_EQ(catalog_.get()->find_unit_type(alpha)->loads, nullptr);

    sql("INSERT INTO copy_measurement (probe_run_id, copy, operator_id, operator_version, parameters_key, "
        "unit_type_id, "
        "copies, median_s, ci_low_s, ci_high_s, alone_s) SELECT probe_run_id, 1, operator_id, operator_version, "
        "parameters_key, unit_type_id, 8, 2, 2, 2, 1 FROM measurement");
    reload_catalog();

    const std::shared_ptr<const UnitLoads> loads = catalog_.get()->find_unit_type(alpha)->loads;
    ASSERT_NE(loads, nullptr);
    const LoadCurve* const curve = find_load(loads.get(), "dgemm");
    ASSERT_NE(curve, nullptr);
    EXPECT_NEAR(curve->at(curve->known_busy_cores()).factor, 2, 1e-9);

    reload_catalog();
    EXPECT_EQ(catalog_.get()->find_unit_type(alpha)->loads, loads) << "nothing has changed";
    sql("UPDATE copy_measurement SET void_reason = 'forged'");
    reload_catalog();
    EXPECT_EQ(catalog_.get()->find_unit_type(alpha)->loads, nullptr);
}

TEST_F(RoutingWindows, WhatAJobDoesToMemoryIsKeptAndCountsForTheNextOne)
{
    add_operators();
    const std::string alpha = add_center("alpha", 8);
    add_measurement(alpha, 1);
    sql("INSERT INTO copy_measurement (probe_run_id, copy, operator_id, operator_version, parameters_key, "
        "unit_type_id, "
        "copies, median_s, ci_low_s, ci_high_s, alone_s, beside_bubbles, reporter_beside, reporter_beside_bubbles) "
        "SELECT probe_run_id, 1, operator_id, operator_version, parameters_key, unit_type_id, 8, 2, 2, 2, 1, 2, 1.5, 2 "
        "FROM measurement");
    reload_catalog();
    Json body = dgemm_job();
    body["units"] = {{"count", 1}};
    const auto told_of = [&](const JobId& job) {
        return sql("SELECT round(pressure::numeric, 1) || ' ' || (sensitivity > 0) FROM prediction WHERE job_id = '" +
                   job.value + "'");
    };

    const auto slowdown_of = [&](const JobId& job) {
        return std::stod(sql("SELECT host_slowdown FROM prediction WHERE job_id = '" + job.value + "'"));
    };

    const JobId first = submit(body);
    route();
    EXPECT_EQ(told_of(first), "0.6 true");
    EXPECT_EQ(winner_of(first)["neighbours"]["slowed_unit_s"], 0) << "nobody was there";
    EXPECT_EQ(slowdown_of(first), 1);

    const JobId next = submit(body);
    route();
    const Json beside = winner_of(next)["neighbours"];
    EXPECT_NEAR(beside["pressure"].get<double>(), 0.58, 0.01) << "of the first, as it was known when that was placed";
    EXPECT_GT(beside["factor"].get<double>(), 1);
    EXPECT_NEAR(slowdown_of(next), beside["factor"].get<double>(), 1e-6);
    EXPECT_GT(beside["slowed_unit_s"].get<double>(), 0);
}

TEST_F(RoutingWindows, UnitTypesOfOneHostKnowOfEachOther)
{
    add_operators();
    const std::string alpha = add_center("alpha", 8);
    add_center("beta", 8);
    sql("UPDATE center SET host_id = name");
    reload_catalog();
    EXPECT_EQ(catalog_.get()->find_unit_type(alpha)->host, "") << "there is nothing else on it";

    sql("UPDATE center SET host_id = 'one'");
    reload_catalog();
    EXPECT_EQ(catalog_.get()->find_unit_type(alpha)->host, "one");
}

TEST_F(RoutingWindows, MeasurementsAreReadAgainOnlyWhereTheyHaveChanged)
{
    add_operators();
    const std::string alpha = add_center("alpha", 8);
    const std::string beta = add_center("beta", 8);
    add_measurement(alpha, 1);
    add_measurement(beta, 2);
    std::vector<CatalogPointer> kept; // else new lists might lie where old ones did
    const auto measured_on = [&](const std::string& id) {
        kept.push_back(catalog_.get());
        return kept.back()->find_unit_type(id)->measured;
    };
    const SharedList<MeasuredOperator> alpha_before = measured_on(alpha);
    const SharedList<MeasuredOperator> beta_before = measured_on(beta);

    add_measurement(alpha, 0.5, "now() + interval '1 s'");

    EXPECT_NE(measured_on(alpha).data(), alpha_before.data());
    EXPECT_EQ(measured_on(alpha)[0].median_s, 0.5);
    EXPECT_EQ(measured_on(beta).data(), beta_before.data());

    sql("UPDATE measurement SET void_reason = 'forged' WHERE unit_type_id = '" + beta + "'");
    reload_catalog();

    EXPECT_TRUE(measured_on(beta).empty());
    EXPECT_EQ(measured_on(alpha)[0].median_s, 0.5);

    sql("UPDATE unit_type SET cores_per_unit = 4 WHERE id = '" + alpha + "'");
    reload_catalog();

    EXPECT_EQ(catalog_.get()->find_unit_type(alpha)->one_core[0].median_s, 2) << "what one core does of it at best";

    sql("INSERT INTO operator (id, version, manifest) SELECT id, 2, manifest FROM operator");
    reload_catalog();

    EXPECT_EQ(measured_on(alpha)[0].operator_id, "dgemm@1") << "the one in use is another now";
}

TEST_F(RoutingWindows, AJobWithADeadlineWaitsForTheWindowAndKeepsNoUnits)
{
    add_operators();
    const std::string alpha = add_center("alpha", 1);
    add_measurement(alpha, 0.01);
    add_week_of_transfers(alpha, 3h);
    const Json data{{"in", {{{"url", "https://data.example/a"}, {"bytes", 1e8}}}}};

    const JobId waits = submit(dgemm_job({{"data", data}, {"deadline", later(12h)}}));
    const JobId now = submit(dgemm_job({{"data", data}, {"network", "now"}, {"deadline", later(12h)}}));
    route();

    EXPECT_EQ(state_of(waits), "queued");
    EXPECT_THAT(reason_of(waits), StartsWith("waits for the network window at "));
    EXPECT_THAT(reason_of(waits), HasSubstr("(1 MB/s now, 10 MB/s then)"));
    EXPECT_EQ(state_of(now), "placed") << "the unit was free for it";
    const Json winner = winner_of(waits);
    EXPECT_NEAR(winner["transfer"]["in_s"].get<double>(), 10, 0.01);
    EXPECT_NEAR(winner["transfer"]["window"]["transfer_now_s"].get<double>(), 100, 0.01);
    EXPECT_NEAR(winner["start_s"].get<double>(), 2.5 * 3600, 4000) << "the test may run through a full hour";
    EXPECT_NEAR(winner_of(now)["prediction"]["run_s"].get<double>(), 101.1, 0.1);
}

TEST_F(RoutingWindows, OnceTheWindowIsOpenTheJobIsPlaced)
{
    add_operators();
    const std::string alpha = add_center("alpha", 1);
    add_measurement(alpha, 0.01);
    add_week_of_transfers(alpha, 0h);

    const JobId job = submit(dgemm_job({{"data", {{"out_bytes", 1e6}}}, {"deadline", later(12h)}}));
    route();

    EXPECT_EQ(state_of(job), "placed");
}

TEST_F(RoutingWindows, TransfersThatAreFoundFalseAreForgotten)
{
    const std::string alpha = add_center("alpha", 1);
    add_transfer(alpha, 0.001);
    ASSERT_TRUE(test::eventually([&] {
        reload_catalog();
        return catalog_.get()->unit_types.front().network != nullptr;
    }));
    EXPECT_NEAR(catalog_.get()->unit_types.front().network->at(clock_.now()).rate_bytes, 1e9, 1);

    sql("UPDATE measurement SET void_reason = 'a lie'");
    ASSERT_TRUE(test::eventually([&] {
        reload_catalog();
        return !catalog_.get()->unit_types.front().network;
    }));
}

TEST_F(RoutingWindows, AUnitTypeThatWasNeverTimedTakesItsCentersNetwork)
{
    const std::string alpha = add_center("alpha", 1);
    sql("INSERT INTO unit_type (id, center_id, name, resource_type, unit_count, cores_per_unit, "
        "memory_bytes_per_unit, operators) SELECT 'ut_other', center_id, 'other', 'cpu', 1, 1, 0, '{dgemm}' "
        "FROM unit_type");
    add_transfer(alpha, 0.1);
    ASSERT_TRUE(test::eventually([&] {
        reload_catalog();
        return std::all_of(catalog_.get()->unit_types.begin(), catalog_.get()->unit_types.end(),
                           [](const UnitTypeView& view) { return view.network != nullptr; });
    }));
}

TEST_F(RoutingWindows, DeadlinesInThePastAreRefusedWithTheTime)
{
    add_center("alpha");

    const net::Response refused =
        call(net::Method::kPost, "/jobs", spec({{"deadline", "2020-01-01T00:00:00Z"}}).dump());
    const net::Response preview =
        call(net::Method::kPost, "/placements:preview", spec({{"deadline", "2020-01-01T00:00:00Z"}}).dump());

    EXPECT_EQ(refused.status, 400) << refused.body;
    EXPECT_THAT(refused.body, HasSubstr("has passed: it is 20"));
    EXPECT_THAT(refused.body, HasSubstr("\"deadline\""));
    EXPECT_EQ(preview.status, 400);
}

TEST_F(RoutingWindows, AllThatIsWrongWithDataIsSaidAtOnce)
{
    const net::Response refused = call(
        net::Method::kPost, "/jobs",
        R"({"command": ["x"], "network": "later", "deadline": "soon", "data": {"in": [{"bytes": -1}, {"url": "x"}], "out_bytes": "x"}})");

    EXPECT_EQ(refused.status, 400);
    for (const char* field : {"network", "deadline", "data.in[0].bytes", "data.in[1].bytes", "data.out_bytes"})
        EXPECT_THAT(refused.body, HasSubstr("\"" + std::string(field) + "\"")) << refused.body;
}

TEST_F(RoutingWindows, AJobThatWouldMissItsDeadlineWaitsAndEndsWithIt)
{
    add_operators();
    add_measurement(add_center("alpha"), 1.0);

    // Admission refuses what can be known then: here what can be done in time changes afterwards.
    const JobId job = submit(dgemm_job({{"deadline", later(1h)}}));
    sql("UPDATE job SET spec = jsonb_set(spec, '{deadline}', '\"" + later(50s) + "\"') WHERE id = '" + job.value + "'");
    route();
    EXPECT_EQ(state_of(job), "queued");
    EXPECT_THAT(reason_of(job), HasSubstr("after the deadline"));

    sql("UPDATE job SET spec = jsonb_set(spec, '{deadline}', '\"2026-01-01T00:00:00Z\"') WHERE id = '" + job.value +
        "'");
    route();

    EXPECT_EQ(state_of(job), "failed");
    EXPECT_THAT(sql("SELECT end_reason FROM job WHERE id = '" + job.value + "'"),
                StartsWith("its deadline 2026-01-01T00:00:00"));
    EXPECT_EQ(events_of(job), (std::vector<std::string>{"queued", "failed"}));
}

} // namespace
} // namespace fathom::server
