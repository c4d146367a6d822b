#include "core/decide/balance/fuzzy_gains.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(GainRegions, AreThoseOfTheTable)
{
    GainSchedule schedule;
    schedule.epsilon1 = 0.4;
    schedule.epsilon2 = 0.1;
    schedule.delta1 = 0.05;

    EXPECT_EQ(gain_region(schedule, 0.4, 0), GainRegion::kFar);
    EXPECT_EQ(gain_region(schedule, -0.4, 1), GainRegion::kFar);
    EXPECT_EQ(gain_region(schedule, 0.39, 0), GainRegion::kMiddle);
    EXPECT_EQ(gain_region(schedule, -0.1, 0), GainRegion::kMiddle);
    EXPECT_EQ(gain_region(schedule, 0.09, -0.05), GainRegion::kNearFast);
    EXPECT_EQ(gain_region(schedule, 0.09, 0.04), GainRegion::kNearSlow);
}

TEST(GainRegions, HaveTheirGains)
{
    GainSchedule schedule;
    schedule.proportional = {1.0, 0.5, 1.05};
    schedule.integral = {0, 0.1, 0.2};
    schedule.derivative = {0.3, 0.31, 0.6, 0.29};

    EXPECT_EQ(gains_of(schedule, GainRegion::kFar), (Gains{1.0, 0, 0.3}));
    EXPECT_EQ(gains_of(schedule, GainRegion::kMiddle), (Gains{0.5, 0.1, 0.31}));
    EXPECT_EQ(gains_of(schedule, GainRegion::kNearFast), (Gains{1.05, 0.2, 0.6}));
    EXPECT_EQ(gains_of(schedule, GainRegion::kNearSlow), (Gains{1.05, 0.2, 0.29}));
}

std::string broken(const GainSchedule& schedule)
{
    std::string all;
    for (const FieldError& error : broken_gain_rules(schedule))
        all += error.field + ": " + error.detail + "\n";
    return all;
}

TEST(GainOrders, OfTheDefaultAreKept)
{
    EXPECT_EQ(broken({}), "");
}

TEST(GainOrders, ThatAreBrokenAreNamed)
{
    GainSchedule schedule;
    schedule.proportional = {1.0, 0.5, 0.8};
    EXPECT_THAT(broken(schedule), HasSubstr("breaks K_p1 ≈ K_p3 > K_p2"));
    schedule = {};
    schedule.proportional[1] = 2;
    EXPECT_THAT(broken(schedule), HasSubstr("breaks K_p1 ≈ K_p3 > K_p2"));
    schedule = {};
    schedule.integral[0] = 0.01;
    EXPECT_THAT(broken(schedule), HasSubstr("breaks 0 = K_i1 < K_i2 < K_i3"));
    schedule = {};
    schedule.integral = {0, 0.2, 0.2};
    EXPECT_THAT(broken(schedule), HasSubstr("breaks 0 = K_i1 < K_i2 < K_i3"));
    schedule = {};
    schedule.derivative[3] = 0.2;
    EXPECT_THAT(broken(schedule), HasSubstr("breaks K_d1 ≈ K_d2 ≈ K_d4 < K_d3"));
    schedule = {};
    schedule.epsilon2 = 0.5;
    EXPECT_THAT(broken(schedule), HasSubstr("breaks ε1 > ε2 > 0"));
    schedule = {};
    schedule.delta1 = 0;
    EXPECT_THAT(broken(schedule), HasSubstr("breaks δ1 > 0"));
}

TEST(GainOrders, AreCheckedWhereAConfigurationIsRead)
{
    std::vector<FieldError> errors;
    read_gain_schedule(Json::parse(R"({"integral": [0, 0.3, 0.2]})"), "balance.gains", errors);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].field, "balance.gains.integral");
    EXPECT_THAT(errors[0].detail, HasSubstr("K_i3 = 0.2"));

    errors.clear();
    GainSchedule schedule;
    schedule.derivative = {0.2, 0.2, 0.5, 0.2};
    EXPECT_EQ(read_gain_schedule(to_json(schedule), "", errors), schedule);
    EXPECT_TRUE(errors.empty());
}

TEST(FuzzyRules, AreTheSameForBothDirections)
{
    const FuzzySettings settings;
    for (double error = -0.8; error <= 0.8; error += 0.05) {
        for (double change = -0.4; change <= 0.4; change += 0.05) {
            const Gains a = fuzzy_change(settings, error, change);
            const Gains b = fuzzy_change(settings, -error, -change);
            EXPECT_NEAR(a.proportional, b.proportional, 1e-12);
            EXPECT_NEAR(a.integral, b.integral, 1e-12);
            EXPECT_NEAR(a.derivative, b.derivative, 1e-12);
        }
    }
}

