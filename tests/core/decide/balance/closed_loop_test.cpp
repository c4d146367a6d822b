// The regulator and a model of a unit, one after the other.
#include "core/decide/balance/regulator.hpp"
#include "tests/core/decide/balance/closed_loop.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom {
namespace {

TEST(ClosedLoopFigures, OvershootIsWhatGoesBeyondTheBandOnTheOtherSide)
{
    const auto phase = [](std::vector<double> errors) {
        std::vector<LoopPeriod> periods;
        for (const double error : errors)
            periods.push_back({.error = error});
        return periods;
    };
    EXPECT_NEAR(overshoot(phase({0.5, 0.2, -0.15, 0.3, -0.08}), 0.05), 0.10, 1e-12);
    EXPECT_NEAR(overshoot(phase({-0.5, 0.25, 0.1}), 0.05), 0.20, 1e-12);
    EXPECT_EQ(overshoot(phase({0.5, 0.2, -0.05}), 0.05), 0);
    EXPECT_EQ(overshoot(phase({0.02, -0.4}), 0.05), 0) << "it began in the band";
}

/// Seeds of the benchmark are others (tests/bench/balance_bench.cpp).
constexpr std::uint64_t kFirstSeed = 1;
constexpr std::uint64_t kSeeds = 300;

TEST(ClosedLoop, SettlesOrLetsGoAndSaysSoInEveryRandomWorld)
{
    const RegulatorSettings settings;
    for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
        const LoopWorld world = random_world(seed);
        const LoopRun run = run_closed_loop(world, settings, seed);
        for (const std::vector<LoopPeriod>& phase : run.phases) {
            // The last fifth: at most three single corrections of noise, or it was let go.
            int actions = 0;
            bool was_let_go = false;
            for (std::size_t i = phase.size() * 4 / 5; i < phase.size(); ++i) {
                actions += phase[i].outcome == StepOutcome::kActed ? 1 : 0;
                was_let_go = was_let_go || phase[i].outcome == StepOutcome::kLetGo;
            }
            EXPECT_TRUE(actions <= 3 || was_let_go) << "seed " << seed << ": " << actions << " actions, delay "
                                                    << world.delay_periods << ", noise " << world.noise;
        }
    }
}

/// Valid settings of chance.
RegulatorSettings random_settings(LoopRandom& random)
{
    RegulatorSettings settings;
    GainSchedule& gains = settings.gains;
    const double p2 = random.uniform(0.3, 2);
    const double p1 = p2 + random.uniform(0.05, 1.5);
    const double i2 = random.uniform(0.01, 0.3);
    const double i3 = i2 + random.uniform(0.01, 0.3);
    const double d1 = random.uniform(0, 0.6);
    const double d3 = d1 + random.uniform(0.05, 0.8);
    gains.proportional = {p1, p2, p1};
    gains.integral = {0, i2, i3};
    gains.derivative = {d1, d1, d3, d1};
    settings.band = random.uniform(0.03, 0.1);
    settings.pause_periods = random.whole(0, 3);
    settings.fuzzy.is_on = random.whole(0, 1) == 1;
    settings.averaged_samples = std::array{1, 8, 16}.at(static_cast<std::size_t>(random.whole(0, 2)));
    settings.confirming_samples = std::min<std::int64_t>(3, settings.averaged_samples);
    gains.epsilon1 = random.uniform(0.25, 0.6);
    gains.epsilon2 = random.uniform(0.1, 0.2);
    settings.law =
        std::array{ControlLaw::kPid, ControlLaw::kPi, ControlLaw::kPd}.at(static_cast<std::size_t>(random.whole(0, 2)));
    return settings;
}

TEST(ClosedLoop, WithRandomSettingsLongDelaysAndMuchNoiseDoesNotSwingOrLetsGo)
{
    for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
        LoopWorld world = random_world(seed);
        LoopRandom random(seed + 777'777);
        world.delay_periods = random.whole(0, 20);
        world.noise = random.uniform(0, 0.08);
        const RegulatorSettings settings = random_settings(random);
        ASSERT_TRUE(broken_gain_rules(settings.gains).empty());
        const LoopRun run = run_closed_loop(world, settings, seed);
        for (const std::vector<LoopPeriod>& phase : run.phases) {
            const bool was_let_go =
                std::any_of(phase.begin() + std::ssize(phase) * 4 / 5, phase.end(),
                            [](const LoopPeriod& period) { return period.outcome == StepOutcome::kLetGo; });
            EXPECT_TRUE(reversals_from(phase, phase.size() * 4 / 5) <= 2 || was_let_go)
                << "seed " << seed << ", " << to_string(settings.law) << ", delay " << world.delay_periods;
        }
    }
}

TEST(ClosedLoop, EndsInItsBandWhereNothingDisturbs)
{
    RegulatorSettings settings;
    for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
        LoopWorld world = random_world(seed);
        world.noise = 0;
        world.delay_periods = 0;
        const LoopRun run = run_closed_loop(world, settings, seed);
        for (const std::vector<LoopPeriod>& phase : run.phases) {
            const LoopPeriod& last = phase.back();
            const bool says_why_not = last.outcome == StepOutcome::kNoRoom || last.outcome == StepOutcome::kNeutral ||
                                      last.outcome == StepOutcome::kLetGo;
            EXPECT_TRUE(std::abs(last.error) <= settings.band + 1e-9 || says_why_not)
                << "seed " << seed << ": error " << last.error << ", " << to_string(last.outcome);
        }
    }
}

TEST(ClosedLoop, CostsNoUnitMoreThanATenthOfItsWork)
{
    for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
        const LoopWorld world = random_world(seed);
        const double without = run_closed_loop(world, std::nullopt, seed).operations;
        EXPECT_GE(run_closed_loop(world, RegulatorSettings(), seed).operations, 0.9 * without) << "seed " << seed;
    }
}

TEST(ClosedLoop, KeepsTheWorkOfAUnitWhoseLinkIsNearlySaturated)
{
    LoopWorld world;
    world.model = {.sub_unit_rate = 1, .base_clock_mhz = 1000, .base_precision = Precision::kInt8};
    world.sub_units = 43;
    world.most_sub_units = 43;
    world.delay_periods = 2;
    world.phases = {{.periods = 200, .link_rate = 29.2, .demand_rate = 28.7}}; // 98 % of the link
    const LoopRun run = run_closed_loop(world, RegulatorSettings(), 1);
    EXPECT_GE(run.operations, 0.97 * run_closed_loop(world, std::nullopt, 1).operations);
    EXPECT_LT(run.end.sub_units, 35) << "what the work does not need is given up nevertheless";
}

TEST(ClosedLoop, OfAnIntegralEndsInItsBandWhereTheOutputAloneWouldAskForNothing)
{
    // e = 0.075 gives an output of 1.2·e = 0.09, for which the table has no action: only an integral gets on.
    LoopWorld world;
    world.model = {.sub_unit_rate = 1, .base_clock_mhz = 1000, .base_precision = Precision::kInt8};
    world.sub_units = 100;
    world.most_sub_units = 100;
    world.phases = {{.periods = 100, .link_rate = 92.5, .demand_rate = 1000}};
    RegulatorSettings settings;
    settings.gains.proportional = {1.2, 0.9, 1.2};
    settings.fuzzy.is_on = false;
    const LoopRun run = run_closed_loop(world, settings, 1);
    EXPECT_LE(std::abs(run.phases[0].back().error), settings.band);
    settings.law = ControlLaw::kPd;
    EXPECT_GT(std::abs(run_closed_loop(world, settings, 1).phases[0].back().error), settings.band);
}

} // namespace
} // namespace fathom
