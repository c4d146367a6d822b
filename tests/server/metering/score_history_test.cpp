// GET /scores/history: how an operator did on one unit type over time.
#include "server/metering/metering_service.hpp"
#include "server/metering/scores_service.hpp"
#include "tests/server/centers/support/network_data.hpp"
#include "tests/support/test_io.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

using test::TestStore;
using testing::ElementsAre;
using testing::HasSubstr;

/// 1000 points for 1 s of op1, as many times more as it was faster.
MetricPolicy policy_of_op1()
{
    return parse_metric_policy(Json::parse(R"({"id": "r", "kind": "relative", "reference_machine": "m",
        "reference": [{"operator": "op1", "parameters": {"n": 10}, "operations": 20, "bytes": 80, "median_s": 1}]})"))
        .value();
}

class ScoreHistory : public testing::Test {
  protected:
    ~ScoreHistory() override { store_.database().stop(); }

    void SetUp() override
    {
        ASSERT_TRUE(operators_.seed({test::simple_operator("op1")}));
        ASSERT_TRUE(service_.seed({policy_of_op1()}));
        test::add_center(store_, "alpha", test::golden_catalog());
    }

    /// One measurement of op1 on alpha/u1.
    void measure(double median_s, const std::string& age, std::int64_t unit_count = 1, double error = 0)
    {
        test::add_measurement(
            store_, {.operator_id = "op1", .unit_count = unit_count, .median_s = median_s, .error = error, .age = age});
    }

    ScoresService::ScoreHistory read(HistoryFilter filter, std::int64_t size = 100, const std::string& after = "")
    {
        filter.unit_type = "alpha/u1";
        if (filter.operator_id.empty()) filter.operator_id = "op1";
        return io_.run(scores_.history("", std::move(filter), size, after)).value();
    }

    /// The times that were measured, as they are told.
    std::vector<double> medians(const HistoryFilter& filter)
    {
        std::vector<double> times;
        for (const ScorePoint& point : read(filter).page.items)
            times.push_back(point.record.measured.median_s);
        return times;
    }

    TestStore store_;
    fathom::test::TestIo io_;
    OperatorsService operators_{store_.database()};
    MeteringService service_{store_.database(), operators_};
    ComputePool compute_;
    ScoresService scores_{store_.database(), operators_, compute_, std::chrono::milliseconds(0)};
};

TEST_F(ScoreHistory, HasEveryMeasurementTheNewestFirstPageByPage)
{
    measure(2, "2 days");
    measure(1, "1 day");
    measure(0.5, "0 seconds");

    const ScoresService::ScoreHistory first = read({}, 2);
    const ScoresService::ScoreHistory second = read({}, 2, first.page.next_after);

    EXPECT_EQ(policy_name(first.policy), "r@1");
    ASSERT_EQ(first.page.items.size(), 2U);
    EXPECT_NEAR(first.page.items[0].score.value().value, 2000, 1e-9);
    EXPECT_NEAR(first.page.items[1].score.value().value, 1000, 1e-9);
    EXPECT_EQ(first.page.items[0].record.center, "alpha");
    EXPECT_FALSE(first.page.items[0].record.measured.probe_run_id.empty());
    ASSERT_EQ(second.page.items.size(), 1U);
    EXPECT_NEAR(second.page.items[0].score.value().value, 500, 1e-9);
    EXPECT_EQ(second.page.next_after, "");
}

TEST_F(ScoreHistory, TheNewestPointScoresAsTheListOfScoresDoes)
{
    measure(2, "1 day");
    measure(0.8, "0 seconds", 1, 1e-11); // ten times the tolerance

    const auto listed = io_.run(scores_.by_operator("", {}, 10, "")).value().page.items;
    const auto points = read({}).page.items;

    ASSERT_EQ(listed.size(), 1U);
    ASSERT_EQ(points.size(), 2U);
    EXPECT_EQ(listed[0].trust_factor, 1);
    EXPECT_EQ(points[0].score.value().value, listed[0].score.value().value);
    EXPECT_LT(points[0].score.value().value, 1250) << "a wrong result gets less";
}

