#include "core/decide/balance/control_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace fathom {
namespace {

constexpr std::array<std::pair<ControlLaw, std::string_view>, 4> kLawNames{
    {{ControlLaw::kPid, "pid"}, {ControlLaw::kPi, "pi"}, {ControlLaw::kPd, "pd"}, {ControlLaw::kAimd, "aimd"}}};
constexpr std::array<std::pair<AntiWindup, std::string_view>, 3> kAntiWindupNames{
    {{AntiWindup::kNone, "none"},
     {AntiWindup::kClamping, "clamping"},
     {AntiWindup::kBackCalculation, "back_calculation"}}};

constexpr double kBiasLeft = 0.5; ///< after each step

double integral_part(const Gains& gains, const LawOptions& options, const LawState& state)
{
    return options.integral == IntegralForm::kSum ? gains.integral * state.integral : state.integral;
}

/// Whether an output cannot take effect in full.
bool is_beyond(double output, ActuatorRoom room)
{
    return output < -kMaxOutput || output > kMaxOutput || (output < 0 && !room.for_negative) ||
           (output > 0 && !room.for_positive);
}

/// Takes an excess of the output out of the integral, no further than to 0: beyond, it would act against the error.
void set_back(const Gains& gains, const LawOptions& options, double excess, LawState& state)
{
    const double part = integral_part(gains, options, state);
    if (excess * part <= 0) return;
    const double left = std::abs(excess) < std::abs(part) ? part - excess : 0;
    state.integral = options.integral == IntegralForm::kTerm ? left : left / gains.integral;
}

/// The integral's part of this step; `rest` is that of the others.
double integrate(const Gains& gains, double error, const LawOptions& options, ActuatorRoom room, double rest,
                 LawState& state)
{
    const double before = state.integral;
    state.integral += options.integral == IntegralForm::kSum ? error : gains.integral * error;
    const double output = rest + integral_part(gains, options, state);
    switch (options.anti_windup) {
    case AntiWindup::kNone:
        break;
    case AntiWindup::kClamping:
        if (is_beyond(output, room) && error * output > 0) state.integral = before;
        break;
    case AntiWindup::kBackCalculation: {
        const double excess = output - std::clamp(output, -kMaxOutput, kMaxOutput);
        if (excess == 0 && is_beyond(output, room) && error * output > 0) state.integral = before;
        set_back(gains, options, excess, state);
        break;
    }
    }
    return integral_part(gains, options, state);
}

} // namespace

std::string_view to_string(ControlLaw law)
{
    return kLawNames.at(static_cast<std::size_t>(law)).second;
}

std::optional<ControlLaw> parse_control_law(std::string_view text)
{
    for (const auto& [law, name] : kLawNames) {
        if (name == text) return law;
    }
    return std::nullopt;
}

std::string_view to_string(AntiWindup kind)
{
    return kAntiWindupNames.at(static_cast<std::size_t>(kind)).second;
}

std::optional<AntiWindup> parse_anti_windup(std::string_view text)
{
    for (const auto& [kind, name] : kAntiWindupNames) {
        if (name == text) return kind;
    }
    return std::nullopt;
}

double control_output(ControlLaw law, const Gains& gains, double error, const LawOptions& options, ActuatorRoom room,
                      LawState& state)
{
    const double change = state.has_previous ? error - state.previous_error : 0;
    state.derivative = options.derivative_memory * state.derivative + (1 - options.derivative_memory) * change;
    double output = gains.proportional * error;
    if (law == ControlLaw::kPid || law == ControlLaw::kPi) {
        const double rest = law == ControlLaw::kPid ? output + gains.derivative * state.derivative : output;
        output += integrate(gains, error, options, room, rest, state);
    }
    if (law == ControlLaw::kPid || law == ControlLaw::kPd) output += gains.derivative * state.derivative;
    if (state.law && *state.law != law) state.bias = state.output - output;
    output += state.bias;
    state.bias *= kBiasLeft;
    state.law = law;
    state.previous_error = error;
    state.has_previous = true;
    state.output = std::clamp(output, -kMaxOutput, kMaxOutput);
    return state.output;
}

} // namespace fathom
