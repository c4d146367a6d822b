#include "core/decide/balance/regulator.hpp"

#include "core/decide/balance/action_plan.hpp"
#include "core/decide/balance/action_table.hpp"
#include "core/decide/balance/aimd.hpp"
#include "core/decide/balance/control_law.hpp"
#include "core/decide/balance/fuzzy_gains.hpp"
#include "core/decide/balance/gain_schedule.hpp"
#include "core/decide/balance/occupancy.hpp"
#include "core/decide/balance/regulator_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {
namespace {

constexpr std::int64_t kMaxPausePeriods = 32;
constexpr std::int64_t kSettledAfterPeriods = 5; ///< in the band, and two pauses more: earlier reversals are forgotten
constexpr double kNoiseSmoothing = 0.1;
constexpr double kJumpDeviations = 3; ///< standard deviations of noise, beyond ε2, that are a change of the unit

int direction_of(double output)
{
    return output < 0 ? -1 : 1;
}

std::string_view bound_of(double error)
{
    return error > 0 ? "transfer-bound" : "compute-bound";
}

/// Standard deviation of the mean of samples.
double noise_of_mean(const RegulatorState& state)
{
    return std::sqrt(state.noise_variance / static_cast<double>(std::max<std::int64_t>(1, state.samples)));
}

/// What is wanted, without what the rules leave out at these occupancies, and without a lower clock where one was seen
/// to slow the work.
BalanceActions permitted(const RegulatorSettings& settings, const BalanceActions& wanted, const UnitPosition& position,
                         const Occupancies& occupancies, const RegulatorState& state)
{
    BalanceActions actions = allowed_actions(wanted, position, occupancies, settings.plan);
    if (state.slowing_clock) actions.clock_mhz = std::max<std::int64_t>(0, actions.clock_mhz);
    return actions;
}

/// Whether some actuator can still go, and may go at these occupancies, the way of an output of that sign.
bool has_room(const RegulatorSettings& settings, const UnitPosition& position, const Occupancies& occupancies,
              const RegulatorState& state, int direction)
{
    const std::int64_t far = direction < 0 ? 1'000'000 : -1'000'000;
    const BalanceActions all{.sub_units = far, .clock_mhz = far, .precision_steps = direction * 4};
    return plan_actions(permitted(settings, all, position, occupancies, state), position, settings.plan, std::nullopt)
        .any();
}

ActuatorRoom room_of(const RegulatorSettings& settings, const UnitPosition& position, const Occupancies& occupancies,
                     const RegulatorState& state)
{
    return {has_room(settings, position, occupancies, state, -1), has_room(settings, position, occupancies, state, 1)};
}

std::string action_text(const BalanceActions& actions)
{
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (actions.sub_units != 0) add(fmt::format("{:+} sub-units", actions.sub_units));
    if (actions.clock_mhz != 0) add(fmt::format("{:+} MHz", actions.clock_mhz));
    if (actions.precision_steps != 0)
        add(fmt::format("precision {} {} {}", actions.precision_steps < 0 ? "down" : "up",
                        std::abs(actions.precision_steps), std::abs(actions.precision_steps) == 1 ? "step" : "steps"));
    return text;
}

/// Takes a sample into the mean, which begins anew where the unit has changed.
Occupancies average(const RegulatorSettings& settings, const Occupancies& sample, RegulatorState& state)
{
    const double deviation = balance_error(sample) - balance_error(state.mean);
    const double jump = settings.gains.epsilon2 + kJumpDeviations * std::sqrt(state.noise_variance);
    const bool has_jumped = state.samples > 0 && std::abs(deviation) >= jump;
    if (has_jumped) state.slowing_clock.reset(); // it may be limited by another thing now
    if (state.step == state.acts_from || has_jumped) state.samples = 0;
    if (state.samples > 0) state.noise_variance += kNoiseSmoothing * (deviation * deviation - state.noise_variance);
    state.samples = std::min(state.samples + 1, settings.averaged_samples);
    const auto count = static_cast<double>(state.samples);
    if (state.samples == 1) {
        state.mean = sample;
    } else {
        state.mean.transfer += (sample.transfer - state.mean.transfer) / count;
        state.mean.load += (sample.load - state.mean.load) / count;
    }
    return state.mean;
}

/// Notes where actuators stood when they were seen first.
void note_position(const UnitPosition& position, UnitPosition& before)
{
    if (!before.sub_units) before.sub_units = position.sub_units;
    if (!before.clock) before.clock = position.clock;
    if (!before.precision) before.precision = position.precision;
}

/// Notes how busy the link has been. More work than a slowing clock was seen with is other work: that is forgotten.
void watch_link(const RegulatorSettings& settings, const UnitPosition& position, const Occupancies& occupancies,
                RegulatorState& state)
{
    const double certain = occupancies.transfer - settings.noise_margin * noise_of_mean(state);
    state.busiest_link = std::max(state.busiest_link, certain);
    if (!state.slowing_clock || !position.clock) return;
    const double expected = state.slowing_clock->transfer * static_cast<double>(position.clock->mhz) /
                            static_cast<double>(state.slowing_clock->mhz);
    if (certain > expected + settings.band) state.slowing_clock.reset();
}

/// Error, gains and output of the step.
void compute_output(const RegulatorSettings& settings, const UnitPosition& position, RegulatorStep& step,
                    RegulatorState& state)
{
    step.change = state.law.has_previous ? step.error - state.law.previous_error : 0;
    step.region = gain_region(settings.gains, step.error, step.change);
    step.gains = gains_of(settings.gains, step.region);
    if (settings.fuzzy.is_on)
        step.gains = adapted_gains(settings.gains, step.region, fuzzy_change(settings.fuzzy, step.error, step.change));
    if (settings.law == ControlLaw::kAimd) {
        step.gains = {};
        state.law.previous_error = step.error;
        state.law.has_previous = true;
        step.output = std::abs(step.error) <= settings.band ? 0 : 0.2 * direction_of(step.error);
        state.law.output = step.output;
        state.law.law = settings.law;
        return;
    }
    // What the integral has asked for stands in the actuators by the time that the error has crossed 0, also where it
    // jumped over the band.
    if (settings.law_options.anti_windup != AntiWindup::kNone && step.error * state.law.previous_error < 0)
        state.law.integral = 0;
    step.output = control_output(settings.law, step.gains, step.error, settings.law_options,
                                 room_of(settings, position, step.occupancies, state), state.law);
}

bool hold_in_band(const RegulatorSettings& settings, RegulatorStep& step, RegulatorState& state)
{
    if (std::abs(step.error) > settings.band) {
        state.steps_in_band = 0;
        return false;
    }
    // What the integral has asked for stands in the actuators by now; kept, it would ask for it again.
    state.law.integral = 0;
    state.law.bias = 0;
    const std::int64_t pause = std::max(state.pause_periods, settings.pause_periods);
    if (++state.steps_in_band >= kSettledAfterPeriods + 2 * pause) {
        state.reversals = 0;
        state.last_direction = 0;
    }
    step.outcome = StepOutcome::kInBand;
    step.reason = fmt::format("balanced: the error {:+.3f} is within the band of {:.3g}", step.error, settings.band);
    return true;
}

bool leave_alone(const RegulatorSettings& settings, RegulatorStep& step, RegulatorState& state)
{
    if (!state.let_go_error) return false;
    const bool has_changed = std::abs(step.error - *state.let_go_error) >= settings.gains.epsilon2;
    if (has_changed || state.step >= state.let_go_until) {
        state.let_go_error.reset();
        state.reversals = 0;
        state.last_direction = 0;
        return false;
    }
    state.law.integral = 0; // nobody acts on it
    step.outcome = StepOutcome::kLetGo;
    step.reason = fmt::format("let go: its actions reversed each other; left alone for {} more periods or until its "
                              "error, {:+.3f}, changes by {:.3g}",
                              state.let_go_until - state.step, step.error, settings.gains.epsilon2);
    return true;
}

bool wait_for_effect(RegulatorStep& step, const RegulatorState& state)
{
    if (state.step >= state.acts_from) return false;
    step.outcome = StepOutcome::kPaused;
    step.reason = fmt::format("{} by {:.3f}: waits {} more {} for the last action to show", bound_of(step.error),
                              std::abs(step.error), state.acts_from - state.step,
                              state.acts_from - state.step == 1 ? "period" : "periods");
    return true;
}

/// Whether a small error could be noise.
bool look_again(const RegulatorSettings& settings, RegulatorStep& step, const RegulatorState& state)
{
    if (std::abs(step.error) >= settings.gains.epsilon2 || settings.averaged_samples == 1) return false;
    const double noise = noise_of_mean(state);
    const bool is_beyond_noise = std::abs(step.error) - settings.band >= settings.noise_margin * noise;
    if (state.samples >= settings.confirming_samples && is_beyond_noise) return false;
    step.outcome = StepOutcome::kLooksAgain;
    step.reason =
        fmt::format("{} by {:.3f} in {} {}: could be noise, which is {:.3f} of that mean", bound_of(step.error),
                    std::abs(step.error), state.samples, state.samples == 1 ? "sample" : "samples", noise);
    return true;
}

/// Notes the direction of an action that is about to be done; false when it is one reversal too many.
bool may_act(const RegulatorSettings& settings, int direction, RegulatorStep& step, RegulatorState& state)
{
    std::int64_t pause = std::max(state.pause_periods, settings.pause_periods);
    if (state.last_direction == -direction) {
        ++state.reversals;
        pause = std::min(std::max<std::int64_t>(1, 2 * pause), std::max(kMaxPausePeriods, settings.pause_periods));
        state.law.integral = 0;
    }
    state.pause_periods = pause;
    state.last_direction = direction;
    if (state.reversals < settings.let_go_reversals) {
        state.acts_from = state.step + 1 + pause;
        return true;
    }
    state.let_go_error = step.error;
    state.let_go_until = state.step + settings.let_go_periods;
    step.outcome = StepOutcome::kLetGo;
    step.actions = {};
    step.reason = fmt::format("let go: {} actions reversed each other, so that it does not settle; left alone for {} "
                              "periods or until its error, {:+.3f}, changes by {:.3g}",
                              state.reversals, settings.let_go_periods, step.error, settings.gains.epsilon2);
    return false;
}

/// Why nothing of what an output asks for is done.
/// @param slows_work  a lower clock was seen to.
void say_why_not(const BalanceActions& asked, const BalanceActions& allowed, bool slows_work, RegulatorStep& step)
{
    const std::string bound = fmt::format("{} by {:.3f}", bound_of(step.error), std::abs(step.error));
    step.outcome = StepOutcome::kNeutral;
    if (!asked.any()) {
        step.reason = fmt::format("{}: the output {:+.3f} asks for nothing", bound, step.output);
    } else if (step.error * step.output < 0) {
        step.reason = fmt::format("{}: the output {:+.3f} is against the error: nothing is done", bound, step.output);
    } else if (asked.clock_mhz != allowed.clock_mhz) {
        step.outcome = StepOutcome::kNoRoom;
        step.reason = fmt::format("{}: the output {:+.3f} asks for {}, but the clock stays: {}", bound, step.output,
                                  action_text(asked),
                                  slows_work ? "when it was lower, the work was slower"
                                             : "neither link nor unit is so saturated that the work would not slow "
                                               "down with it");
    } else {
        step.outcome = StepOutcome::kNoRoom;
        step.reason = bound + ": no actuator is there that can bring it nearer to balance";
    }
}

void choose_actions(const RegulatorSettings& settings, const UnitPosition& position, RegulatorStep& step,
                    RegulatorState& state)
{
    const bool is_aimd = settings.law == ControlLaw::kAimd;
    const BalanceActions asked =
        is_aimd ? aimd_actions(step.error, position) : look_up_actions(settings.table, step.output);
    const BalanceActions wanted = permitted(settings, asked, position, step.occupancies, state);
    step.actions = plan_actions(wanted, position, settings.plan,
                                is_aimd ? std::nullopt : wanted_capacity(step.occupancies), state.before);
    if (!step.actions.any()) {
        say_why_not(asked, wanted, state.slowing_clock.has_value(), step);
        return;
    }
    if (!may_act(settings, direction_of(step.output), step, state)) return;
    step.outcome = StepOutcome::kActed;
    step.reason = fmt::format("{} by {:.3f}: the output {:+.3f} asks for {}", bound_of(step.error),
                              std::abs(step.error), step.output, action_text(step.actions));
    if (step.actions != asked) step.reason += ", as far as there is room and balance needs";
}

/// The largest change of a clock that the table has.
std::int64_t largest_clock_step(const ActionTable& table)
{
    std::int64_t largest = 0;
    for (const ActionRow& row : table)
        largest = std::max(largest, std::abs(row.actions.clock_mhz));
    return largest;
}

/// Where the work is slower by as much as the clock is, the clock goes back, and stays there.
bool give_clock_back(const RegulatorSettings& settings, const UnitPosition& position, RegulatorStep& step,
                     RegulatorState& state)
{
    if (state.let_go_error || state.step < state.acts_from) return false;
    // As with errors: what is far off is seen at once.
    const bool is_confirmed = state.samples >= settings.confirming_samples;
    const double margin = is_confirmed ? settings.noise_margin * noise_of_mean(state) : settings.gains.epsilon2;
    const std::int64_t missing =
        clock_to_give_back(position, state.before, step.occupancies, settings.plan, state.busiest_link, margin);
    const BalanceActions wanted{
        .sub_units = 0, .clock_mhz = std::min(missing, largest_clock_step(settings.table)), .precision_steps = 0};
    step.actions = plan_actions(wanted, position, settings.plan, std::nullopt);
    if (!step.actions.any()) return false;
    state.acts_from = state.step + 1 + std::max(state.pause_periods, settings.pause_periods);
    state.slowing_clock = {position.clock->mhz, step.occupancies.transfer};
    step.outcome = StepOutcome::kActed;
    step.reason =
        fmt::format("the link is at {:.3f} and was at {:.3f}, the unit at {:.3f}, and the clock is lower "
                    "than it was before: {}, so that the work is not slower",
                    step.occupancies.transfer, state.busiest_link, step.occupancies.load, action_text(step.actions));
    return true;
}

} // namespace

