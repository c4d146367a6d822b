#include "core/decide/prediction/speedup_coefficients.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

MeasuredOperator measured(const std::string& id, double bytes, double median_s)
{
    MeasuredOperator one;
    one.operator_id = id;
    one.parameters_key = "bytes=" + std::to_string(static_cast<std::int64_t>(bytes));
    one.bytes = bytes;
    one.median_s = median_s;
    one.probe_run_id = "prn_" + id;
    return one;
}

/// A center with two CPU unit types and a GPU; the sort of 100 MB takes 0.2 s on the faster CPU and 0.004 s on the GPU.
MeasuredCenter alpha()
{
    return {.name = "alpha",
            .unit_types = {{"slow", "cpu", {measured("sort", 1e8, 0.9)}, {}},
                           {"core", "cpu", {measured("sort", 1e4, 9), measured("sort", 5e7, 0.1)}, {}},
                           {"gpu", "cuda", {measured("sort", 5e7, 0.002)}, {{"bus_gb_s", 25.6}}}},
            .network_bytes = 1.25e8};
}

const Json kOpen = {{"class", "quadratic"}, {"input_gb", 1}, {"machines", 1000}};

std::optional<double> value_of(const std::vector<Coefficient>& all, const std::string& field)
{
    for (const Coefficient& one : all)
        if (one.field == field) return one.value;
    return std::nullopt;
}

TEST(SpeedupCoefficients, ComeFromProbesAndReports)
{
    const auto found = find_coefficients(kOpen, OperatorClass::kQuadratic, "", alpha());

    EXPECT_NEAR(value_of(found, "seconds_per_100mb").value(), 0.2, 1e-12) << "50 MB take 0.1 s; 10 kB say less";
    EXPECT_NEAR(value_of(found, "network_gb_s").value(), 0.125, 1e-12);
    EXPECT_NEAR(value_of(found, "bus_gb_s").value(), 25.6, 1e-12);
    EXPECT_NEAR(value_of(found, "gpu_parallelism").value(), 50, 1e-9) << "m·r = 0.1 s / 0.002 s, r = 1";
    const Json shown = to_json(found);
    EXPECT_EQ(shown["seconds_per_100mb"]["source"], "measured");
    EXPECT_EQ(shown["seconds_per_100mb"]["basis"], "sort (bytes=50000000) at alpha/core, probe run prn_sort");
    EXPECT_EQ(shown["bus_gb_s"]["source"], "reported");
}

TEST(SpeedupCoefficients, TheNetworkIsThatBetweenHostsWhereItWasMeasured)
{
    MeasuredCenter center = alpha();
    center.between_hosts = NodeNetwork{"mpi_bandwidth", 12.5e9, 4, "prn_mpi"};

    const auto found = find_coefficients(kOpen, OperatorClass::kQuadratic, "", center);

    EXPECT_NEAR(value_of(found, "network_gb_s").value(), 12.5, 1e-12);
    EXPECT_EQ(to_json(found)["network_gb_s"]["source"], "measured");
    EXPECT_EQ(to_json(found)["network_gb_s"]["basis"], "mpi_bandwidth between 4 hosts of alpha, probe run prn_mpi");
}

TEST(SpeedupCoefficients, WhatTheQuestionSaysStays)
{
    Json question = kOpen;
    question.update({{"seconds_per_100mb", 0.5}, {"network_gb_s", 10}, {"gpu_parallelism", 64}, {"bus_gb_s", 12.8}});

    const auto found = find_coefficients(question, OperatorClass::kQuadratic, "", alpha());
    const Result<SpeedupQuestion> completed = complete_question(question, found);

    ASSERT_TRUE(completed) << describe(completed.error());
    EXPECT_DOUBLE_EQ(completed->seconds_per_100mb, 0.5);
    EXPECT_DOUBLE_EQ(completed->network_gb, 10);
    EXPECT_DOUBLE_EQ(completed->gpu_parallelism, 64);
    EXPECT_NEAR(completed->core_ratio, 50.0 / 64, 1e-12) << "measured: m·r is 50";
}

TEST(SpeedupCoefficients, ACompletedQuestionIsAnsweredByTheModel)
{
    const auto found = find_coefficients(kOpen, OperatorClass::kQuadratic, "", alpha());
    const Result<SpeedupQuestion> completed = complete_question(kOpen, found);

    ASSERT_TRUE(completed) << describe(completed.error());
    // The golden row "10 GbE, join" but for the GPU: T' = 1.1/25.6 + 4/50.
    const SpeedupAnswer answer = predict_speedup(*completed);
    EXPECT_NEAR(answer.cpu_s, 904.8889, 0.00005);
    EXPECT_NEAR(answer.gpu_s, (1.1 / 25.6 + 4.0 / 50) * 4 + 0.1 * 1000 * 10.0 / 9 / 0.125, 1e-6);
}

TEST(SpeedupCoefficients, SaysWhatTheCenterDoesNotHave)
{
    MeasuredCenter bare;
    bare.name = "beta";
    Json question = kOpen;
    question["compressed"] = true;

    const Result<SpeedupQuestion> completed =
        complete_question(question, find_coefficients(question, OperatorClass::kQuadratic, "fft1d", bare));

    ASSERT_FALSE(completed);
    std::vector<std::string> texts;
    for (const FieldError& field : completed.error().fields)
        texts.push_back(field.field + " " + field.detail);
    EXPECT_THAT(texts, testing::Contains(testing::HasSubstr("fft1d was not measured on a CPU unit type of beta")));
    EXPECT_THAT(texts, testing::Contains(testing::HasSubstr("no transfer was timed at beta")));
    EXPECT_THAT(texts, testing::Contains(testing::HasSubstr("gpu_parallelism")));
}

