#pragma once

#include "core/decide/balance/regulator_settings.hpp"

#include <cstdint>
#include <optional>
#include <string>

/// One unit's loop, one sampling period at a time (spec 3, R2–R6). Pure: the same settings, state and input give the
/// same step, so that a trace can be decided again.
namespace fathom {

enum class StepOutcome {
    kActed,      ///< something is to be done
    kInBand,     ///< balanced
    kNeutral,    ///< the output asks for nothing
    kPaused,     ///< the last action does not show yet
    kLooksAgain, ///< a small error that too few samples show
    kNoRoom,     ///< no actuator is there or can go further
    kLetGo,      ///< it does not settle and is left alone
    kNoSample    ///< no sample, or none that can be trusted
};
std::string_view to_string(StepOutcome outcome);

/// A clock at which the work was slower than at a higher one.
struct SlowingClock {
    std::int64_t mhz{};
    double transfer{}; ///< occupancy of the link at it
};

/// What the regulator remembers of a unit.
struct RegulatorState {
    LawState law;
    std::int64_t step = 0;
    Occupancies mean{};
    std::int64_t samples = 0;       ///< in the mean
    double noise_variance = 0;      ///< of the error of one sample about the mean, smoothed
    std::int64_t acts_from = 0;     ///< the step from which on it may act again
    std::int64_t pause_periods = 0; ///< grows when actions reverse each other; 0: that of the settings
    int last_direction = 0;         ///< of the last action: −1 or 1
    std::int64_t reversals = 0;
    std::int64_t steps_in_band = 0; ///< in a row
    std::optional<double> let_go_error{};
    std::int64_t let_go_until = 0;
    UnitPosition before{};   ///< of each actuator when it was seen first: as it was before the loop
    double busiest_link = 0; ///< the highest mean occupancy of the link: one that was busier is not saturated
    /// The clock was given back from there; it is not lowered again until the unit has changed.
    std::optional<SlowingClock> slowing_clock{};
};

/// One step, as it stands in the trace.
struct RegulatorStep {
    StepOutcome outcome = StepOutcome::kNoSample;
    Occupancies sample{};      ///< as measured
    Occupancies occupancies{}; ///< the mean that was acted on
    double error = 0;          ///< e
    double change = 0;         ///< ec
    GainRegion region = GainRegion::kNearSlow;
    Gains gains{};     ///< in use
    double output = 0; ///< u
    BalanceActions actions{};
    std::optional<std::int64_t> wanted_sub_units{}; ///< R8, where there are sub-units
    std::string reason;                             ///< one sentence for people
};

/// One step with a sample.
RegulatorStep regulate(const RegulatorSettings& settings, const Occupancies& sample, const UnitPosition& position,
                       RegulatorState& state);

/// A step without one: nothing is done, and the next change of the error counts from the next sample.
RegulatorStep skip_step(const std::string& why, RegulatorState& state);

} // namespace fathom
