#include "tests/core/decide/balance/closed_loop.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

UnitPosition position_of(const LoopWorld& world, const ModelPosition& told)
{
    UnitPosition position;
    position.sub_units =
        SubUnitPosition{.count = std::llround(told.sub_units), .least = 1, .most = world.most_sub_units};
    position.clock = ClockPosition{
        .mhz = std::llround(told.clock_mhz), .least_mhz = world.least_clock_mhz, .most_mhz = world.most_clock_mhz};
    position.precision = PrecisionPosition{.precision = told.precision, .range = world.precision};
    return position;
}

ModelPosition model_position(const UnitPosition& position)
{
    return {.sub_units = static_cast<double>(position.sub_units->count),
            .clock_mhz = static_cast<double>(position.clock->mhz),
            .precision = position.precision->precision};
}

int direction_of(const BalanceActions& actions)
{
    if (!actions.any()) return 0;
    return actions.sub_units > 0 || actions.clock_mhz > 0 || actions.precision_steps < 0 ? 1 : -1;
}

} // namespace

std::uint64_t LoopRandom::next()
{
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31U);
}

double LoopRandom::uniform(double from, double to)
{
    return from + (to - from) * (static_cast<double>(next() >> 11U) * 0x1p-53);
}

std::int64_t LoopRandom::whole(std::int64_t from, std::int64_t to)
{
    return from + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(to - from + 1));
}

double LoopRandom::normal(double deviation)
{
    double sum = -6;
    for (int i = 0; i < 12; ++i)
        sum += uniform(0, 1);
    return deviation * sum;
}

LoopWorld random_world(std::uint64_t seed)
{
    LoopRandom random(seed);
    LoopWorld world;
    world.sub_units = random.whole(2, 100);
    world.most_sub_units = world.sub_units + random.whole(0, 2 * world.sub_units);
    world.model.sub_unit_rate = random.uniform(10, 200);
    world.model.base_clock_mhz = 1000;
    if (random.whole(0, 1) == 1) world.precision = {Precision::kInt4, Precision::kFp16};
    world.delay_periods = random.whole(0, 4);
    world.noise = random.uniform(0, 0.02);
    const double peak = static_cast<double>(world.sub_units) * world.model.sub_unit_rate;
    for (int i = 0; i < 3; ++i) {
        const double ratio = std::exp2(random.uniform(-2, 2));
        const double busy = random.whole(0, 2) == 0 ? random.uniform(0.3, 1) : 1000;
        world.phases.push_back(
            {.periods = 200, .link_rate = peak * ratio, .demand_rate = busy * peak * std::min(1.0, ratio)});
    }
    return world;
}

LoopRun run_closed_loop(const LoopWorld& world, const std::optional<RegulatorSettings>& settings, std::uint64_t seed)
{
    LoopRandom random(seed);
    UnitModel model = world.model;
    UnitPosition position = position_of(
        world, {static_cast<double>(world.sub_units), static_cast<double>(world.clock_mhz), model.base_precision});
    DelayedPosition actuators(model_position(position), world.delay_periods);
    RegulatorState state;
    LoopRun run;
    for (const LoopPhase& phase : world.phases) {
        model.link_rate = phase.link_rate;
        model.demand_rate = phase.demand_rate;
        run.phases.emplace_back();
        for (std::int64_t period = 0; period < phase.periods; ++period) {
            const ModelState now = run_model(model, actuators.in_effect());
            run.operations += now.rate;
            run.joules += now.watts;
            const MeasurementNoise noise{random.normal(world.noise), random.normal(world.noise)};
            RegulatorStep step;
            if (settings) {
                step = regulate(*settings, measured(now.occupancies, noise), position, state);
                position = moved(position, step.actions);
            }
            actuators.advance(model_position(position));
            run.phases.back().push_back({balance_error(now.occupancies), step.outcome, direction_of(step.actions)});
        }
    }
    run.end = model_position(position);
    return run;
}

int reversals_from(const std::vector<LoopPeriod>& phase, std::size_t first)
{
    int reversals = 0;
    int last = 0;
    for (std::size_t i = first; i < phase.size(); ++i) {
        const int direction = phase[i].direction;
        if (direction != 0 && direction == -last) ++reversals;
        if (direction != 0) last = direction;
    }
    return reversals;
}

GoldenEnd run_golden_scenario()
{
    const auto cluster = [](double link_tops) {
        return UnitModel{.sub_unit_rate = 100,
                         .base_clock_mhz = 1000,
                         .base_precision = Precision::kInt8,
                         .link_rate = link_tops,
                         .demand_rate = 1e9};
    };
    const UnitModel model_one = cluster(5'000);
    const UnitModel model_two = cluster(20'000);
    const auto run = [](const UnitModel& model, const UnitPosition& position) {
        return run_model(model, {.sub_units = static_cast<double>(position.sub_units->count),
                                 .clock_mhz = static_cast<double>(position.clock->mhz)});
    };
    RegulatorSettings settings;
    settings.band = 0.005; // to the last vGPU
    RegulatorState state_one;
    RegulatorState state_two;
    UnitPosition one{.sub_units = SubUnitPosition{.count = 100}, .clock = ClockPosition{1000, 1000, 1000}};
    UnitPosition two{.sub_units = SubUnitPosition{.count = 100}, .clock = ClockPosition{1000, 1000, 1100}};
    std::int64_t freed = 0;
    for (int period = 0; period < 400; ++period) {
        const RegulatorStep given = regulate(settings, run(model_one, one).occupancies, one, state_one);
        one = moved(one, given.actions);
        freed -= given.actions.sub_units;
        two.sub_units->most = two.sub_units->count + freed;
        const RegulatorStep taken = regulate(settings, run(model_two, two).occupancies, two, state_two);
        two = moved(two, taken.actions);
        freed -= taken.actions.sub_units;
    }
    return {.sub_units_one = one.sub_units->count,
            .sub_units_two = two.sub_units->count,
            .clock_two_mhz = two.clock->mhz,
            .tops = run(model_one, one).rate + run(model_two, two).rate};
}

std::optional<std::int64_t> settling_periods(const std::vector<LoopPeriod>& phase)
{
    const auto last = std::find_if(phase.rbegin(), phase.rend(),
                                   [](const LoopPeriod& period) { return period.outcome == StepOutcome::kActed; });
    const std::int64_t settled = phase.rend() - last;
    if (settled > std::ssize(phase) * 4 / 5) return std::nullopt;
    return settled;
}

double overshoot(const std::vector<LoopPeriod>& phase, double band)
{
    const double began = phase.front().error;
    if (std::abs(began) <= band) return 0;
    double most = 0;
    for (const LoopPeriod& period : phase)
        most = std::max(most, (began > 0 ? -period.error : period.error) - band);
    return most;
}

} // namespace fathom
