#include "core/decide/prediction/speedup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fathom {
namespace {

struct Golden {
    double network_gb;
    bool is_compressed;
    OperatorClass operator_class;
    double seconds_per_100mb;
    double cpu_s;
    double gpu_s;
    double speedup;
    bool runs_on_gpu;
};

SpeedupQuestion question(const Golden& row)
{
    SpeedupQuestion q;
    q.operator_class = row.operator_class;
    q.seconds_per_100mb = row.seconds_per_100mb;
    q.input_gb = 1;
    q.machines = 1000;
    q.network_gb = row.network_gb;
    q.gpu_parallelism = 64;
    if (row.is_compressed) q.compression = Compression{0.3, 0.1};
    return q;
}

// The table of spec 2, literally.
TEST(Speedup, GoldenTable)
{
    constexpr auto kLinear = OperatorClass::kLinear;
    constexpr auto kQuadratic = OperatorClass::kQuadratic;
    const std::vector<Golden> table{
        {0.125, false, kLinear, 0.005, 889.0889, 889.2358, 0.9998, false},
        {0.125, false, kQuadratic, 0.2, 904.8889, 889.4826, 1.0173, true},
        {10, false, kLinear, 0.005, 11.3111, 11.4580, 0.9872, false},
        {10, false, kQuadratic, 0.2, 27.1111, 11.7049, 2.3162, true},
        {0.125, true, kLinear, 0.005, 889.0889, 278.0135, 3.1980, true},
        {0.125, true, kQuadratic, 0.2, 904.8889, 278.2604, 3.2519, true},
        {10, true, kLinear, 0.005, 11.3111, 14.6802, 0.7705, false},
        {10, true, kQuadratic, 0.2, 27.1111, 14.9271, 1.8162, true},
    };
    for (const Golden& row : table) {
        const SpeedupAnswer answer = predict_speedup(question(row));
        EXPECT_NEAR(answer.cpu_s, row.cpu_s, 0.00005);
        EXPECT_NEAR(answer.gpu_s, row.gpu_s, 0.00005);
        EXPECT_NEAR(answer.speedup, row.speedup, 0.00005);
        EXPECT_EQ(answer.runs_on_gpu, row.runs_on_gpu);
    }
}

TEST(Speedup, OneMachineAggregatesNothingButItsOwn)
{
    SpeedupQuestion q;
    q.seconds_per_100mb = 0.1;
    q.input_gb = 2;
    q.network_gb = 1;
    q.gpu_parallelism = 64;

    // 10·0.1·2 = 2 s, and 0.2 GB over the network.
    EXPECT_NEAR(predict_speedup(q).cpu_s, 2.2, 1e-12);
}

TEST(Speedup, FewMachinesAreAggregatedByWholeMachinesDownToOne)
{
    // No work and a network of 1 GB/s: the time is o·D·A = 0.1·A.
    const auto nodes = [](double machines, double per_aggregation) {
        SpeedupQuestion question;
        question.input_gb = 1;
        question.machines = machines;
        question.per_aggregation = per_aggregation;
        question.network_gb = 1;
        question.gpu_parallelism = 64;
        return predict_speedup(question).cpu_s / 0.1;
    };
    EXPECT_DOUBLE_EQ(nodes(1, 10), 1);
    EXPECT_DOUBLE_EQ(nodes(2, 10), 2 + 1);
    EXPECT_DOUBLE_EQ(nodes(11, 10), 11 + 2 + 1);
    EXPECT_DOUBLE_EQ(nodes(100, 10), 100 + 10 + 1);
    EXPECT_DOUBLE_EQ(nodes(999, 2), 999 + 500 + 250 + 125 + 63 + 32 + 16 + 8 + 4 + 2 + 1);
    EXPECT_NEAR(nodes(1000, 10), nodes(999, 10), 0.01 * nodes(1000, 10)) << "no step where the closed form begins";
    EXPECT_NEAR(nodes(1000, 2), nodes(999, 2), 0.01 * nodes(1000, 2));
}

TEST(Speedup, TheThresholdDecides)
{
    SpeedupQuestion q = question({10, false, OperatorClass::kQuadratic, 0.2, 0, 0, 0, false});

    EXPECT_TRUE(predict_speedup(q).runs_on_gpu);
    q.threshold = 2.4;
    EXPECT_FALSE(predict_speedup(q).runs_on_gpu);
}

TEST(Speedup, AMeasuredExponentHasTheClassesAsItsCases)
{
    SpeedupQuestion q = question({10, false, OperatorClass::kQuadratic, 0.2, 0, 0, 0, false});
    const double quadratic_s = predict_speedup(q).cpu_s;
    q.operator_class = OperatorClass::kLinear;
    const double linear_s = predict_speedup(q).cpu_s;

    q.operator_class = OperatorClass::kMeasured;
    const auto cpu_s = [&](double exponent) {
        q.exponent = exponent;
        return predict_speedup(q).cpu_s;
    };

    EXPECT_NEAR(cpu_s(1), linear_s, 1e-9);
    EXPECT_NEAR(cpu_s(2), quadratic_s, 1e-9);
    // (10 · 0.2)^1.5 = 2.8284 on one machine, in 1 + 3 passes, instead of 2.
    EXPECT_NEAR(cpu_s(1.5) - linear_s, 4 * (2.8284271 - 2), 1e-6);
}

TEST(Speedup, AnExponentBelongsToTheClassMeasured)
{
    const auto fields_of = [](const char* own) {
        Json json = Json::parse(R"({"seconds_per_100mb": 0.2, "input_gb": 1, "machines": 1000, "network_gb_s": 10,
                                    "gpu_parallelism": 64})");
        json.update(Json::parse(own));
        std::vector<std::string> fields;
        const Result<SpeedupQuestion> q = parse_speedup_question(json);
        if (q) return fields;
        for (const FieldError& error : q.error().fields)
            fields.push_back(error.field);
        return fields;
    };

