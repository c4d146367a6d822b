#include "core/decide/generate_task.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

// M4, golden.
TEST(ScaleCount, DividesByTheRatioAndKeepsAtLeastOne)
{
    EXPECT_EQ(scale_count(3000, 1000), 3);
    EXPECT_EQ(scale_count(2000, 1000), 2);
    EXPECT_EQ(scale_count(1000, 1000), 1);
    EXPECT_EQ(scale_count(1, 1000), 1);
}

TEST(ScaleCount, RoundsToTheNearest)
{
    EXPECT_EQ(scale_count(1499, 1000), 1);
    EXPECT_EQ(scale_count(1500, 1000), 2);
    EXPECT_EQ(scale_count(2499, 1000), 2);
}

TEST(ScaleCount, DoesNotOverflow)
{
    EXPECT_EQ(scale_count(std::numeric_limits<std::int64_t>::max(), 1), std::numeric_limits<std::int64_t>::max());
}

TEST(GenerateProbeTask, JoinsEqualOperatorsAndKeepsSizes)
{
    const std::vector<OperatorUse> operators{{"dgemm", 1, {{"m", 512}}, 1500},
                                             {"fft3d", 1, {{"n", 64}}, 20},
                                             {"dgemm", 1, {{"m", 512}}, 1500},
                                             {"dgemm", 1, {{"m", 64}}, 5000}};

    const ProbeTask task = generate_probe_task("mix", operators);

    ASSERT_EQ(task.operators.size(), 3U);
    EXPECT_EQ(task.operators[0].parameters.at("m"), 64);
    EXPECT_EQ(task.operators[0].count, 5);
    EXPECT_EQ(task.operators[1].parameters.at("m"), 512);
    EXPECT_EQ(task.operators[1].count, 3);
    EXPECT_EQ(task.operators[2].id, "fft3d");
    EXPECT_EQ(task.operators[2].count, 1);
}

TEST(GenerateProbeTask, DoesNotDependOnTheOrderOfOperators)
{
    const std::vector<OperatorUse> one{{"dgemm", 1, {}, 10}, {"fft1d", 1, {}, 5}};
    const std::vector<OperatorUse> other{{"fft1d", 1, {}, 5}, {"dgemm", 1, {}, 10}};

    EXPECT_EQ(to_json(generate_probe_task("x", one)), to_json(generate_probe_task("x", other)));
}

} // namespace
} // namespace fathom
