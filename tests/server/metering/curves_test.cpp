#include "server/metering/curves_service.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gmock/gmock.h>
#include <pqxx/pqxx>

#include <cmath>

namespace fathom::server {
namespace {

using test::TestStore;

class Curves : public testing::Test {
  protected:
    Curves() { test::add_center(store_, "alpha", test::golden_catalog()); }
    ~Curves() override { store_.database().stop(); }

    /// One measurement on so many units of alpha/u1, `age` (an interval) old, with 1e8 bytes an execution.
    void measure(const std::string& operator_id, std::int64_t unit_count, double median_s, const std::string& age)
    {
        test::add_measurement(
            store_,
            {.operator_id = operator_id, .unit_count = unit_count, .median_s = median_s, .bytes = 1e8, .age = age});
    }

    /// One measurement on a unit of alpha/u1 while jobs held so many cores of its host.
    void measure_beside(const std::string& operator_id, double busy_cores, double median_s)
    {
        test::add_measurement(
            store_, {.operator_id = operator_id, .median_s = median_s, .age = "1 hour", .busy_cores = busy_cores});
    }

    /// Copies side by side, so many times slower than one alone, with cores held by others' jobs.
    void measure_copies(const std::string& operator_id, const std::vector<double>& times_s, double alone_s,
                        double busy_cores)
    {
        const auto copies = static_cast<std::int64_t>(times_s.size());
        // The run's own measurement, of copies, is no part of it.
        test::add_measurement(store_, {.operator_id = operator_id, .unit_count = copies, .median_s = times_s.front()});
        store_
            .run([&](pqxx::work& transaction) -> Result<void> {
                const auto run = transaction
                                     .exec_params("DELETE FROM measurement WHERE operator_id = $1 AND unit_count = $2 "
                                                  "RETURNING probe_run_id",
                                                  operator_id, copies)[0][0]
                                     .as<std::string>();
                transaction.exec_params("UPDATE probe_run SET mode = 'throughput', busy_cores = $2 WHERE id = $1", run,
                                        busy_cores);
                for (std::size_t i = 0; i < times_s.size(); ++i)
                    transaction.exec_params(
                        "INSERT INTO copy_measurement (probe_run_id, copy, operator_id, operator_version, "
                        "parameters_key, unit_type_id, copies, median_s, ci_low_s, ci_high_s, alone_s) "
                        "SELECT $1, $2, $3, 1, 'n=10', id, $4, $5, $5, $5, $6 FROM unit_type WHERE name = 'u1'",
                        run, static_cast<std::int64_t>(i + 1), operator_id, copies, times_s[i], alone_s);
                return {};
            })
            .value();
    }

