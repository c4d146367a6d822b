#include "core/decide/prediction/query_plan.hpp"
#include "core/decide/prediction/spark_log.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::HasSubstr;

/// A join of two tables, of which one is filtered, over 1000 machines: 1 GB on each for the filter and for the join, of
/// which each hands on a tenth. Spec 2's golden rows, as an answer of PostgreSQL.
Json golden_plan()
{
    return Json::parse(R"([{"Plan": {"Node Type": "Hash Join", "Plan Rows": 100000000, "Plan Width": 1000, "Plans": [
        {"Node Type": "Seq Scan", "Plan Rows": 1, "Plan Width": 1000, "Actual Rows": 50000000, "Actual Loops": 2,
         "Rows Removed by Filter": 450000000},
        {"Node Type": "Hash", "Plan Rows": 900000000, "Plan Width": 1000, "Plans": [
            {"Node Type": "Seq Scan", "Plan Rows": 900000000, "Plan Width": 1000}]}]}}])");
}

/// Spec 2's machines with 100 Gb InfiniBand.
PlanConditions golden_conditions()
{
    SpeedupQuestion machine;
    machine.machines = 1000;
    machine.network_gb = 10;
    machine.gpu_parallelism = 64;
    return {.linear = machine, .quadratic = machine, .linear_t = 0.005, .quadratic_t = 0.2};
}

TEST(QueryPlan, GoldenFilterAndJoin)
{
    const std::vector<PlanOperator> operators = read_postgres_plan(golden_plan()).value();
    ASSERT_EQ(operators.size(), 4U);
    EXPECT_EQ(operators[0].operator_class, OperatorClass::kQuadratic);
    EXPECT_EQ(operators[1].depth, 1U);
    EXPECT_DOUBLE_EQ(operators[1].input_bytes, 1e12);
    EXPECT_DOUBLE_EQ(operators[1].output_bytes, 1e11);

    const PlanAnswer answer = plan_devices(operators, golden_conditions()).value();

    EXPECT_NEAR(answer.operators[0].answer.speedup, 2.3162, 5e-5);
    EXPECT_TRUE(answer.operators[0].answer.runs_on_gpu);
    EXPECT_NEAR(answer.operators[1].answer.speedup, 0.9872, 5e-5);
    EXPECT_FALSE(answer.operators[1].answer.runs_on_gpu);
    double best_s = 0;
    for (const PlannedOperator& one : answer.operators)
        best_s += std::min(one.answer.cpu_s, one.answer.gpu_s);
    EXPECT_DOUBLE_EQ(answer.best_s, best_s);
    EXPECT_DOUBLE_EQ(answer.gain, answer.cpu_s / best_s);
    EXPECT_EQ(to_json(answer)["operators"][0]["run_on"], "GPU");
}

TEST(QueryPlan, GoldenStepsOnMachinesOfOneKindEach)
{
    // Join, scan of 1 TB that hands on 100 GB, hash and scan of 900 GB each. Over 10 GB/s a scan of 1 TB gains 0.1469 s
    // on CPUs, but 100 GB need 10 s to the join on GPUs: the whole stays together.
    const std::vector<PlanOperator> operators = read_postgres_plan(golden_plan()).value();
    const PlanAnswer together = plan_devices(operators, golden_conditions()).value();
    // A filter that leaves 1 GB of it gains 0.1159 s on CPUs, and its result needs 0.1 s.
    std::vector<PlanOperator> selective = operators;
    selective[1].output_bytes = 1e9;
    const PlanAnswer divided = plan_devices(selective, golden_conditions()).value();

    EXPECT_FALSE(together.split.runs_as_steps);
    EXPECT_TRUE(together.split.whole_runs_on_gpu);
    EXPECT_DOUBLE_EQ(together.split.total_s, together.gpu_s);
    EXPECT_EQ(to_json(together)["split"]["run"], "whole");
    EXPECT_EQ(to_json(together)["operators"][1]["step_on"], "GPU") << "though alone it were better on CPUs";
    EXPECT_EQ(to_json(together)["operators"][1]["run_on"], "CPU");
    ASSERT_TRUE(divided.split.runs_as_steps);
    EXPECT_FALSE(divided.split.steps[1].runs_on_gpu);
    EXPECT_DOUBLE_EQ(divided.split.passing_s, 0.1) << "1 GB over 10 GB/s";
    EXPECT_TRUE(divided.split.steps[0].runs_on_gpu);
    EXPECT_LT(divided.split.total_s, divided.gpu_s);
}