std::string_view to_string(StepOutcome outcome)
{
    switch (outcome) {
    case StepOutcome::kActed:
        return "acted";
    case StepOutcome::kInBand:
        return "in_band";
    case StepOutcome::kNeutral:
        return "neutral";
    case StepOutcome::kPaused:
        return "paused";
    case StepOutcome::kLooksAgain:
        return "looks_again";
    case StepOutcome::kNoRoom:
        return "no_room";
    case StepOutcome::kLetGo:
        return "let_go";
    case StepOutcome::kNoSample:
        return "no_sample";
    }
    return "";
}

RegulatorStep regulate(const RegulatorSettings& settings, const Occupancies& sample, const UnitPosition& position,
                       RegulatorState& state)
{
    RegulatorStep step;
    step.sample = sample;
    step.occupancies = average(settings, sample, state);
    step.error = balance_error(step.occupancies);
    note_position(position, state.before);
    watch_link(settings, position, step.occupancies, state);
    if (position.sub_units) step.wanted_sub_units = wanted_sub_units(position.sub_units->count, step.occupancies);
    compute_output(settings, position, step, state);
    const bool is_held = hold_in_band(settings, step, state) || leave_alone(settings, step, state);
    if (!give_clock_back(settings, position, step, state) && !is_held && !wait_for_effect(step, state) &&
        !look_again(settings, step, state))
        choose_actions(settings, position, step, state);
    ++state.step;
    return step;
}

RegulatorStep skip_step(const std::string& why, RegulatorState& state)
{
    RegulatorStep step;
    step.reason = "no sample: " + why;
    state.law.has_previous = false;
    state.law.derivative = 0;
    state.samples = 0;
    ++state.step;
    return step;
}

} // namespace fathom