    TestStore store_;
    fathom::test::TestIo io_;
    CurvesService service_{store_.database()};
};

TEST_F(Curves, AnOperatorOnSeveralCountsHasACurveOfItsNewestMeasurements)
{
    measure("dgemm", 1, 99, "2 days"); // superseded
    measure("dgemm", 1, 8, "1 hour");
    measure("dgemm", 2, 4.5, "1 hour");
    measure("dgemm", 4, 2.75, "1 hour");
    measure("fft1d", 1, 1, "1 hour"); // one count is no curve

    const auto page = io_.run(service_.measured_counts({"alpha", "", ""}, 10, "")).value();

    ASSERT_EQ(page.items.size(), 1U);
    EXPECT_EQ(page.items[0].operator_id, "dgemm");
    EXPECT_EQ(page.items[0].place.unit_type, "u1");
    ASSERT_EQ(page.items[0].points.size(), 3U);
    EXPECT_DOUBLE_EQ(page.items[0].points[0].rate, 1 / 8.0);
    // 1 s is not divided and 7 s are: t = 1 + 7/n.
    const ScalingCurve curve = fit_scaling(page.items[0].points, ScalingMode::kStrong).value();
    EXPECT_NEAR(curve.rate(7).rate, 1 / 2.0, 1e-6);
}

TEST_F(Curves, SeveralResultsOfOneCountMakeItsPointTogether)
{
    measure("dgemm", 1, 8, "2 hours");
    measure("dgemm", 1, 8.3, "1 hour");
    measure("dgemm", 2, 7, "3 hours"); // before a change
    measure("dgemm", 2, 4.5, "1 hour");

    const auto page = io_.run(service_.measured_counts({}, 10, "")).value();

    ASSERT_EQ(page.items.size(), 1U);
    ASSERT_EQ(page.items[0].points.size(), 2U);
    EXPECT_EQ(page.items[0].points[0].unit_count, 1);
    EXPECT_NEAR(page.items[0].points[0].rate, 1 / std::sqrt(8 * 8.3), 1e-9);
    EXPECT_DOUBLE_EQ(page.items[0].points[1].rate, 1 / 4.5);
}

TEST_F(Curves, ListsGoOnAfterAKey)
{
    for (const char* operator_id : {"dgemm", "fft1d", "spmv"}) {
        measure(operator_id, 1, 1, "1 hour");
        measure(operator_id, 2, 0.6, "1 hour");
    }

    const auto first = io_.run(service_.measured_counts({}, 2, "")).value();
    const auto rest = io_.run(service_.measured_counts({}, 2, first.next_after)).value();

    EXPECT_EQ(first.items.size(), 2U);
    ASSERT_EQ(rest.items.size(), 1U);
    EXPECT_EQ(rest.items[0].operator_id, "spmv");
    EXPECT_TRUE(rest.next_after.empty());
    EXPECT_FALSE(io_.run(service_.measured_counts({}, 2, "nonsense")));
}

TEST_F(Curves, ResultsBesideDifferentLoadsTellWhatNeighboursCost)
{
    measure_beside("stream_triad", 0, 1);
    measure_beside("stream_triad", 4, 1.5);
    measure("stream_triad", 1, 9, "1 hour"); // nobody knows what ran beside it
    measure("stream_triad", 2, 9, "1 hour"); // on two units
    measure_beside("dgemm", 0, 1);
    measure_beside("dgemm", 0.2, 1.1); // no other load

    const auto page = io_.run(service_.measured_loads({"alpha", "alpha/u1", ""}, 10, "")).value();

    ASSERT_EQ(page.items.size(), 1U);
    EXPECT_EQ(page.items[0].operator_id, "stream_triad");
    EXPECT_EQ(page.items[0].place.unit_type, "u1");
    ASSERT_EQ(page.items[0].results.size(), 2U);
    const auto curve = fit_load_curve(page.items[0].results);
    ASSERT_TRUE(curve);
    EXPECT_GT(curve->at(4).factor, 1.3);
    EXPECT_EQ(curve->largest_busy_cores, 4);
    EXPECT_TRUE(io_.run(service_.measured_loads({"", "", "dgemm"}, 10, "")).value().items.empty());
}

TEST_F(Curves, CopiesSideBySideTellWhatTheWorstNeighboursCost)
{
    measure_copies("stream_triad", {1.5, 1.7}, 1, 0);
    measure_copies("dgemm", {1.5, 1.7}, 1, 3); // others' jobs were there, too

    const auto page = io_.run(service_.measured_loads({"alpha", "alpha/u1", ""}, 10, "")).value();

    ASSERT_EQ(page.items.size(), 1U);
    EXPECT_EQ(page.items[0].operator_id, "stream_triad");
    EXPECT_TRUE(page.items[0].results.empty()) << "a copy is no measurement of a unit";
    ASSERT_EQ(page.items[0].copies.size(), 2U);
    const auto curve = fit_load_curve(page.items[0].results, page.items[0].copies);
    ASSERT_TRUE(curve);
    EXPECT_NEAR(curve->copies.at(0).log_factor, std::log(1.5 * 1.7) / 2, 1e-9);
    EXPECT_EQ(curve->copies[0].copies, 2);
}

TEST_F(Curves, TheMeansOfCopiesGoBeforeTheirMedians)
{
    measure_copies("stream_triad", {1.5, 1.5}, 1, 0);
    store_.sql("UPDATE copy_measurement SET slowdown = 1.6, slowdown_deviation = 0.3 WHERE copy = 1");

    const auto page = io_.run(service_.measured_loads({"alpha", "alpha/u1", ""}, 10, "")).value();

    ASSERT_EQ(page.items.at(0).copies.size(), 2U);
    EXPECT_DOUBLE_EQ(page.items[0].copies[0].ratio, 1.6);
    EXPECT_DOUBLE_EQ(page.items[0].copies[0].deviation, 0.3);
    EXPECT_DOUBLE_EQ(page.items[0].copies[1].ratio, 1.5) << "measured before means were taken";
    EXPECT_DOUBLE_EQ(page.items[0].copies[1].deviation, 0);
}

TEST_F(Curves, CopiesThatTookTurnsWithBubblesTellMixes)
{
    measure_copies("stream_triad", {1.5, 1.7}, 1, 0);
    store_.sql("UPDATE copy_measurement SET beside_bubbles = 1.8, reporter_beside = 1.4, reporter_beside_bubbles = 1.6 "
               "WHERE copy = 1");

    const auto page = io_.run(service_.measured_loads({"alpha", "alpha/u1", ""}, 10, "")).value();

    ASSERT_EQ(page.items.at(0).copies.size(), 2U);
    const auto curve = fit_load_curve(page.items[0].results, page.items[0].copies);
    ASSERT_TRUE(curve && curve->pressure);
    EXPECT_NEAR(curve->bubbles.at(0).log_factor, std::log(1.8), 1e-9);
    EXPECT_NEAR(curve->pressure->per_core, std::log(1.4) / std::log(1.6), 0.02);
}

TEST_F(Curves, CopiesAndNeighboursStandTogether)
{
    measure_beside("stream_triad", 0, 1);
    measure_beside("stream_triad", 4, 1.5);
    measure_copies("stream_triad", {1.2, 1.2}, 1, 0);

    const auto page = io_.run(service_.measured_loads({"alpha", "alpha/u1", ""}, 10, "")).value();

    ASSERT_EQ(page.items.size(), 1U);
    EXPECT_EQ(page.items[0].results.size(), 2U);
    EXPECT_EQ(page.items[0].copies.size(), 2U);
}

TEST_F(Curves, ListsOfLoadsGoOnAfterAKey)
{
    for (const char* operator_id : {"dgemm", "fft1d", "spmv"}) {
        measure_beside(operator_id, 0, 1);
        measure_beside(operator_id, 2, 1.2);
    }

    const auto first = io_.run(service_.measured_loads({}, 2, "")).value();
    const auto rest = io_.run(service_.measured_loads({}, 2, first.next_after)).value();

    EXPECT_EQ(first.items.size(), 2U);
    ASSERT_EQ(rest.items.size(), 1U);
    EXPECT_EQ(rest.items[0].operator_id, "spmv");
    EXPECT_FALSE(io_.run(service_.measured_loads({}, 2, "nonsense")));
}

TEST_F(Curves, TransfersAreFetchesByTime)
{
    measure("network_fetch", 1, 4, "1 hour");
    measure("network_fetch", 1, 2, "3 hours");
    measure("network_fetch", 1, 1, "100 days"); // too old
    measure("dgemm", 1, 1, "1 hour");

    const auto page = io_.run(service_.transfers({}, 10, "")).value();

    ASSERT_EQ(page.items.size(), 1U);
    ASSERT_EQ(page.items[0].samples.size(), 2U);
    EXPECT_DOUBLE_EQ(page.items[0].samples[0].rate_bytes, 5e7);
    EXPECT_DOUBLE_EQ(page.items[0].samples[1].rate_bytes, 2.5e7);
}

TEST_F(Curves, WithoutJobsNobodyIsJudged)
{
    EXPECT_TRUE(io_.run(service_.trust()).value().empty());
}

} // namespace
} // namespace fathom::server
