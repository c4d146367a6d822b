#include "core/decide/balance/aimd.hpp"
#include "core/decide/balance/control_law.hpp"
#include "core/decide/balance/occupancy.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace fathom {
namespace {

using testing::HasSubstr;

constexpr UnitRates kRates{.link_bytes_per_s = 1000, .peak_operations_per_s = 500};

TEST(Occupancy, CountsIdleTimeAsPartOfThePeriod)
{
    const Occupancies occupancies =
        measure_occupancies({.bytes = 500, .operations = 250, .period_s = 2}, kRates, 5).value();

    EXPECT_DOUBLE_EQ(occupancies.transfer, 0.25);
    EXPECT_DOUBLE_EQ(occupancies.load, 0.25);
    EXPECT_DOUBLE_EQ(balance_error({0.7, 0.2}), 0.5);
}

TEST(Occupancy, LiesInZeroToOneOrIsRefused)
{
    EXPECT_EQ(measure_occupancies({.bytes = 1030, .operations = 0, .period_s = 1}, kRates, 5).value().transfer, 1)
        << "clock and counter are not read at one moment";
    const auto refused = [](PeriodCounts counts) { return measure_occupancies(counts, kRates, 5).error().detail; };
    EXPECT_THAT(refused({.bytes = 2000, .operations = 0, .period_s = 1}), HasSubstr("more than the stated rate"));
    EXPECT_THAT(refused({.bytes = -1, .operations = 0, .period_s = 1}), HasSubstr("backwards"));
    EXPECT_THAT(refused({.bytes = std::nan(""), .operations = 0, .period_s = 1}), HasSubstr("backwards"));
    EXPECT_THAT(refused({.bytes = 1, .operations = 0, .period_s = 0}), HasSubstr("greater than 0"));
    EXPECT_FALSE(measure_occupancies({.bytes = 1, .operations = 1, .period_s = 1}, UnitRates(), 5));
    EXPECT_FALSE(check_occupancies(0.5, std::numeric_limits<double>::infinity()));
}

TEST(Occupancy, OfAnOldSampleIsNotActedOn)
{
    const Result<Occupancies> old =
        measure_occupancies({.bytes = 1, .operations = 1, .period_s = 1, .age_s = 6}, kRates, 5);
    ASSERT_FALSE(old);
    EXPECT_EQ(old.error().code, Errc::kDeadline);
}

/// Outputs of a law over some errors, plain R3.
std::vector<double> outputs(ControlLaw law, const Gains& gains, const std::vector<double>& errors,
                            const LawOptions& options = LawOptions::plain())
{
    LawState state;
    std::vector<double> all;
    for (const double error : errors)
        all.push_back(control_output(law, gains, error, options, {}, state));
    return all;
}

TEST(ControlLaw, PlainPidIsR3ToTheBit)
{
    const std::vector<double> errors{0.5, 0.25, -0.125, 0.3};
    const std::vector<double> u = outputs(ControlLaw::kPid, {0.8, 0.1, 0.4}, errors);

    EXPECT_EQ(u[0], 0.8 * 0.5 + 0.1 * 0.5 + 0.4 * 0);
    EXPECT_EQ(u[1], 0.8 * 0.25 + 0.1 * (0.5 + 0.25) + 0.4 * (0.25 - 0.5));
    EXPECT_EQ(u[2], 0.8 * -0.125 + 0.1 * (0.5 + 0.25 - 0.125) + 0.4 * (-0.125 - 0.25));
    EXPECT_EQ(u[3], 0.8 * 0.3 + 0.1 * (0.5 + 0.25 - 0.125 + 0.3) + 0.4 * (0.3 + 0.125));
}

TEST(ControlLaw, PdHasNoIntegralAndPiNoDerivative)
{
    const std::vector<double> errors{0.5, 0.25};
    EXPECT_EQ(outputs(ControlLaw::kPd, {0.8, 0.1, 0.4}, errors)[1], 0.8 * 0.25 + 0.4 * (0.25 - 0.5));
    EXPECT_EQ(outputs(ControlLaw::kPi, {0.8, 0.1, 0.4}, errors)[1], 0.8 * 0.25 + 0.1 * (0.5 + 0.25));
}

TEST(ControlLaw, HoldsItsOutputWithinNineTenths)
{
    EXPECT_EQ(outputs(ControlLaw::kPid, {5, 0, 0}, {1})[0], 0.9);
    EXPECT_EQ(outputs(ControlLaw::kPid, {5, 0, 0}, {-1})[0], -0.9);
}

TEST(ControlLaw, BothFormsOfTheIntegralAgreeAtConstantGains)
{
    const std::vector<double> errors{0.5, 0.25, -0.125, 0.3};
    LawOptions term = LawOptions::plain();
    term.integral = IntegralForm::kTerm;
    const std::vector<double> a = outputs(ControlLaw::kPid, {0.8, 0.1, 0.4}, errors);
    const std::vector<double> b = outputs(ControlLaw::kPid, {0.8, 0.1, 0.4}, errors, term);
    for (std::size_t i = 0; i < a.size(); ++i)
        EXPECT_NEAR(a[i], b[i], 1e-12);
}

/// The output at an error of −0.1 after 100 periods at 1.
double output_after_windup(AntiWindup kind)
{
    std::vector<double> errors(100, 1.0);
    errors.push_back(-0.1);
    LawOptions options = LawOptions::plain();
    options.anti_windup = kind;
    return outputs(ControlLaw::kPi, {0.5, 0.1, 0}, errors, options).back();
}

TEST(AntiWindup, LetsTheOutputTurnAtOnceWhenTheErrorDoes)
{
    EXPECT_EQ(output_after_windup(AntiWindup::kNone), 0.9) << "an integral that has grown to 100 hides the error";
    EXPECT_LT(output_after_windup(AntiWindup::kClamping), 0.4);
    EXPECT_LT(output_after_windup(AntiWindup::kBackCalculation), 0.4);
}

TEST(AntiWindup, ActuatorsWithoutRoomLetNothingGrow)
{
    LawOptions options;
    LawState state;
    for (int i = 0; i < 50; ++i)
        control_output(ControlLaw::kPi, {0.2, 0.01, 0}, -0.5, options, {.for_negative = false}, state);
    EXPECT_EQ(state.integral, 0);
    control_output(ControlLaw::kPi, {0.2, 0.01, 0}, -0.5, options, {}, state);
    EXPECT_DOUBLE_EQ(state.integral, -0.005);
}

TEST(AntiWindup, BackCalculationDoesNotTurnTheIntegralAgainstTheError)
{
    for (const IntegralForm form : {IntegralForm::kTerm, IntegralForm::kSum}) {
        const LawOptions options{.anti_windup = AntiWindup::kBackCalculation, .integral = form, .derivative_memory = 0};
        LawState state;
        // Far from balance there is no integral, and the proportional part alone is beyond the limit.
        control_output(ControlLaw::kPi, {2, 0, 0}, 0.9, options, {}, state);
        EXPECT_NEAR(control_output(ControlLaw::kPi, {2, 0.2, 0}, 0.1, options, {}, state), 0.2,
                    form == IntegralForm::kTerm ? 0.021 : 0.21)
            << "not below 0";
        control_output(ControlLaw::kPi, {2, 0.1, 0}, 0.9, options, {}, state);
        EXPECT_GE(state.integral, 0);
    }
}

TEST(Derivative, OfNoiseIsDampedByItsMemory)
{
    const std::vector<double> noise{0, 0.1, 0, 0.1, 0};
    LawOptions damped = LawOptions::plain();
    damped.derivative_memory = 0.8;
    const double plain = std::abs(outputs(ControlLaw::kPd, {0, 0, 1}, noise).back());
    EXPECT_DOUBLE_EQ(plain, 0.1);
    EXPECT_LT(std::abs(outputs(ControlLaw::kPd, {0, 0, 1}, noise, damped).back()), 0.2 * plain);
}

TEST(SwitchOfLaws, IsContinuousAndComesToTheNewLaw)
{
    const Gains gains{0.4, 0.05, 0.2};
    LawOptions options;
    LawState state;
    double before = 0;
    for (int i = 0; i < 20; ++i)
        before = control_output(ControlLaw::kPi, gains, 0.2, options, {}, state);
    const double first = control_output(ControlLaw::kPd, gains, 0.2, options, {}, state);
    EXPECT_DOUBLE_EQ(first, before);
    double last = 0;
    for (int i = 0; i < 30; ++i)
        last = control_output(ControlLaw::kPd, gains, 0.2, options, {}, state);
    EXPECT_NEAR(last, 0.4 * 0.2, 1e-6);
}

TEST(GainChange, DoesNotMoveWhatWasIntegrated)
{
    LawOptions options;
    LawState state;
    for (int i = 0; i < 10; ++i)
        control_output(ControlLaw::kPi, {0.4, 0.05, 0}, 0.2, options, {}, state);
    const double before = state.output;
    const double after = control_output(ControlLaw::kPi, {0.4, 0.2, 0}, 0, options, {}, state);
    EXPECT_NEAR(after, before - 0.4 * 0.2, 1e-12) << "the integral's part stays";
}

TEST(LawNames, AreReadAsTheyAreWritten)
{
    for (const ControlLaw law : {ControlLaw::kPid, ControlLaw::kPi, ControlLaw::kPd, ControlLaw::kAimd})
        EXPECT_EQ(parse_control_law(to_string(law)), law);
    EXPECT_FALSE(parse_control_law("p"));
}

TEST(Aimd, AddsOneAndGivesUpAnEighth)
{
    const UnitPosition position{.sub_units = SubUnitPosition{.count = 80}, .clock = ClockPosition{1600, 100, 2000}};
    EXPECT_EQ(aimd_actions(-0.5, position), (BalanceActions{1, 100, 0}));
    EXPECT_EQ(aimd_actions(0.5, position), (BalanceActions{-10, -200, 0}));
}

} // namespace
} // namespace fathom
