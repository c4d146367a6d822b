#pragma once

#include "core/decide/balance/action_plan.hpp"
#include "core/decide/balance/fuzzy_gains.hpp"

#include <cstdint>
#include <vector>

namespace fathom {

/// Of a unit's loop (core/decide/balance/regulator).
struct RegulatorSettings {
    ControlLaw law = ControlLaw::kPid;
    LawOptions law_options;
    GainSchedule gains;
    FuzzySettings fuzzy;
    double band = 0.05; ///< nothing is done while |e| is within it
    ActionTable table = default_action_table();
    PlanRules plan;
    /// The law sees the mean of so many samples at most, since an action showed or the error jumped by ε2. 1: each
    /// alone.
    std::int64_t averaged_samples = 16;
    std::int64_t confirming_samples = 3; ///< that a mean needs before an error below ε2 is acted on
    double noise_margin = 1.5;           ///< standard errors of the mean by which such an error must be beyond the band
    std::int64_t pause_periods = 1;      ///< after an action, until it shows in the counters
    std::int64_t let_go_reversals = 4;   ///< so many actions against the one before, and the unit is let go
    std::int64_t let_go_periods = 60;    ///< how long it is left alone then, unless its error changes by ε2
    double most_sample_age_s = 5;

    bool operator==(const RegulatorSettings&) const = default;
};

/// Reads `{"law", "anti_windup", "integral_form", "derivative_memory", "band", "gains": {…}, "fuzzy": {…}, "actions":
/// […], "actuators": […], "use", "stops_at_balance", "keeps_work", "averaged_samples", "confirming_samples",
/// "noise_margin", "pause_periods", "let_go_reversals", "let_go_periods", "most_sample_age_s"}`; what is left out has
/// its default. Other fields are left to the caller of `reader`. Errors go to the list.
RegulatorSettings read_regulator_settings(ObjectReader& reader, std::vector<FieldError>& errors);

} // namespace fathom