const Json kOpenMeasured = {{"class", "measured"}, {"input_gb", 1}, {"machines", 1000}, {"gpu_parallelism", 64}};

TEST(SpeedupCoefficients, TheExponentIsTheSlopeOverTheMeasuredSizes)
{
    MeasuredCenter center = alpha();
    center.unit_types[0].measured = {measured("spmv", 1e6, 0.02), measured("spmv", 1e7, 0.9)};
    // A hundred times the bytes take a thousand times as long.
    center.unit_types[1].measured = {measured("spmv", 1e6, 0.001), measured("sort", 1e7, 3), measured("spmv", 1e8, 1)};

    const auto found = find_coefficients(kOpenMeasured, OperatorClass::kMeasured, "spmv", center);
    const Result<SpeedupQuestion> completed = complete_question(kOpenMeasured, found);

    ASSERT_TRUE(completed) << describe(completed.error());
    EXPECT_NEAR(completed->exponent, 1.5, 1e-9);
    const Json shown = to_json(found);
    EXPECT_EQ(shown["exponent"]["basis"], "spmv at 2 sizes at alpha/core");
}

TEST(SpeedupCoefficients, OneSizeGivesNoExponent)
{
    MeasuredCenter center = alpha();
    center.unit_types[1].measured = {measured("spmv", 1e8, 10)};

    const Result<SpeedupQuestion> completed =
        complete_question(kOpenMeasured, find_coefficients(kOpenMeasured, OperatorClass::kMeasured, "spmv", center));

    ASSERT_FALSE(completed);
    ASSERT_EQ(completed.error().fields.size(), 1U) << describe(completed.error());
    EXPECT_EQ(completed.error().fields[0].field, "exponent");
    EXPECT_THAT(completed.error().fields[0].detail,
                testing::EndsWith("for spmv was not measured at two sizes on a CPU unit type of alpha"));
}

TEST(SpeedupCoefficients, OtherClassesHaveNoExponent)
{
    EXPECT_FALSE(value_of(find_coefficients(kOpen, OperatorClass::kQuadratic, "", alpha()), "exponent"));
}

/// The faster unit type of alpha compresses 50 MB in 0.8 s and expands them in 0.2 s: 10 ns a byte.
MeasuredCenter compressing_alpha()
{
    MeasuredCenter center = alpha();
    center.unit_types[0].compressions = {{"bytes=50000000", 5e7, 2, 1, 0.5, "prn_slow"}};
    center.unit_types[1].compressions = {{"bytes=1000", 1e3, 1e-9, 1e-9, 0.9, "prn_small"},
                                         {"bytes=50000000", 5e7, 0.8, 0.2, 0.3, "prn_core"}};
    center.unit_types[2].compressions = {{"bytes=50000000", 5e7, 0.01, 0.01, 0.2, "prn_gpu"}};
    return center;
}

TEST(SpeedupCoefficients, CompressionIsWhatTheFastestCpuMeasuredNearestTo100Mb)
{
    Json question = kOpen;
    question["compressed"] = true;

    const auto found = find_coefficients(question, OperatorClass::kQuadratic, "", compressing_alpha());
    const Result<SpeedupQuestion> completed = complete_question(question, found);

    ASSERT_TRUE(completed) << describe(completed.error());
    ASSERT_TRUE(completed->compression);
    EXPECT_DOUBLE_EQ(completed->compression->fraction, 0.3);
    EXPECT_NEAR(completed->compression->speed_gb, 0.1, 1e-12) << "100 MB through both ways in a second";
    const Json shown = to_json(found);
    EXPECT_EQ(shown["compression_gb_s"]["source"], "measured");
    EXPECT_EQ(shown["compressed_fraction"]["basis"],
              "compression and decompression (bytes=50000000) at alpha/core, probe run prn_core");
}

TEST(SpeedupCoefficients, PlacesOfJobsAreComparedByTheSame)
{
    MeasuredCenter center = compressing_alpha();
    center.between_hosts = NodeNetwork{"mpi_bandwidth", 12.5e9, 4, "prn_mpi"};
    Json question = kOpen;
    question["compressed"] = true;
    const auto found = find_coefficients(question, OperatorClass::kQuadratic, "", center);

    const NodeTransfers transfers = node_transfers_of(center);

    EXPECT_EQ(node_rate(transfers.between_hosts_gb, 0).gb, value_of(found, "network_gb_s"));
    ASSERT_TRUE(transfers.compression);
    EXPECT_EQ(transfers.compression->fraction, value_of(found, "compressed_fraction"));
    EXPECT_EQ(transfers.compression->speed_gb, value_of(found, "compression_gb_s"));
    EXPECT_EQ(node_transfers_of(alpha()), NodeTransfers());
}

TEST(SpeedupCoefficients, CompressionIsLeftOutWhereNobodyAsksForIt)
{
    EXPECT_FALSE(
        value_of(find_coefficients(kOpen, OperatorClass::kQuadratic, "", compressing_alpha()), "compressed_fraction"));
}

TEST(SpeedupCoefficients, ACompressionThatWasNotMeasuredIsNotLeftOutSilently)
{
    Json question = kOpen;
    question["compressed"] = true;

    const Result<SpeedupQuestion> completed =
        complete_question(question, find_coefficients(question, OperatorClass::kQuadratic, "", alpha()));

    ASSERT_FALSE(completed);
    ASSERT_EQ(completed.error().fields.size(), 2U) << describe(completed.error());
    EXPECT_EQ(completed.error().fields[0].field, "compressed_fraction");
    EXPECT_EQ(completed.error().fields[0].detail,
              "compression and decompression were not measured on a CPU unit type of alpha");
    EXPECT_EQ(completed.error().fields[1].field, "compression_gb_s");
}

} // namespace
} // namespace fathom
