#include "core/decide/corun/instruction_model.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace fathom {
namespace {

/// 3 · size^1.5, times e^(noise · z).
double power_law(double size, double noise, std::mt19937_64& generator)
{
    std::normal_distribution<double> normal;
    return 3000 * std::pow(size, 1.5) * std::exp(noise * normal(generator));
}

TEST(InstructionModel, FindsAPowerLaw)
{
    std::mt19937_64 generator(1);
    InstructionModel model;
    for (int i = 0; i < 40; ++i) {
        const double size = std::exp(0.2 * (i % 20));
        model.learn({"solve", "spmv", size, power_law(size, 0.02, generator)}).value();
    }

    const InstructionPrediction predicted = model.predict("solve", "spmv", 500).value();

    EXPECT_EQ(predicted.basis, InstructionBasis::kKernel);
    EXPECT_EQ(predicted.runs, 40);
    EXPECT_NEAR(predicted.exponent, 1.5, 0.02);
    EXPECT_NEAR(predicted.instructions / (3000 * std::pow(500, 1.5)), 1, 0.08);
    EXPECT_LT(predicted.low, predicted.instructions);
    EXPECT_GT(predicted.high, predicted.instructions);
}

TEST(InstructionModel, OneRunTakesTheExponentOfItsApplication)
{
    InstructionModel model;
    for (const double size : {10.0, 100.0, 1000.0})
        model.learn({"solve", "known", size, 7 * size * size}).value();
    model.learn({"solve", "new", 10, 1e6}).value();

    const InstructionPrediction predicted = model.predict("solve", "new", 100).value();

    EXPECT_NEAR(predicted.exponent, 2, 0.1);
    EXPECT_NEAR(std::log(predicted.instructions / 1e8), 0, 0.2);
}

TEST(InstructionModel, NothingKnownOfAnExponentMeansProportional)
{
    InstructionModel model;
    model.learn({"solve", "spmv", 10, 1e6}).value();

    EXPECT_NEAR(model.predict("solve", "spmv", 20)->instructions, 2e6, 1);
}

TEST(InstructionModel, AKernelWithoutRunsTakesItsApplicationAndAnApplicationWithoutRunsAll)
{
    InstructionModel model;
    model.learn({"solve", "spmv", 10, 1e6}).value();
    model.learn({"solve", "dot", 10, 1e4}).value();
    model.learn({"render", "trace", 10, 1e9}).value();

    const InstructionPrediction kernel = model.predict("solve", "spmv", 10).value();
    const InstructionPrediction application = model.predict("solve", "axpy", 10).value();
    const InstructionPrediction all = model.predict("other", "axpy", 10).value();

    EXPECT_NEAR(application.instructions, 1e5, 1) << "the geometric mean of its kernels";
    EXPECT_EQ(application.basis, InstructionBasis::kApplication);
    EXPECT_EQ(all.basis, InstructionBasis::kAll);
    const auto width = [](const InstructionPrediction& one) { return one.high / one.low; };
    EXPECT_LT(width(kernel), width(application)) << "what rests on less is less certain";
    EXPECT_LT(width(application), width(all));
}

TEST(InstructionModel, LearnsAsRunsEndUntilTheIntervalIsThatOfTheRuns)
{
    std::mt19937_64 generator(2);
    InstructionModel model;
    const auto width_after = [&](int more) {
        for (int i = 0; i < more; ++i) {
            const double size = 10 * (1 + i % 7);
            model.learn({"solve", "spmv", size, power_law(size, 0.1, generator)}).value();
        }
        const InstructionPrediction predicted = model.predict("solve", "spmv", 40).value();
        return std::log(predicted.high / predicted.low);
    };
    const double of_two = width_after(2);
    const double of_many = width_after(200);

    EXPECT_GT(of_two, of_many);
    EXPECT_NEAR(of_many, 2 * 1.2816 * 0.1, 0.03) << "four fifths of a normal distribution are within 1.2816 of it";
}

TEST(InstructionModel, TheErrorOfRunsThatWereLeftOutIsThatOfNewRuns)
{
    std::mt19937_64 generator(3);
    InstructionModel model;
    std::uniform_real_distribution<double> sizes(0, 6);
    for (int kernel = 0; kernel < 8; ++kernel) {
        for (int i = 0; i < 50; ++i) {
            const double size = std::exp(sizes(generator));
            model.learn({"solve", "k" + std::to_string(kernel), size, power_law(size, 0.2, generator)}).value();
        }
    }

    const InstructionErrors errors = model.cross_validate().value();

    EXPECT_EQ(errors.runs, 400);
    EXPECT_NEAR(errors.median_error, 0.2 * 0.6745, 0.025) << "half of a normal distribution is within 0.6745 of it";
    EXPECT_NEAR(errors.in_interval_share, 0.8, 0.05);
    EXPECT_GT(errors.p90_error, errors.median_error);
}

TEST(InstructionModel, RunsInAnyOrderTeachTheSame)
{
    InstructionModel one;
    InstructionModel other;
    for (int i = 1; i <= 9; ++i)
        one.learn({"solve", "spmv", 1.0 * i, 100.0 * i}).value();
    for (int i = 9; i >= 1; --i)
        other.learn({"solve", "spmv", 1.0 * i, 100.0 * i}).value();

    EXPECT_NEAR(one.predict("solve", "spmv", 20)->instructions, other.predict("solve", "spmv", 20)->instructions, 1e-6);
}

TEST(InstructionModel, ForgetsTheOldestRuns)
{
    InstructionModel model;
    model.learn({"solve", "spmv", 1, 1e12}).value();
    for (std::size_t i = 0; i < InstructionModel::kRunsKept; ++i)
        model.learn({"solve", "spmv", 1, 100}).value();

    EXPECT_EQ(model.run_count(), static_cast<std::int64_t>(InstructionModel::kRunsKept));
    EXPECT_NEAR(model.predict("solve", "spmv", 1)->instructions, 100, 0.01);
}

TEST(InstructionModel, RefusesWhatIsNoRunAndPredictsNothingFromNothing)
{
    InstructionModel model;

    EXPECT_EQ(model.predict("solve", "spmv", 1).error().code, Errc::kInfeasible);
    EXPECT_EQ(model.predict("solve", "spmv", std::nan("")).error().code, Errc::kInvalid);
    EXPECT_EQ(model.learn({"", "", -1, 0}).error().fields.size(), 4U);
    EXPECT_FALSE(model.cross_validate());
    EXPECT_EQ(model.run_count(), 0);
}

} // namespace
} // namespace fathom
