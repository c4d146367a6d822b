#include "core/model/probe_result.hpp"
#include "core/model/probe_task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

template <class T>
std::vector<std::string> fields_of(const Result<T>& result)
{
    std::vector<std::string> fields;
    if (result) return fields;
    const Error error = result.error();
    EXPECT_EQ(error.code, Errc::kInvalid);
    for (const FieldError& field : error.fields)
        fields.push_back(field.field);
    return fields;
}

TEST(ProbeTask, HasDefaults)
{
    const Result<ProbeTask> task = parse_probe_task(Json::parse(R"({"name": "t", "operators": [{"id": "dgemm"}]})"));

    ASSERT_TRUE(task) << describe(task.error());
    EXPECT_EQ(task->repeats, 7);
    EXPECT_DOUBLE_EQ(task->min_sample_s, 0.02);
    EXPECT_DOUBLE_EQ(task->limit_s, 10);
    EXPECT_DOUBLE_EQ(task->target_interval, 0.03);
    EXPECT_EQ(task->seed, 0);
    EXPECT_EQ(task->operators[0].version, 0);
    EXPECT_EQ(task->operators[0].count, 1);
}

TEST(ProbeTask, IsReadAndWrittenWithoutLoss)
{
    const Json json = Json::parse(R"({"name": "t", "repeats": 5, "min_sample_s": 0.5, "limit_s": 3.5,
        "target_interval": 0.01, "sample_budget_s": 1.5, "seed": 9007199254740991, "operators": [
        {"id": "dgemm", "version": 2, "parameters": {"m": 8}, "count": 4}]})");

    const Result<ProbeTask> task = parse_probe_task(json);

    ASSERT_TRUE(task) << describe(task.error());
    EXPECT_EQ(to_json(*task), json);
}

TEST(ProbeTask, ReportsEveryError)
{
    EXPECT_THAT(
        fields_of(parse_probe_task(Json::parse(R"({"operators": [{"id": "a", "count": 0}, {"x": 1}],
                    "repeats": 0, "limit_s": 1e9})"))),
        UnorderedElementsAre("name", "operators[0].count", "operators[1].id", "operators[1].x", "repeats", "limit_s"));
    EXPECT_THAT(fields_of(parse_probe_task(Json::parse(R"({"name": "t", "operators": []})"))),
                ElementsAre("operators"));
    EXPECT_FALSE(parse_probe_task(Json::parse("[]")));
}

TEST(OperatorKey, NamesOperatorAndSize)
{
    EXPECT_EQ(operator_key("dgemm", {{"m", 512}, {"k", 64}}), "dgemm(k=64,m=512)");
    EXPECT_EQ(operator_key("noop", {}), "noop()");
}

ProbeResult result()
{
    OperatorResult item;
    item.id = "dgemm";
    item.parameters = {{"m", 8}};
    item.count = 3;
    item.first_s = 0.5;
    item.samples_s = {0.2, 0.25, 0.9};
    item.outliers = {2};
    item.median_s = 0.25;
    item.ci_low_s = 0.2;
    item.ci_high_s = 0.9;
    item.spread = 0.1;
    item.operations = 1e9;
    item.bytes = 2e9;
    item.error = 1e-15;
    item.tolerance = 1e-12;
    item.precision = "fp64";
    item.library = "OpenBLAS 0.3.21 SkylakeX";
    item.checksum = "0123456789abcdef";
    return {.task = "t",
            .runner_version = "0.1.0",
            .wall_s = 2,
            .start_up_s = 0.1,
            .task_s = 0.75,
            .cores = 2,
            .unit_count = 3,
            .operators = {item},
            .host = {{"hostname", "h"}}};
}

TEST(ProbeResult, IsReadAndWrittenWithoutLoss)
{
    ProbeResult written = result();
    written.operators[0].figures = {{"compressed_fraction", 0.3}};
    const Json json = to_json(written);

    const Result<ProbeResult> read = parse_probe_result(json);

    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(to_json(*read), json);
}

TEST(ProbeResult, HasFiguresThatAreNumbers)
{
    Json json = to_json(result());
    EXPECT_FALSE(json["operators"][0].contains("figures")) << "most have none";
    json["operators"][0]["figures"] = {{"compressed_fraction", "a third"}};

    EXPECT_THAT(fields_of(parse_probe_result(json)), UnorderedElementsAre("operators[0].figures"));
}

TEST(ProbeResult, CarriesRates)
{
    const Json json = to_json(result());

    EXPECT_DOUBLE_EQ(json["operators"][0]["rate_flops"].get<double>(), 4e9);
    EXPECT_DOUBLE_EQ(json["operators"][0]["rate_bytes"].get<double>(), 8e9);
}

TEST(ProbeResult, IgnoresFieldsOfNewerRunners)
{
    Json json = to_json(result());
    json["energy_j"] = 12;
    json["operators"][0]["energy_j"] = 12;

    const Result<ProbeResult> read = parse_probe_result(json);
    EXPECT_TRUE(read) << describe(read.error());
}

TEST(ProbeResult, ReportsEveryError)
{
    Json json = to_json(result());
    json["operators"][0]["samples_s"] = Json::array();
    json["operators"][0]["median_s"] = nullptr; // what a NaN becomes
    json["cores"] = 0;
    json.erase("task");

    EXPECT_THAT(fields_of(parse_probe_result(json)),
                UnorderedElementsAre("operators[0].samples_s", "operators[0].median_s", "cores", "task"));
}

} // namespace
} // namespace fathom