    EXPECT_THAT(fields_of(R"({"class": "measured", "exponent": 1.5})"), testing::IsEmpty());
    EXPECT_THAT(fields_of(R"({"class": "measured"})"), testing::ElementsAre("exponent"));
    EXPECT_THAT(fields_of(R"({"class": "measured", "exponent": 11})"), testing::ElementsAre("exponent"));
    EXPECT_THAT(fields_of(R"({"class": "linear", "exponent": 1})"), testing::ElementsAre("exponent"));
}

TEST(Speedup, ReadsAQuestionWithItsDefaults)
{
    const Result<SpeedupQuestion> q = parse_speedup_question(Json::parse(
        R"({"class": "quadratic", "seconds_per_100mb": 0.2, "input_gb": 1, "machines": 1000, "network_gb_s": 10,
            "gpu_parallelism": 64, "compressed_fraction": 0.3, "compression_gb_s": 0.1})"));

    ASSERT_TRUE(q) << describe(q.error());
    EXPECT_EQ(to_json(predict_speedup(*q))["run_on"], "GPU");
    EXPECT_NEAR(predict_speedup(*q).speedup, 1.8162, 0.00005);
}

TEST(Speedup, NamesEveryErrorOfAQuestion)
{
    const Result<SpeedupQuestion> q = parse_speedup_question(Json::parse(
        R"({"class": "cubic", "seconds_per_100mb": 0, "machines": 0, "per_aggregation": 1, "network_gb_s": -1,
            "compressed_fraction": 0.3, "color": 1})"));

    ASSERT_FALSE(q);
    std::vector<std::string> fields;
    for (const FieldError& error : q.error().fields)
        fields.push_back(error.field);
    EXPECT_THAT(fields,
                testing::UnorderedElementsAre("class", "seconds_per_100mb", "input_gb", "machines", "per_aggregation",
                                              "network_gb_s", "gpu_parallelism", "compression_gb_s", "color"));
}

RC_GTEST_PROP(SpeedupProperty, GrowsWithTheCostOfComputingAndWithParallelism, ())
{
    SpeedupQuestion q;
    q.operator_class = *rc::gen::element(OperatorClass::kLinear, OperatorClass::kQuadratic);
    q.input_gb = *rc::gen::inRange(1, 1000);
    q.machines = *rc::gen::inRange(1, 100000);
    q.network_gb = *rc::gen::inRange(1, 1000) / 10.0;
    q.gpu_parallelism = *rc::gen::inRange(64, 1024);
    const std::vector<SpeedupPoint> curve = speedup_curve(q, 20);
    for (std::size_t i = 1; i < curve.size(); ++i)
        RC_ASSERT(curve[i].speedup >= curve[i - 1].speedup * (1 - 1e-12));
    q.seconds_per_100mb = 1;
    const double before = predict_speedup(q).speedup;
    q.gpu_parallelism *= 2;
    RC_ASSERT(predict_speedup(q).speedup >= before * (1 - 1e-12));
}

} // namespace
} // namespace fathom
