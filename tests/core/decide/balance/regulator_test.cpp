#include "core/decide/balance/regulator.hpp"
#include "tests/core/decide/balance/closed_loop.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom {
namespace {

using testing::HasSubstr;

UnitPosition position(std::int64_t count)
{
    return {.sub_units = SubUnitPosition{.count = count, .least = 1, .most = 1000}};
}

/// Settings whose output is K_p·e, so that numbers can be followed on paper.
RegulatorSettings proportional()
{
    RegulatorSettings settings;
    settings.law = ControlLaw::kPd;
    settings.gains.proportional = {1.3, 0.9, 1.3};
    settings.gains.derivative = {0, 0, 1e-9, 0};
    settings.fuzzy.is_on = false;
    return settings;
}

TEST(Regulator, HoldsStillWithinItsBand)
{
    RegulatorState state;
    const RegulatorStep step = regulate({}, {0.52, 0.48}, position(10), state);

    EXPECT_EQ(step.outcome, StepOutcome::kInBand);
    EXPECT_FALSE(step.actions.any());
    EXPECT_THAT(step.reason, HasSubstr("within the band of 0.05"));
}

TEST(Regulator, ActsByTheTableAndSaysWhy)
{
    RegulatorState state;
    const RegulatorStep step = regulate(proportional(), {0.2, 0.7}, position(10), state);

    EXPECT_DOUBLE_EQ(step.error, -0.5);
    EXPECT_EQ(step.region, GainRegion::kFar);
    EXPECT_DOUBLE_EQ(step.output, 1.3 * -0.5);
    EXPECT_EQ(step.outcome, StepOutcome::kActed);
    EXPECT_EQ(step.actions.sub_units, 3);
    EXPECT_EQ(step.wanted_sub_units, 35);
    EXPECT_THAT(step.reason, HasSubstr("compute-bound by 0.500: the output -0.650 asks for +3 sub-units"));
}

TEST(Regulator, WaitsAfterAnActionUntilItShows)
{
    RegulatorSettings settings = proportional();
    settings.pause_periods = 2;
    RegulatorState state;
    EXPECT_EQ(regulate(settings, {0.2, 0.7}, position(10), state).outcome, StepOutcome::kActed);
    EXPECT_EQ(regulate(settings, {0.2, 0.7}, position(13), state).outcome, StepOutcome::kPaused);
    const RegulatorStep waits = regulate(settings, {0.2, 0.7}, position(13), state);
    EXPECT_EQ(waits.outcome, StepOutcome::kPaused);
    EXPECT_THAT(waits.reason, HasSubstr("waits 1 more period for the last action to show"));
    EXPECT_EQ(regulate(settings, {0.2, 0.7}, position(13), state).outcome, StepOutcome::kActed);
}

TEST(Regulator, ActsOnSmallErrorsOnlyWhenSeveralSamplesShowThem)
{
    RegulatorState state;
    const RegulatorStep first = regulate({}, {0.5, 0.6}, position(10), state);
    EXPECT_EQ(first.outcome, StepOutcome::kLooksAgain);
    EXPECT_THAT(first.reason, HasSubstr("in 1 sample: could be noise"));
    regulate({}, {0.5, 0.58}, position(10), state);
    const RegulatorStep third = regulate({}, {0.5, 0.62}, position(10), state);
    EXPECT_EQ(third.outcome, StepOutcome::kActed);
    EXPECT_NEAR(third.occupancies.load, 0.6, 1e-12) << "the mean of three samples";
    EXPECT_EQ(third.sample.load, 0.62);
}

TEST(Regulator, SeesAJumpAtOnce)
{
    RegulatorState state;
    for (int i = 0; i < 20; ++i)
        regulate({}, {0.5, 0.5}, position(10), state);
    EXPECT_EQ(regulate({}, {0.9, 0.4}, position(10), state).error, 0.5);
}

TEST(Regulator, SaysThatNothingCanHelp)
{
    RegulatorState state;
    const RegulatorStep step = regulate({}, {0.2, 0.9}, {}, state);
    EXPECT_EQ(step.outcome, StepOutcome::kNoRoom);
    EXPECT_FALSE(step.wanted_sub_units);
}

TEST(Regulator, SaysWhenTheClockStaysForTheSakeOfTheWork)
{
    const UnitPosition clock_only{.sub_units = {}, .clock = ClockPosition{1000, 500, 1500}};
    RegulatorState state;
    const RegulatorStep step = regulate(proportional(), {0.7, 0.2}, clock_only, state);

    EXPECT_EQ(step.outcome, StepOutcome::kNoRoom);
    EXPECT_THAT(step.reason, HasSubstr("asks for -3 sub-units, -200 MHz, precision up 1 step, but the clock stays"));
}

TEST(Regulator, SaysWhenItsOutputIsAgainstTheError)
{
    RegulatorSettings settings = proportional();
    settings.gains.derivative = {2, 2, 3, 2};
    settings.averaged_samples = 1;
    RegulatorState state;
    regulate(settings, {0.9, 0.1}, {}, state); // nothing that could act
    const RegulatorStep step = regulate(settings, {0.6, 0.4}, position(10), state);

    EXPECT_LT(step.output, 0) << "the derivative brakes";
    EXPECT_EQ(step.outcome, StepOutcome::kNeutral);
    EXPECT_THAT(step.reason, HasSubstr("is against the error: nothing is done"));
}

/// K_p·e + ΣK_i·e of single samples, and each step may act.
RegulatorSettings integrating()
{
    RegulatorSettings settings = proportional();
    settings.law = ControlLaw::kPi;
    settings.averaged_samples = 1;
    settings.confirming_samples = 1;
    settings.pause_periods = 0;
    return settings;
}

TEST(Regulator, IntegratesNothingWhileItsOnlyActuatorMayNotMove)
{
    const UnitPosition clock_only{.sub_units = {}, .clock = ClockPosition{1000, 500, 1500}};
    RegulatorState state;
    for (int i = 0; i < 100; ++i) // transfer-bound, but not saturated: the clock stays
        regulate(integrating(), {0.6, 0.5}, clock_only, state);
    EXPECT_EQ(state.law.integral, 0);
}

TEST(Regulator, ForgetsWhatItIntegratedWhenTheErrorJumpsOverTheBand)
{
    RegulatorState state;
    for (int i = 0; i < 100; ++i) // a broker that grants nothing
        regulate(integrating(), {0.5, 0.6}, position(10), state);
    ASSERT_LT(state.law.integral, -0.1);
    const RegulatorStep step = regulate(integrating(), {0.6, 0.5}, position(10), state);

    EXPECT_GT(step.output, 0.1);
    EXPECT_EQ(step.outcome, StepOutcome::kActed);
    EXPECT_LT(step.actions.sub_units, 0);
}

TEST(Regulator, IntegratesNothingWhileAUnitIsLetGo)
{
    RegulatorSettings settings = integrating();
    settings.let_go_periods = 30;
    RegulatorState state;
    double error = 0.2;
    StepOutcome outcome = StepOutcome::kNoSample;
    for (int i = 0; i < 200 && outcome != StepOutcome::kLetGo; ++i) {
        outcome = regulate(settings, {0.4 + error / 2, 0.4 - error / 2}, position(10), state).outcome;
        if (outcome == StepOutcome::kActed) error = -error;
    }
    ASSERT_EQ(outcome, StepOutcome::kLetGo);
    for (int i = 0; i < 20; ++i)
        regulate(settings, {0.4 + error / 2, 0.4 - error / 2}, position(10), state);
    EXPECT_EQ(state.law.integral, 0);
}

TEST(Regulator, GivesTheClockBackWhereNothingIsSaturated)
{
    const auto at = [](std::int64_t mhz) {
        return UnitPosition{.sub_units = SubUnitPosition{.count = 10}, .clock = ClockPosition{mhz, 500, 1500}};
    };
    RegulatorState state;
    regulate({}, {1, 0.3}, at(1000), state);
    RegulatorStep step;
    for (int i = 0; i < 4; ++i)
        step = regulate({}, {0.52, 0.5}, at(600), state);

    EXPECT_EQ(step.outcome, StepOutcome::kActed) << step.reason;
    EXPECT_EQ(step.actions, (BalanceActions{.sub_units = 0, .clock_mhz = 300, .precision_steps = 0}));
    EXPECT_THAT(step.reason, HasSubstr("+300 MHz, so that the work is not slower"));
    EXPECT_EQ(regulate({}, {0.52, 0.5}, at(900), state).outcome, StepOutcome::kInBand) << "it waits for the effect";
}

UnitPosition at_clock(std::int64_t mhz)
{
    return {.sub_units = {}, .clock = ClockPosition{mhz, 500, 1500}};
}

/// A loop whose clock went down to 900 MHz while the link was at 0.98, and with it the link.
RegulatorState after_a_clock_that_slowed_the_work()
{
    RegulatorState state;
    regulate({}, {0.98, 0.6}, at_clock(1000), state);
    for (int i = 0; i < 3; ++i)
        regulate({}, {0.882, 0.6}, at_clock(900), state);
    return state;
}

TEST(Regulator, GivesTheClockBackThatTheLinkWentAlongWith)
{
    RegulatorState state = after_a_clock_that_slowed_the_work();
    const RegulatorStep step = regulate({}, {0.882, 0.6}, at_clock(900), state);

    EXPECT_EQ(step.actions, (BalanceActions{.sub_units = 0, .clock_mhz = 100, .precision_steps = 0})) << step.reason;
    EXPECT_THAT(step.reason, HasSubstr("the link is at 0.882 and was at 0.980"));
}

TEST(Regulator, LeavesALowerClockWhereTheLinkStaysSaturated)
{
    RegulatorState state;
    regulate({}, {0.98, 0.6}, at_clock(1000), state);
    for (int i = 0; i < 20; ++i)
        EXPECT_LE(regulate({}, {0.98, 0.67}, at_clock(900), state).actions.clock_mhz, 0);
}

TEST(Regulator, LowersAClockThatSlowedTheWorkOnlyWhenTheUnitHasChanged)
{
    RegulatorState state = after_a_clock_that_slowed_the_work();
    regulate({}, {0.882, 0.6}, at_clock(900), state);
    RegulatorState other_work = state;
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(regulate({}, {0.98, 0.6}, at_clock(1000), state).actions.clock_mhz, 0);

    // The error jumps: other work.
    RegulatorStep step;
    for (int i = 0; i < 20 && step.actions.clock_mhz == 0; ++i)
        step = regulate({}, {1, 0.2}, at_clock(1000), other_work);
    EXPECT_LT(step.actions.clock_mhz, 0) << step.reason;
}

TEST(Regulator, DoesNothingWithoutASampleAndGoesOnAfterIt)
{
    RegulatorState state;
    regulate({}, {0.5, 0.5}, position(10), state);
    const RegulatorStep step = skip_step("the sample is 9 s old", state);
    EXPECT_EQ(step.outcome, StepOutcome::kNoSample);
    EXPECT_EQ(step.reason, "no sample: the sample is 9 s old");
    EXPECT_EQ(regulate({}, {0.9, 0.1}, position(10), state).change, 0) << "a change over a gap says nothing";
}

TEST(Regulator, LetsGoOfAUnitWhoseActionsReverseEachOtherAndSaysSo)
{
    RegulatorSettings settings = proportional();
    settings.pause_periods = 0;
    settings.let_go_periods = 30;
    RegulatorState state;
    bool was_let_go = false;
    double error = 0.2;
    for (int i = 0; i < 200 && !was_let_go; ++i) { // a unit that answers each action by the opposite error
        const RegulatorStep step = regulate(settings, {0.4 + error / 2, 0.4 - error / 2}, position(10), state);
        was_let_go = step.outcome == StepOutcome::kLetGo;
        if (was_let_go) EXPECT_THAT(step.reason, HasSubstr("let go: 4 actions reversed each other"));
        if (step.outcome == StepOutcome::kActed) error = -error;
    }
    ASSERT_TRUE(was_let_go);
    EXPECT_EQ(regulate(settings, {0.4 + error / 2, 0.4 - error / 2}, position(10), state).outcome, StepOutcome::kLetGo);
    EXPECT_NE(regulate(settings, {1, 0.1}, position(10), state).outcome, StepOutcome::kLetGo)
        << "another load is taken up at once";
}

TEST(Regulator, IsTheSameForTheSameInputs)
{
    RegulatorState a;
    RegulatorState b;
    LoopRandom random(5);
    for (int i = 0; i < 200; ++i) {
        const Occupancies seen{random.uniform(0, 1), random.uniform(0, 1)};
        const RegulatorStep one = regulate({}, seen, position(10), a);
        const RegulatorStep two = regulate({}, seen, position(10), b);
        EXPECT_EQ(one.output, two.output);
        EXPECT_EQ(one.actions, two.actions);
        EXPECT_EQ(one.reason, two.reason);
        EXPECT_LE(std::abs(one.output), 0.9);
        EXPECT_FALSE(one.reason.empty());
    }
}

TEST(RegulatorSettingsDocument, IsReadWithItsDefaults)
{
    std::vector<FieldError> errors;
    const Json none = Json::object();
    ObjectReader empty(none, "balance", errors);
    EXPECT_EQ(read_regulator_settings(empty, errors), RegulatorSettings());

    const Json json = Json::parse(R"({"law": "pi", "band": 0.1, "actuators": ["clock"], "use": "first",
                                      "fuzzy": {"enabled": false}, "anti_windup": "back_calculation"})");
    ObjectReader reader(json, "balance", errors);
    const RegulatorSettings settings = read_regulator_settings(reader, errors);
    EXPECT_TRUE(errors.empty());
    EXPECT_EQ(settings.law, ControlLaw::kPi);
    EXPECT_EQ(settings.band, 0.1);
    EXPECT_EQ(settings.plan.actuators, std::vector{ActuatorKind::kClock});
    EXPECT_EQ(settings.law_options.anti_windup, AntiWindup::kBackCalculation);
}

TEST(RegulatorSettingsDocument, IsRefusedWithEveryFault)
{
    std::vector<FieldError> errors;
    const Json json =
        Json::parse(R"json({"law": "bang", "gains": {"integral": [1, 2, 3]}, "actuators": ["clock", "clock"],
                                      "actions": [{"u": "[-0.9, 0)"}], "fuzzy": {"error_scale": 0}})json");
    ObjectReader reader(json, "balance", errors);
    read_regulator_settings(reader, errors);
    std::vector<std::string> fields;
    for (const FieldError& error : errors)
        fields.push_back(error.field);
    EXPECT_THAT(fields, testing::UnorderedElementsAre("balance.law", "balance.gains.integral", "balance.actuators",
                                                      "balance.actions[0].u", "balance.fuzzy.error_scale"));
}

} // namespace
} // namespace fathom
