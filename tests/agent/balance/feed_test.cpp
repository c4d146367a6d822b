#include "agent/balance/balance_feed.hpp"
#include "agent/balance/balance_trace.hpp"
#include "tests/agent/balance/balance_fixture.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

using namespace test;
using testing::IsEmpty;

TraceStep traced_step(std::int64_t second)
{
    TraceStep trace{.at = Timestamp(std::chrono::seconds(second)),
                    .unit = "gpu0",
                    .job = "att_1",
                    .is_dry_run = true,
                    .law = "pid",
                    .band = 0.05,
                    .step = {},
                    .faults = {"clock: absent"}};
    trace.step.outcome = StepOutcome::kActed;
    trace.step.occupancies = {0.75, 0.25};
    trace.step.sample = {0.8125, 0.25};
    trace.step.error = 0.5;
    trace.step.change = 0.125;
    trace.step.region = GainRegion::kFar;
    trace.step.gains = {2, 0, 0.25};
    trace.step.output = 0.875;
    trace.step.actions = {.sub_units = -4, .clock_mhz = -300, .precision_steps = 2};
    trace.step.wanted_sub_units = 3;
    trace.step.reason = "transfer-bound";
    return trace;
}

class BalanceFeedTest : public testing::Test {
  protected:
    BalanceFeed feed() const
    {
        return {OpenFile(::open(host_.traces().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), ::geteuid()};
    }

    BalancedHost host_;
};

TEST_F(BalanceFeedTest, GivesNewStepsUnderTheNamesOfTheInterface)
{
    BalanceTrace trace = host_.trace();
    BalanceFeed feed = this->feed();
    EXPECT_THAT(feed.next(), IsEmpty());
    trace.add(traced_step(5));
    TraceStep without_sample = traced_step(6);
    without_sample.step = {};
    without_sample.step.reason = "no sample: counting begins";
    trace.add(without_sample);

    const std::vector<BalanceStep> steps = feed.next();

    ASSERT_EQ(steps.size(), 2U);
    const BalanceStep wanted{.at = Timestamp(std::chrono::seconds(5)),
                             .unit = "gpu0",
                             .attempt = "att_1",
                             .is_dry_run = true,
                             .outcome = "acted",
                             .law = "pid",
                             .band = 0.05,
                             .figures = BalanceFigures{.transfer = 0.75,
                                                       .load = 0.25,
                                                       .sample_transfer = 0.8125,
                                                       .sample_load = 0.25,
                                                       .error = 0.5,
                                                       .change = 0.125,
                                                       .region = "far",
                                                       .proportional = 2,
                                                       .integral = 0,
                                                       .derivative = 0.25,
                                                       .output = 0.875},
                             .sub_units = -4,
                             .clock_mhz = -300,
                             .precision_steps = 2,
                             .wanted_sub_units = 3,
                             .reason = "transfer-bound",
                             .faults = {"clock: absent"}};
    EXPECT_EQ(steps[0], wanted);
    EXPECT_FALSE(steps[1].figures);
    EXPECT_EQ(steps[1].outcome, "no_sample");
    EXPECT_THAT(feed.next(), IsEmpty());
}

TEST_F(BalanceFeedTest, BeginsWithTheLastOfWhatWasBefore)
{
    BalanceTrace trace = host_.trace();
    for (int i = 0; i < 2000; ++i)
        trace.add(traced_step(i));
    const std::vector<BalanceStep> steps = feed().next();
    EXPECT_GT(steps.size(), 100U);
    EXPECT_LT(steps.size(), 1000U);
    ASSERT_FALSE(steps.empty());
    EXPECT_EQ(steps.back().at, Timestamp(std::chrono::seconds(1999)));
}

TEST_F(BalanceFeedTest, TellsOfAUnitWhoseLinkIsNearlyIdleToo)
{
    RegulatorState state;
    TraceStep trace = traced_step(1);
    trace.step = regulate({}, {3e-8, 1}, {.sub_units = SubUnitPosition{.count = 10}}, state); // a kilobyte a second
    const Result<BalanceStep> step = to_balance_step(to_json(trace));

    ASSERT_TRUE(step) << describe(step.error());
    EXPECT_EQ(step->wanted_sub_units, 1'000'000);
}

TEST_F(BalanceFeedTest, TakesTheTraceOfAnEarlierAgentAndLeavesOutWhatIsNone)
{
    Json earlier = to_json(traced_step(1));
    earlier.erase("law");
    earlier.erase("band");
    const BalanceStep step = to_balance_step(earlier).value();
    EXPECT_TRUE(step.law.empty());
    EXPECT_FALSE(step.band);
    EXPECT_FALSE(to_balance_step(Json::object()));
    EXPECT_FALSE(to_balance_step(Json{{"time", "2026-11-20T11:04:14Z"}, {"unit", 3}, {"outcome", "acted"}}));
    Json longer = to_json(traced_step(1));
    longer["reason"] = std::string(5000, 'x');
    EXPECT_EQ(to_balance_step(longer).value().reason.size(), kMaxBalanceReasonLength);
}

} // namespace
} // namespace fathom::agent