TEST(FuzzyRules, AreTheirConsequencesAtThePeaksOfTheTerms)
{
    FuzzySettings settings;
    settings.error_scale = 0.6;
    settings.change_scale = 0.3;
    settings.most = {0.3, 0.03, 0.3};

    const Gains growing = fuzzy_change(settings, 0.6, 0.3); // PB, PB
    EXPECT_NEAR(growing.proportional, 0.3, 1e-12);
    EXPECT_NEAR(growing.integral, -0.03, 1e-12);
    const Gains lasting = fuzzy_change(settings, 0, 0); // ZO, ZO
    EXPECT_NEAR(lasting.proportional, 0, 1e-12);
    EXPECT_NEAR(lasting.integral, 0.03, 1e-12);
    const Gains braking = fuzzy_change(settings, 0.2, -0.3); // PS, NB
    EXPECT_NEAR(braking.proportional, -0.2, 1e-12);
    EXPECT_NEAR(braking.derivative, 0.3, 1e-12);
    const Gains between = fuzzy_change(settings, 0.1, 0); // half ZO, half PS
    EXPECT_NEAR(between.integral, 0.03 * (3 + 2) / 2 / 3, 1e-12);
}

TEST(FuzzyRules, AreContinuous)
{
    const FuzzySettings settings;
    for (double error = -1; error < 1; error += 0.001) {
        const Gains a = fuzzy_change(settings, error, 0.07);
        const Gains b = fuzzy_change(settings, error + 0.001, 0.07);
        EXPECT_NEAR(a.proportional, b.proportional, 0.01);
        EXPECT_NEAR(a.derivative, b.derivative, 0.01);
    }
}

TEST(GainsInUse, AreNeverNegativeAndKeepTheOrdersBetweenAnyTwoMoments)
{
    const GainSchedule schedule;
    FuzzySettings settings;
    settings.most = {10, 10, 10}; // far more than would be sensible
    std::vector<Gains> far;
    std::vector<Gains> middle;
    std::vector<Gains> fast;
    std::vector<Gains> slow;
    for (double error = -1; error <= 1; error += 0.02) {
        for (double change = -0.5; change <= 0.5; change += 0.02) {
            const GainRegion region = gain_region(schedule, error, change);
            const Gains gains = adapted_gains(schedule, region, fuzzy_change(settings, error, change));
            EXPECT_GE(gains.proportional, 0);
            EXPECT_GE(gains.integral, 0);
            EXPECT_GE(gains.derivative, 0);
            (region == GainRegion::kFar        ? far
             : region == GainRegion::kMiddle   ? middle
             : region == GainRegion::kNearFast ? fast
                                               : slow)
                .push_back(gains);
        }
    }
    const auto most = [](const std::vector<Gains>& all, double Gains::* gain) {
        double value = 0;
        for (const Gains& gains : all)
            value = std::max(value, gains.*gain);
        return value;
    };
    const auto least = [](const std::vector<Gains>& all, double Gains::* gain) {
        double value = 1e9;
        for (const Gains& gains : all)
            value = std::min(value, gains.*gain);
        return value;
    };
    for (const auto* large : {&far, &fast, &slow})
        EXPECT_GT(least(*large, &Gains::proportional), most(middle, &Gains::proportional));
    for (const auto* small : {&far, &middle, &slow})
        EXPECT_GT(least(fast, &Gains::derivative), most(*small, &Gains::derivative));
    EXPECT_EQ(most(far, &Gains::integral), 0);
    EXPECT_GT(least(middle, &Gains::integral), 0);
    EXPECT_GT(std::min(least(fast, &Gains::integral), least(slow, &Gains::integral)), most(middle, &Gains::integral));
}

TEST(GainsInUse, AreTheInitialOnesWhereRulesAddNothing)
{
    const GainSchedule schedule;
    EXPECT_EQ(adapted_gains(schedule, GainRegion::kMiddle, {}), gains_of(schedule, GainRegion::kMiddle));
    EXPECT_EQ(adapted_gains(schedule, GainRegion::kNearFast, {}), gains_of(schedule, GainRegion::kNearFast));
}

} // namespace
} // namespace fathom
