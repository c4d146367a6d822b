#include "probes/operators/data_flow.hpp"
#include "probes/operators/registry.hpp"
#include "probes/runner/run_task.hpp"
#include "probes/runner/sampled_operator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fathom::probes {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

constexpr std::int64_t kEdge = 48;

Parameters small_square()
{
    return {{"m", kEdge}, {"n", kEdge}, {"k", kEdge}};
}

ProbeTask golden_task()
{
    ProbeTask task{.name = "golden",
                   .operators = {{.id = "dgemm", .parameters = small_square(), .label = "P3", .inputs = {"P1", "P2"}},
                                 {.id = "dgemm", .parameters = small_square(), .count = 3, .label = "P1"},
                                 {.id = "dgemm", .parameters = small_square(), .count = 2, .label = "P2"}},
                   .repeats = 2,
                   .target_interval = 0,
                   .min_sample_s = 0.001};
    return validate_task(std::move(task)).value();
}

Result<ProbeResult> run(const ProbeTask& task)
{
    return run_task(
        task, {.process_start = std::chrono::steady_clock::now(), .usable_memory_bytes = 1e9, .progress = nullptr});
}

/// The mean of so many products on the inputs that the runs of a producer have.
std::vector<double> mean_product(std::int64_t runs)
{
    MeanOfResults mean;
    for (std::int64_t i = 0; i < runs; ++i) {
        const auto product = find_operator("dgemm")->make(small_square(), 1);
        EXPECT_TRUE(product->prepare(flow_seed(kInputSeed, i)));
        product->execute();
        mean.add(product->values());
    }
    return mean.mean();
}

// M5, golden: P1 runs 3 times and its outputs are averaged; P2 twice, averaged; P3 once on both averages.
TEST(DataFlow, GoldenThirdOperatorComputesOnTheMeansOfTheOthers)
{
    const Result<ProbeResult> result = run(golden_task());

    ASSERT_TRUE(result) << describe(result.error());
    ASSERT_EQ(result->operators.size(), 3U);
    EXPECT_EQ(result->operators[0].label, "P3");
    const auto by_hand = find_operator("dgemm")->make(small_square(), 1);
    ASSERT_TRUE(by_hand->prepare(kInputSeed));
    ASSERT_TRUE(by_hand->feed(0, mean_product(3)));
    ASSERT_TRUE(by_hand->feed(1, mean_product(2)));
    by_hand->execute();
    EXPECT_EQ(result->operators[0].checksum, by_hand->checksum());
    EXPECT_LE(result->operators[0].error, result->operators[0].tolerance);
    EXPECT_NE(mean_product(3), mean_product(2));
}

TEST(DataFlow, AnyMixOfOperatorsCanBeFed)
{
    for (const char* consumer : {"dgemm", "sgemm", "fft1d", "fft2d", "fft3d", "spmv", "stream_triad", "conv2d"}) {
        SCOPED_TRACE(consumer);
        ProbeTask task{.name = "mix",
                       .operators = {{.id = "fft1d", .parameters = {{"n", 1000}}, .label = "source"},
                                     {.id = consumer, .parameters = {}, .inputs = {"source"}}},
                       .repeats = 1,
                       .target_interval = 0,
                       .min_sample_s = 0,
                       .limit_s = 600};
        task = validate_task(std::move(task)).value();

        const Result<ProbeResult> result = run(task);

        ASSERT_TRUE(result) << describe(result.error());
        EXPECT_LE(result->operators[1].error, result->operators[1].tolerance);
    }
}

TEST(DataFlow, AFedResultThatIsWrongIsNoticed)
{
    for (const char* id : {"dgemm", "sgemm", "fft1d", "fft2d", "fft3d", "spmv", "stream_triad", "conv2d"}) {
        SCOPED_TRACE(id);
        const RegisteredOperator* const known = find_operator(id);
        const auto item = known->make(known->manifest.default_parameters(), 1);
        ASSERT_TRUE(item->prepare(1));
        item->execute();
        ASSERT_LE(item->error(), known->manifest.tolerance);
        // The result of the first input is wrong for the second.
        ASSERT_TRUE(item->feed(0, std::vector<double>{1, 2, 3, -4}));
        EXPECT_GT(item->error(), known->manifest.tolerance);
        item->execute();
        EXPECT_LE(item->error(), known->manifest.tolerance);
    }
}

TEST(DataFlow, AnInputThatDoesNotExistIsRefusedByName)
{
    ProbeTask task{.name = "t",
                   .operators = {{.id = "fft1d", .parameters = {{"n", 64}}, .label = "a"},
                                 {.id = "fft1d", .parameters = {{"n", 64}}, .inputs = {"a", "a"}}},
                   .repeats = 1,
                   .target_interval = 0};

    const Result<ProbeResult> result = run(validate_task(std::move(task)).value());

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::kUnavailable);
    EXPECT_THAT(result.error().detail, HasSubstr("fft1d(n=64): has one input"));
}

TEST(FitValues, RepeatsCutsAndScales)
{
    const double unit = 1 / std::sqrt(3.0);

    EXPECT_THAT(fit_values(std::vector<double>{5, -5}, 3), Pointwise(DoubleEq(), {unit, -unit, unit}));
    EXPECT_THAT(fit_values(std::vector<double>{2, 7, 7}, 1), Pointwise(DoubleEq(), {unit}));
    EXPECT_THAT(fit_values(std::vector<double>{0, 0}, 3), ElementsAre(0, 0, 0));
}

TEST(ValidateTask, TakesTheTasksManifestOfANewerVersion)
{
    OperatorManifest newer = find_operator("dgemm")->manifest;
    newer.version = 7;
    newer.tolerance = 1e-3;
    ProbeTask task{.name = "t",
                   .operators = {{.id = "dgemm", .version = 7, .parameters = small_square()}},
                   .repeats = 1,
                   .target_interval = 0,
                   .manifests = {newer}};

    const Result<ProbeTask> validated = validate_task(task);
    ASSERT_TRUE(validated) << describe(validated.error());
    const Result<ProbeResult> result = run(*validated);

    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_EQ(result->operators[0].version, 7);
    EXPECT_EQ(result->operators[0].tolerance, 1e-3);

    task.manifests[0].parameters.pop_back();
    EXPECT_FALSE(validate_task(task)) << "the code has a parameter that the manifest does not";
    task.manifests.clear();
    EXPECT_FALSE(validate_task(task));
}

} // namespace
} // namespace fathom::probes
