#include "core/decide/prediction/device_choice.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

OperatorDemand demand(const std::string& id, std::int64_t count, double bytes)
{
    OperatorDemand one;
    one.operator_id = id;
    one.count = count;
    one.bytes = bytes;
    return one;
}

/// Measurements with the time of one execution; on a device without transfers, as probes take it.
RunPrediction predicted(std::span<const OperatorDemand> demands, const std::vector<double>& seconds, double bus_gb = 0)
{
    std::vector<MeasuredOperator> measured;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        MeasuredOperator one;
        one.operator_id = demands[i].operator_id;
        one.bytes = demands[i].bytes;
        one.median_s = one.ci_low_s = one.ci_high_s = seconds[i];
        measured.push_back(bus_gb > 0 ? with_transfers(one, bus_gb) : one);
    }
    return sum_operators(demands, measured);
}

TEST(CompareDevices, TheBusTurnsALightOperatorToTheCpuAndAHeavyOneToTheGpu)
{
    // A filter of 1.28 GB: 0.05 s on the CPU, 0.001 s on the GPU and 0.1 s over a bus of 12.8 GB/s.
    // A join of 0.128 GB: 2 s on the CPU, 0.04 s on the GPU and 0.01 s over the bus.
    const std::vector demands{demand("filter", 10, 1.28e9), demand("join", 1, 0.128e9)};
    const RunPrediction on_cpu = predicted(demands, {0.05, 2});
    const RunPrediction on_gpu = predicted(demands, {0.001, 0.04}, 12.8);
    const std::vector<DevicePlace> places{{"alpha", "gpu", "cuda", 12.8, &on_gpu},
                                          {"alpha", "core", "cpu", 0, &on_cpu}};

    const std::vector<DeviceChoice> choices = compare_devices(demands, places, {.threshold = 1});

    ASSERT_EQ(choices.size(), 1U);
    const DeviceChoice& choice = choices[0];
    ASSERT_EQ(choice.operators.size(), 2U);
    EXPECT_NEAR(choice.operators[0].gpu_s, 10 * 0.101, 1e-12);
    EXPECT_NEAR(choice.operators[0].bus_s, 10 * 0.1, 1e-12);
    EXPECT_NEAR(choice.operators[0].speedup, 0.5 / 1.01, 1e-12);
    EXPECT_FALSE(choice.operators[0].runs_on_gpu);
    EXPECT_NEAR(choice.operators[1].speedup, 40, 1e-9);
    EXPECT_TRUE(choice.operators[1].runs_on_gpu);
    EXPECT_NEAR(choice.speedup, 2.5 / 1.06, 1e-12);
    EXPECT_TRUE(choice.runs_on_gpu);
    EXPECT_TRUE(choice.is_bus_known);
}

TEST(CompareDevices, ATermOfTheCenterIsThatOfItsCpuUnitTypeElseOfItsGpus)
{
    const UnitTransfers cpu{2, {}};
    const UnitTransfers gpu{1, {10, Compression{0.3, 0.1}}};
    const DeviceTerms asked{.unit_count = 4, .threshold = 3};
    DeviceTerms compressing = asked;
    compressing.is_compressed = true;

    const DeviceTerms plain = terms_at(asked, cpu, {1, {}});
    EXPECT_EQ(plain.unit_count, 4);
    EXPECT_DOUBLE_EQ(plain.threshold, 3);
    EXPECT_DOUBLE_EQ(plain.network_gb, 2) << "nothing was measured between hosts";
    EXPECT_FALSE(plain.is_between_hosts);
    const DeviceTerms measured = terms_at(compressing, cpu, gpu);
    EXPECT_DOUBLE_EQ(measured.network_gb, 10);
    EXPECT_TRUE(measured.is_between_hosts);
    EXPECT_DOUBLE_EQ(measured.data_site_gb, 2);
    EXPECT_EQ(measured.compression, (Compression{0.3, 0.1}));
    EXPECT_FALSE(terms_at(asked, cpu, gpu).compression) << "the job does not compress";
    EXPECT_FALSE(terms_at(compressing, cpu, {}).compression) << "nobody knows how fast";
}

TEST(CompareDevices, TheThresholdDecides)
{
    const std::vector demands{demand("join", 1, 0)};
    const RunPrediction on_cpu = predicted(demands, {3});
    const RunPrediction on_gpu = predicted(demands, {2});
    const std::vector<DevicePlace> places{{"alpha", "core", "cpu", 0, &on_cpu}, {"alpha", "gpu", "cuda", 0, &on_gpu}};

    EXPECT_TRUE(compare_devices(demands, places, {.threshold = 1})[0].runs_on_gpu);
    EXPECT_FALSE(compare_devices(demands, places, {.threshold = 1.5})[0].runs_on_gpu) << "1.5 is not above 1.5";
    EXPECT_DOUBLE_EQ(compare_devices(demands, places, {.threshold = 1})[0].bus_gb, kUsualBusGb);
    EXPECT_EQ(to_json(compare_devices(demands, places, {.threshold = 1})[0])["bus_source"], "default");
}

TEST(CompareDevices, LeavesOutWhatIsNotKnownOnBoth)
{
    const std::vector demands{demand("join", 1, 0), demand("sort", 1, 0)};
    const RunPrediction on_cpu = predicted(demands, {3, 1});
    const RunPrediction on_gpu = predicted(demands, {2});
    const RunPrediction on_nothing = predicted(demands, {});
    const std::vector<DevicePlace> places{{"alpha", "core", "cpu", 0, &on_cpu},
                                          {"beta", "core", "cpu", 0, &on_cpu},
                                          {"alpha", "gpu", "cuda", 0, &on_gpu},
                                          {"gamma", "core", "cpu", 0, &on_cpu},
                                          {"gamma", "gpu", "cuda", 0, &on_nothing}};

    const std::vector<DeviceChoice> choices = compare_devices(demands, places, {.threshold = 1});

    ASSERT_EQ(choices.size(), 1U) << "beta has no GPU, gamma's is not measured";
    ASSERT_EQ(choices[0].operators.size(), 1U);
    EXPECT_EQ(choices[0].operators[0].operator_id, "join");
    EXPECT_DOUBLE_EQ(choices[0].cpu_s, 3);
}

TEST(CompareDevices, ComparesTheBestPlaceOfEachKind)
{
    const std::vector demands{demand("join", 1, 0)};
    const RunPrediction fast = predicted(demands, {1});
    const RunPrediction slow = predicted(demands, {2});
    const std::vector<DevicePlace> places{
        {"alpha", "new", "cuda", 16, &fast}, {"alpha", "old", "cuda", 8, &slow}, {"alpha", "core", "cpu", 0, &slow}};

    const std::vector<DeviceChoice> choices = compare_devices(demands, places, {.threshold = 1});

    ASSERT_EQ(choices.size(), 1U);
    EXPECT_EQ(choices[0].gpu_unit_type, "new");
    EXPECT_DOUBLE_EQ(choices[0].speedup, 2);
}

} // namespace
} // namespace fathom
