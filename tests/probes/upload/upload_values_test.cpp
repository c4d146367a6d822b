#include "probes/upload/plausible_rate.hpp"
#include "probes/upload/result_values.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace fathom::probes {
namespace {

ResultValues doubles(std::vector<double>& values)
{
    return {ResultKind::kDoubles, std::as_writable_bytes(std::span(values))};
}

double relative_change(const std::vector<double>& before, const std::vector<double>& after)
{
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        difference += (after[i] - before[i]) * (after[i] - before[i]);
        norm += before[i] * before[i];
    }
    return std::sqrt(difference / norm);
}

TEST(ResultValues, ASpoiledElementIsAboveTheToleranceInEuclideanAndLargestNorm)
{
    for (const double tolerance : {1e-14, 1e-3, 0.5}) {
        for (const std::size_t size : {1U, 7U, 100'000U}) {
            std::vector<double> before(size, 1.0);
            before[0] = 300; // one that stands out
            std::vector<double> after = before;

            doubles(after).spoil(size / 2, tolerance);

            EXPECT_GT(relative_change(before, after), tolerance) << size;
            EXPECT_GT(std::abs(after[size / 2] - before[size / 2]) / 300, tolerance) << size;
        }
    }
    std::vector<double> zeros(4);
    doubles(zeros).spoil(1, 1e-12);
    EXPECT_NE(zeros[1], 0);
}

TEST(ResultValues, ChecksumsIgnoreRoundingAndNothingElse)
{
    std::vector<double> values{1.0, -0.25, 0.5, 1e-3};
    std::vector<double> rounded{1.0 + 1e-13, -0.25, 0.5, 1e-3};
    std::vector<double> other{1.0, -0.25, 0.51, 1e-3};

    EXPECT_EQ(doubles(values).checksum(), doubles(rounded).checksum());
    EXPECT_NE(doubles(values).checksum(), doubles(other).checksum());
}

TEST(ResultValues, NonsenseIsCountedElementByElement)
{
    std::vector<double> values{1, 2, 3};
    ResultValues view = doubles(values);
    EXPECT_EQ(view.nonsense_left(), 0U);

    view.fill_with_nonsense();
    values[1] = 5;

    EXPECT_EQ(view.nonsense_left(), 2U);
}

TEST(ResultValues, AreTheSameWithinTheTolerance)
{
    std::vector<double> a{1, 2, 3};
    std::vector<double> b{1, 2, 3 + 1e-9};
    std::vector<double> nan{1, 2, std::nan("")};

    EXPECT_TRUE(ResultValues::are_same(doubles(a), doubles(b), 1e-8));
    EXPECT_FALSE(ResultValues::are_same(doubles(a), doubles(b), 1e-12));
    EXPECT_FALSE(ResultValues::are_same(doubles(a), doubles(nan), 1e-8));
}

TEST(ResultValues, FloatsAndBytesAreHandledByTheirSize)
{
    std::vector<float> floats{1.5F, -2.0F};
    ResultValues view(ResultKind::kFloats, std::as_writable_bytes(std::span(floats)));
    EXPECT_THAT(view.numbers(), testing::ElementsAre(1.5, -2.0));
    view.spoil(1, 1e-6);
    EXPECT_GT(std::abs(floats[1] + 2.0F), 1);

    std::vector<std::byte> bytes(3);
    ResultValues raw(ResultKind::kBytes, bytes);
    const std::string before = raw.checksum();
    raw.spoil(2, 0);
    EXPECT_NE(raw.checksum(), before);
    EXPECT_TRUE(raw.numbers().empty());
    EXPECT_EQ(raw.nonsense_left(), 0U);
}

OperatorManifest manifest(const std::string& precision)
{
    OperatorManifest made;
    made.id = "x";
    made.precision = precision;
    return made;
}

TEST(PlausibleRate, NarrowerNumbersAndMoreCoresAllowMore)
{
    EXPECT_DOUBLE_EQ(rate_bounds("fp32", 1).flops, 2 * rate_bounds("fp64", 1).flops);
    EXPECT_DOUBLE_EQ(rate_bounds("fp64", 8).flops, 8 * rate_bounds("fp64", 1).flops);
    // Twice as much again where the processor has instructions for it; a processor with AVX2 alone has none.
    EXPECT_GE(rate_bounds("bf16", 1).flops, rate_bounds("fp32", 1).flops);
    EXPECT_GE(rate_bounds("fp64", 1).bytes_per_s, 2e12);
    EXPECT_GE(rate_bounds("fp64", 1).flops, 2 * 2 * 2 * 6e9); // two lanes at least
}

TEST(PlausibleRate, ClaimsAboveTheBoundsAreNamedWithTheirFigures)
{
    const RateBounds bounds = rate_bounds("fp64", 2);

    EXPECT_TRUE(check_rate(manifest("fp64"), 0.9 * bounds.flops, 0.9 * bounds.bytes_per_s, 1, 2));
    const Error operations = check_rate(manifest("fp64"), 1.1 * bounds.flops, 0, 1, 2).error();
    EXPECT_EQ(operations.code, Errc::kForbidden);
    EXPECT_THAT(operations.detail, testing::HasSubstr("operation_count"));
    EXPECT_THAT(check_rate(manifest("fp64"), 0, 1.1 * bounds.bytes_per_s, 1, 2).error().detail,
                testing::HasSubstr("byte_count"));
}

} // namespace
} // namespace fathom::probes
