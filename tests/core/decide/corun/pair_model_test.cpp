#include "core/decide/corun/pair_model.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace fathom {
namespace {

constexpr auto kCompute = KernelClass::kCompute;
constexpr auto kMemory = KernelClass::kMemory;

PairSample sample(PairMember a, PairMember b, double a_share, double b_share)
{
    return {.a = a, .b = b, .a_share = a_share, .b_share = b_share};
}

double sum(const PairModel& model, PairMember a, PairMember b)
{
    return model.expect(a, b).share + model.expect(b, a).share;
}

TEST(PairModel, BeforeAnythingIsMeasuredTheClassesRankAsTheSpecificationHasIt)
{
    const PairModel model;
    const PairMember compute{"a", kCompute};
    const PairMember memory{"b", kMemory};

    EXPECT_GT(sum(model, compute, memory), sum(model, compute, compute));
    EXPECT_GT(sum(model, compute, compute), sum(model, memory, memory));
    EXPECT_EQ(model.expect(compute, memory).source, PairSource::kDefault);
}

TEST(PairModel, KeepsCountMeanAndSpreadOfMeasuredPairs)
{
    PairModel model;
    for (const double share : {0.6, 0.7, 0.8})
        model.add(sample({"conv", kCompute}, {"norm", kMemory}, share, 0.5)).value();

    const PairShare conv = model.expect({"conv", kCompute}, {"norm", kMemory});

    EXPECT_EQ(conv.source, PairSource::kMeasured);
    EXPECT_EQ(conv.count, 3);
    EXPECT_NEAR(conv.share, 0.7, 1e-12);
    EXPECT_NEAR(conv.spread, 0.1, 1e-12);
    EXPECT_NEAR(model.expect({"norm", kMemory}, {"conv", kCompute}).share, 0.5, 1e-12);
    EXPECT_EQ(model.pair_count(), 1U);
}

TEST(PairModel, MeansOfSeveralRunsWeighAsSuch)
{
    PairModel one;
    PairModel other;
    for (const double share : {0.5, 0.6, 0.7})
        one.add(sample({"a"}, {"b"}, share, share)).value();
    one.add(sample({"a"}, {"b"}, 0.9, 0.9)).value();
    other.add({.a = {"a"}, .b = {"b"}, .a_share = 0.6, .b_share = 0.6, .count = 3, .a_spread = 0.1, .b_spread = 0.1})
        .value();
    other.add(sample({"b"}, {"a"}, 0.9, 0.9)).value();

    const PairShare left = one.expect({"a"}, {"b"});
    const PairShare right = other.expect({"a"}, {"b"});
    EXPECT_NEAR(left.share, right.share, 1e-12);
    EXPECT_NEAR(left.spread, right.spread, 1e-12);
    EXPECT_EQ(right.count, 4);
}

TEST(PairModel, AnUnknownPairTakesTheAverageOfItsClasses)
{
    PairModel model;
    model.add(sample({"conv", kCompute}, {"norm", kMemory}, 0.9, 0.8)).value();
    model.add(sample({"gemm", kCompute}, {"copy", kMemory}, 0.9, 0.8)).value();
    model.refit();

    const PairShare unknown = model.expect({"other", kCompute}, {"copy", kMemory});

    EXPECT_EQ(unknown.source, PairSource::kClassAverage);
    EXPECT_NEAR(unknown.share, (0.70 + 0.9 + 0.9) / 3, 1e-12) << "the default counts as one measurement";
    EXPECT_EQ(model.expect({"x", kMemory}, {"y", kMemory}).source, PairSource::kDefault);
}

/// Twenty kernels that differ in how much they give and take, of one class: averages say nothing, the table does.
class TwentyKernels : public testing::Test {
  protected:
    TwentyKernels()
    {
        std::mt19937_64 generator(4);
        std::uniform_real_distribution<double> uniform(0, 1);
        for (int i = 0; i < 20; ++i) {
            names.push_back("k" + std::to_string(i));
            robust.push_back(0.3 * uniform(generator));
            gentle.push_back(0.3 * uniform(generator));
        }
        for (std::size_t i = 0; i < names.size(); ++i) {
            for (std::size_t j = i; j < names.size(); ++j) {
                if (uniform(generator) < 0.5)
                    model.add(sample({names[i]}, {names[j]}, truth(i, j), truth(j, i))).value();
            }
        }
        model.refit();
    }
    double truth(std::size_t kernel, std::size_t beside) const
    {
        return 0.5 * std::exp(robust[kernel] + gentle[beside]);
    }

    std::vector<std::string> names;
    std::vector<double> robust;
    std::vector<double> gentle;
    PairModel model;
};

TEST_F(TwentyKernels, UnknownPairsAreCompletedFromKnownOnesWhereThatIsCloser)
{
    ASSERT_TRUE(model.held_out_errors());
    EXPECT_LT(model.held_out_errors()->completion, 0.3 * model.held_out_errors()->class_average);
    std::size_t completed = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        for (std::size_t j = 0; j < names.size(); ++j) {
            const PairShare expected = model.expect({names[i]}, {names[j]});
            if (expected.source != PairSource::kCompleted) continue;
            ++completed;
            EXPECT_NEAR(expected.share / truth(i, j), 1, 0.1);
            EXPECT_GT(expected.spread, 0);
        }
    }
    EXPECT_GT(completed, 100U);
}

TEST(PairModel, CompletionIsNotUsedWhereItIsNoCloser)
{
    std::mt19937_64 generator(5);
    std::normal_distribution<double> normal;
    std::vector<std::string> names;
    for (int i = 0; i < 12; ++i)
        names.push_back("k" + std::to_string(i));
    PairModel model;
    for (std::size_t i = 0; i < names.size(); ++i) {
        for (std::size_t j = i + 1; j < names.size(); j += 2)
            model
                .add(sample({names[i]}, {names[j]}, 0.6 * std::exp(0.1 * normal(generator)),
                            0.6 * std::exp(0.1 * normal(generator))))
                .value();
    }
    model.refit();

    ASSERT_TRUE(model.held_out_errors());
    EXPECT_LT(model.held_out_errors()->class_average, model.held_out_errors()->completion) << "all is chance";
    EXPECT_EQ(model.expect({names[0]}, {names[2]}).source, PairSource::kClassAverage);
}

TEST(PairModel, RefusesWhatIsNoMeasurementAndLearnsNothingOfIt)
{
    PairModel model;
    for (const double wrong : {0.0, -0.5, std::numeric_limits<double>::quiet_NaN(), 100.0})
        EXPECT_EQ(model.add(sample({"a"}, {"b"}, wrong, 0.5)).error().code, Errc::kInvalid);
    PairSample everything = sample({""}, {""}, 0, 0);
    everything.count = 0;
    everything.a_spread = -1;

    EXPECT_EQ(model.add(everything).error().fields.size(), 6U);
    EXPECT_EQ(model.pair_count(), 0U);
    EXPECT_EQ(model.kind_count(), 0U);
}

} // namespace
} // namespace fathom