TEST(QueryPlan, WhatStandsBelowAnOperatorWithoutInputIsReadByTheOneAboveIt)
{
    // Two filters that are better on CPUs; the second stands below a limit of nothing, beside the first.
    const auto linear = [](std::size_t depth, double input_bytes, double output_bytes) {
        return PlanOperator{"Seq Scan", depth, OperatorClass::kLinear, input_bytes, output_bytes, std::nullopt};
    };
    const std::vector<PlanOperator> operators{{"Hash Join", 0, OperatorClass::kQuadratic, 1e12, 1e11, std::nullopt},
                                              linear(1, 1e12, 1e9),
                                              linear(1, 0, 0),
                                              linear(2, 1e12, 1e9)};

    const PlanAnswer answer = plan_devices(operators, golden_conditions()).value();

    ASSERT_EQ(answer.split.steps.size(), 3U);
    EXPECT_TRUE(answer.split.steps[0].runs_on_gpu);
    EXPECT_FALSE(answer.split.steps[1].runs_on_gpu);
    EXPECT_FALSE(answer.split.steps[2].runs_on_gpu);
    EXPECT_DOUBLE_EQ(answer.split.passing_s, 0.2) << "both hand theirs to the join";
}

TEST(QueryPlan, ResultsPassCompressedWhereThatIsFaster)
{
    SpeedupQuestion machine;
    machine.machines = 10;
    machine.network_gb = 0.125;
    machine.compression = Compression{.fraction = 0.3, .speed_gb = 0.1};

    // 10 GB: 80 s as they are; compressed and expanded by ten machines 10 s each, and 24 s on the way.
    EXPECT_DOUBLE_EQ(seconds_to_pass(1e10, machine), 44);
    machine.network_gb = 10;
    EXPECT_DOUBLE_EQ(seconds_to_pass(1e10, machine), 1) << "a fast network needs no compression";
}

TEST(QueryPlan, TakesTFromTheTimesOfAPlanThatWasRun)
{
    const Json explain = Json::parse(R"([{"Plan": {"Node Type": "Aggregate", "Actual Rows": 1, "Actual Loops": 1,
        "Plan Width": 8, "Actual Total Time": 3000, "Plans": [
        {"Node Type": "Seq Scan", "Actual Rows": 10000000, "Actual Loops": 1, "Plan Width": 100,
         "Actual Total Time": 1000}]}}])");
    const std::vector<PlanOperator> operators = read_postgres_plan(explain).value();
    PlanConditions conditions = golden_conditions();
    conditions.linear_t.reset();

    // 2 s of its own for 1 GB: 0.2 s for 100 MB.
    EXPECT_DOUBLE_EQ(*operators[0].measured_s, 2);
    EXPECT_DOUBLE_EQ(*seconds_per_100mb(operators[0], conditions), 0.2);
    EXPECT_DOUBLE_EQ(*seconds_per_100mb(operators[1], conditions), 0.1);
}

TEST(QueryPlan, SaysWhatItCannotKnow)
{
    PlanConditions conditions = golden_conditions();
    conditions.quadratic_t.reset();
    const Result<PlanAnswer> answer = plan_devices(read_postgres_plan(golden_plan()).value(), conditions);

    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().detail, HasSubstr("\"Hash Join\" is not known: give it for the class quadratic"));
}

