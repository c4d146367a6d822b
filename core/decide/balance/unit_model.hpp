#pragma once

#include "core/decide/balance/action_plan.hpp"

#include <vector>

/// A unit as arithmetic, for tests, benchmarks and dry runs (spec 3, R9): a link feeds sub-units that compute. Neither
/// can do more than it can; what limits the unit is saturated and the other waits.
namespace fathom {

/// What a unit is made of and asked for. Rates in any unit of operations, TOPS in R9.
struct UnitModel {
    double sub_unit_rate{};  ///< peak of one sub-unit at `base_clock_mhz` and `base_precision`
    double base_clock_mhz{}; ///<
    Precision base_precision = Precision::kInt8;
    double link_rate{};   ///< operations that the link's bandwidth feeds at most
    double demand_rate{}; ///< operations asked for at the base clock; grows with the clock, as what is moved does
    double watts_per_sub_unit{1}; ///< at the base clock; power is proportional to the clock
};

struct ModelPosition {
    double sub_units{};
    double clock_mhz{};
    Precision precision = Precision::kInt8;
};

struct ModelState {
    Occupancies occupancies;
    double rate{}; ///< operations done a second
    double watts{};
};

/// How a unit runs at a position. Coarser numbers raise the peak by as much as they are shorter; what the link moves
/// for an operation stays.
ModelState run_model(const UnitModel& model, const ModelPosition& position);

/// Errors of a measurement, drawn by the caller.
struct MeasurementNoise {
    double transfer{};
    double load{};
};
/// Measured occupancies: the true ones and the noise, held in [0, 1].
Occupancies measured(const Occupancies& occupancies, const MeasurementNoise& noise);

/// Actions that take effect some periods later.
class DelayedPosition {
  public:
    DelayedPosition(const ModelPosition& start, std::int64_t delay_periods)
        : pipeline_(static_cast<std::size_t>(delay_periods) + 1, start)
    {
    }

    /// As the actuators were told last.
    const ModelPosition& told() const { return pipeline_.back(); }
    /// As the unit runs now.
    const ModelPosition& in_effect() const { return pipeline_.front(); }
    /// The next period, with what the actuators are told in it.
    void advance(const ModelPosition& told);

  private:
    std::vector<ModelPosition> pipeline_;
};

} // namespace fathom
