#include "probes/runner/sampled_operator.hpp"
#include "tests/probes/runner/sleeping_operators.hpp"

#include <gtest/gtest.h>

namespace fathom::probes {
namespace {

/// Sleeps as long, and says that a fifth of it was the executions: what processes do that have to be woken first.
class TimedByItself final : public ProbeOperator {
  public:
    Result<void> prepare(std::uint64_t) override { return {}; }
    void execute() override { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }
    Result<void> execute_times(std::int64_t executions) override
    {
        execute();
        own_s_ = executions < kTooMany ? 0.001 * static_cast<double>(executions) : 1e9;
        return {};
    }
    std::optional<double> timed_s() const override { return own_s_; }
    double error() override { return 0; }
    std::string checksum() override { return "0000000000000000"; }
    std::string library() const override { return "none"; }
    std::span<std::byte> output() override { return {}; }

    static constexpr std::int64_t kTooMany = 1000;

  private:
    double own_s_{};
};

TEST(RunTask, BelievesAnOperatorThatTimesItselfUpToWhatWasSeen)
{
    RegisteredOperator item = sleeper();
    item.make = [](const Parameters&, int) -> std::unique_ptr<ProbeOperator> {
        return std::make_unique<TimedByItself>();
    };
    SampledOperator few(item, {.id = "dgemm", .parameters = {}}, 1);
    SampledOperator many(item, {.id = "dgemm", .parameters = {}, .count = TimedByItself::kTooMany}, 1);
    ASSERT_TRUE(few.start(7, {.min_sample_s = 0.001}));
    ASSERT_TRUE(many.start(7, {.min_sample_s = 0.001, .count_budget_s = 1e6}));

    EXPECT_DOUBLE_EQ(few.sample().value(), 0.001);
    EXPECT_LT(many.sample().value(), 1) << "not a million seconds";
}

int executions_of_one_sample(std::int64_t count, const SampleRule& rule)
{
    const RegisteredOperator registered = sleeper();
    SampledOperator item(registered, {.id = "dgemm", .parameters = {{"m", 1}, {"n", 1}, {"k", 1}}, .count = count}, 1);
    EXPECT_TRUE(item.start(1, rule));
    const int before = Sleeper::executions;
    EXPECT_GE(item.sample().value(), 0.001);
    return Sleeper::executions - before;
}

TEST(SampledOperator, ExecutesUntilTheSampleIsLongEnough)
{
    // A single one is long enough where the process stood still meanwhile.
    int executions = executions_of_one_sample(1, {.min_sample_s = 0.05});
    for (int i = 0; i < 20 && executions < 2; ++i)
        executions = executions_of_one_sample(1, {.min_sample_s = 0.05});

    EXPECT_GE(executions, 2);
    EXPECT_LE(executions, 11);
}

TEST(SampledOperator, ExecutesOnceWhenOneIsLongEnough)
{
    EXPECT_EQ(executions_of_one_sample(1, {.min_sample_s = 0}), 1);
    EXPECT_EQ(executions_of_one_sample(1, {.min_sample_s = 0, .warm_up_each = true}), 2);
}

TEST(SampledOperator, ExecutesTheWholeCountWhenTheBudgetAllows)
{
    EXPECT_EQ(executions_of_one_sample(40, {.min_sample_s = 0, .count_budget_s = 10'000}), 40);
    EXPECT_EQ(executions_of_one_sample(40, {.min_sample_s = 0, .count_budget_s = 0.01}), 1);
}

TEST(SampledOperator, ReportsAnErrorThatIsNotANumberAsLargest)
{
    const RegisteredOperator registered = sleeper();
    SampledOperator item(registered, {.id = "dgemm", .parameters = {{"m", 1}, {"n", 1}, {"k", 1}}}, 1);
    ASSERT_TRUE(item.start(1, {.min_sample_s = 0}));
    ASSERT_TRUE(item.sample());

    EXPECT_EQ(item.result().value().error, 1e300);
}

} // namespace
} // namespace fathom::probes