TEST(QueryPlan, RefusesWhatIsNone)
{
    for (const char* text : {"{}", "[]", "3", R"([{"Plan": {}}])", R"({"Plan": {"Node Type": 3}})",
                             R"({"Plan": {"Node Type": "Limit", "Plans": [7]}})"})
        EXPECT_FALSE(read_postgres_plan(Json::parse(text))) << text;
    Json deep = {{"Node Type", "Limit"}};
    for (int i = 0; i < 300; ++i)
        deep = {{"Node Type", "Limit"}, {"Plans", Json::array({deep})}};
    Json explain = Json::object();
    explain["Plan"] = deep;
    EXPECT_EQ(read_postgres_plan(explain).error().code, Errc::kTooLarge);
}

/// Two plans of one execution: the second is the adapted one.
SparkLog spark_log()
{
    const std::string scan = R"({"nodeName": "Scan parquet ", "children": [], "metrics": [
        {"name": "size of files read", "accumulatorId": 1}, {"name": "number of output rows", "accumulatorId": 2}]})";
    const std::string filter = R"({"nodeName": "Filter", "children": [)" + scan +
                               R"(], "metrics": [{"name": "number of output rows", "accumulatorId": 3}]})";
    const std::string join =
        R"({"nodeName": "SortMergeJoin", "metrics": [{"name": "number of output rows", "accumulatorId": 4}],
        "children": [{"nodeName": "WholeStageCodegen 1", "metrics": [], "children": [)" +
        filter + "]}]}";
    SparkLog log;
    for (
        const std::string& line :
        {std::string(R"({"Event": "SparkListenerLogStart", "Spark Version": "3.5.1"})"),
         R"({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "executionId": 7, "sparkPlanInfo": )" +
             filter + "}",
         R"({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate", "executionId": 7, "sparkPlanInfo": )" +
             join + "}",
         std::string(
             R"({"Event": "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates", "executionId": 7, "accumUpdates": [[1, 1000000]]})"),
         std::string(R"({"Event": "SparkListenerTaskEnd", "Task Info": {"Accumulables": [
              {"ID": 2, "Update": "600", "Value": "600"}, {"ID": 3, "Update": 60}]}})"),
         std::string(R"({"Event": "SparkListenerTaskEnd", "Task Info": {"Accumulables": [
              {"ID": 2, "Update": "400", "Value": "1000"}, {"ID": 3, "Update": 40}, {"ID": 4, "Update": "50"}]}})")})
        EXPECT_TRUE(log.add_line(line)) << line;
    return log;
}

TEST(SparkPlan, SizesComeFromTheTasksOfTheAdaptedPlan)
{
    const std::vector<PlanOperator> operators = spark_log().plan(std::nullopt).value();

    ASSERT_EQ(operators.size(), 3U) << "what only shows how others are compiled is left out";
    EXPECT_EQ(operators[0].name, "SortMergeJoin");
    EXPECT_EQ(operators[0].operator_class, OperatorClass::kQuadratic);
    EXPECT_EQ(operators[1].depth, 1U);
    EXPECT_DOUBLE_EQ(operators[2].input_bytes, 1e6);
    EXPECT_DOUBLE_EQ(operators[1].input_bytes, 1e6);
    EXPECT_DOUBLE_EQ(operators[1].output_bytes, 1e5) << "100 of 1000 rows";
    EXPECT_DOUBLE_EQ(operators[0].output_bytes, 5e4);
}

TEST(SparkPlan, NamesTheExecutionThatIsNotThere)
{
    EXPECT_TRUE(spark_log().plan(7));
    EXPECT_EQ(spark_log().plan(8).error().detail, "the event log has no plan of execution 8");
    SparkLog log;
    EXPECT_FALSE(log.add_line(R"({"Event": "SparkListenerTaskEnd")"));
    EXPECT_TRUE(log.add_line("not an event that is read"));
}

} // namespace
} // namespace fathom