TEST_F(ScoreHistory, VersionsOfAnOperatorNeverMix)
{
    measure(2, "2 days");
    measure(3, "1 day");
    store_.sql("UPDATE measurement SET operator_version = 2 WHERE median_s = 3 RETURNING 1");

    EXPECT_THAT(medians({}), ElementsAre(2)) << "the library has version 1 in use";
    EXPECT_THAT(medians({.version = 2}), ElementsAre(3));
    EXPECT_THAT(medians({.version = 3}), ElementsAre());
}

TEST_F(ScoreHistory, OfAnOperatorThatTheLibraryLacksTheNewestVersionIsTold)
{
    test::add_measurement(store_, {.operator_id = "op3", .median_s = 2, .age = "2 days"});
    test::add_measurement(store_, {.operator_id = "op3", .median_s = 3, .age = "1 day"});
    store_.sql("UPDATE measurement SET operator_version = 2 WHERE median_s = 3 RETURNING 1");

    EXPECT_THAT(medians({.operator_id = "op3"}), ElementsAre(3));
    EXPECT_FALSE(read({.operator_id = "op3"}).page.items.at(0).score) << "the policy lacks op3";
    EXPECT_THAT(medians({.operator_id = "op2"}), ElementsAre()) << "never measured, on a unit type that there is";
}

TEST_F(ScoreHistory, SizesCountsAndTimesCanBeChosen)
{
    measure(2, "3 days");
    measure(3, "2 days", 4);
    measure(5, "1 day");
    store_.sql("UPDATE measurement SET parameters_key = 'n=20', parameters = '{\"n\": 20}' WHERE median_s = 5 "
               "RETURNING 1");
    const Timestamp now = SystemClock().now();

    EXPECT_THAT(medians({}), ElementsAre(5, 3, 2));
    EXPECT_THAT(medians({.parameters_key = "n=10"}), ElementsAre(3, 2));
    EXPECT_THAT(medians({.parameters_key = "n=20"}), ElementsAre(5));
    EXPECT_THAT(medians({.unit_count = 4}), ElementsAre(3));
    EXPECT_THAT(medians({.since = now - std::chrono::hours(60)}), ElementsAre(5, 3));
    EXPECT_THAT(medians({.until = now - std::chrono::hours(60)}), ElementsAre(2));
    EXPECT_THAT(medians({.since = now - std::chrono::hours(60), .until = now - std::chrono::hours(36)}),
                ElementsAre(3));
}

TEST_F(ScoreHistory, WhatWasFoundToBeFalseIsToldAndHasNoScore)
{
    measure(2, "2 days");
    measure(1, "1 day");
    store_.sql("UPDATE measurement SET void_reason = 'the checksum is wrong' WHERE median_s = 1 RETURNING 1");

    const auto points = read({}).page.items;

    ASSERT_EQ(points.size(), 2U);
    EXPECT_FALSE(points[0].score);
    EXPECT_EQ(points[0].record.void_reason, "the checksum is wrong");
    EXPECT_THAT(points[0].missing, HasSubstr("the checksum is wrong"));
    EXPECT_TRUE(points[1].score);
    EXPECT_EQ(points[1].record.void_reason, "");
}

TEST_F(ScoreHistory, WrongQuestionsAreTheCallersFault)
{
    const HistoryFilter filter{.unit_type = "alpha/u1", .operator_id = "op1"};
    EXPECT_EQ(io_.run(scores_.history("nothing", filter, 10, "")).error().code, Errc::kInvalid);
    for (const char* after : {"x", "[]", "[1,2,3]", R"(["a","b","c"])"})
        EXPECT_EQ(io_.run(scores_.history("", filter, 10, after)).error().code, Errc::kInvalid) << after;
    const auto elsewhere = io_.run(scores_.history("", {.unit_type = "beta/u1", .operator_id = "op1"}, 10, ""));
    EXPECT_EQ(elsewhere.error().code, Errc::kNotFound);
    EXPECT_THAT(elsewhere.error().detail, HasSubstr("beta/u1"));
}

} // namespace
} // namespace fathom::server
