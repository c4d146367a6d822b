#pragma once

#include <optional>
#include <string_view>

/// The control law (spec 3, R3), one step at a time.
namespace fathom {

/// The output is held in [−kMaxOutput, kMaxOutput].
inline constexpr double kMaxOutput = 0.9;

enum class ControlLaw {
    kPid,  ///< quick and exact
    kPi,   ///< exact balance, not moved by short disturbances
    kPd,   ///< quick reaction, no exact balance
    kAimd, ///< additive increase, multiplicative decrease: no gains, for comparison and as a fallback (aimd.hpp)
};
std::string_view to_string(ControlLaw law);
std::optional<ControlLaw> parse_control_law(std::string_view text);

struct Gains {
    double proportional{}; ///< K_p
    double integral{};     ///< K_i
    double derivative{};   ///< K_d

    bool operator==(const Gains&) const = default;
};

/// What keeps the integral from growing while the output cannot follow.
enum class AntiWindup {
    kNone,
    kClamping,        ///< an error that would drive the output further beyond its limit is not added
    kBackCalculation, ///< the integral is set back by as much as the output is beyond its limit, but not past 0
};
std::string_view to_string(AntiWindup kind);
std::optional<AntiWindup> parse_anti_windup(std::string_view text);

/// How the sum of R3 is kept. With constant gains both are the same but for rounding.
enum class IntegralForm {
    kSum,  ///< K_i·Σe: a change of K_i changes the output at once
    kTerm, ///< ΣK_i·e, each error by the gain of its time: gains change without a jump
};

struct LawOptions {
    AntiWindup anti_windup = AntiWindup::kClamping;
    IntegralForm integral = IntegralForm::kTerm;
    /// Low-pass of the derivative, in [0, 1): how much of the derivative of the step before is kept. The derivative is
    /// that of the measurement P_d − P_p with its sign turned, which is that of the error, since the set-point is 0.
    double derivative_memory = 0.5;

    bool operator==(const LawOptions&) const = default;

    /// R3 to the bit: K_p·e(k) + K_i·Σe(j) + K_d·(e(k) − e(k−1)), held in its limits.
    static constexpr LawOptions plain() { return {AntiWindup::kNone, IntegralForm::kSum, 0}; }
};

/// In which direction actuators can still move: without room the integral does not grow.
struct ActuatorRoom {
    bool for_negative = true; ///< what an output below 0 asks for can be done, in part at least
    bool for_positive = true;
};

/// What a law remembers from step to step.
struct LawState {
    std::optional<ControlLaw> law; ///< of the step before
    double previous_error = 0;
    bool has_previous = false;
    double integral = 0;   ///< Σe, or ΣK_i·e
    double derivative = 0; ///< after the low-pass
    double bias = 0;       ///< makes a change of the law continuous; halves with each step
    double output = 0;     ///< of the step before
};

/// One step: the output u(k). In the first step there is no derivative. A law that differs from that of the step before
/// begins at the output of that step, and comes to its own within a few steps. kAimd is none of these laws: its output
/// only says the direction.
/// @param error  e(k), in [−1, 1].
double control_output(ControlLaw law, const Gains& gains, double error, const LawOptions& options, ActuatorRoom room,
                      LawState& state);

} // namespace fathom
