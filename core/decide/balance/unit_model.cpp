#include "core/decide/balance/unit_model.hpp"

#include "core/decide/balance/occupancy.hpp"
#include "core/decide/balance/precision.hpp"

#include <algorithm>

namespace fathom {

ModelState run_model(const UnitModel& model, const ModelPosition& position)
{
    const double clock = position.clock_mhz / model.base_clock_mhz;
    const double shorter = static_cast<double>(bits_of(model.base_precision)) / bits_of(position.precision);
    const double peak = position.sub_units * model.sub_unit_rate * clock * shorter;
    const double rate = std::min({peak, model.link_rate, model.demand_rate * clock});
    return {.occupancies = {rate / model.link_rate, peak > 0 ? rate / peak : 0},
            .rate = rate,
            .watts = position.sub_units * model.watts_per_sub_unit * clock};
}

Occupancies measured(const Occupancies& occupancies, const MeasurementNoise& noise)
{
    return {std::clamp(occupancies.transfer + noise.transfer, 0.0, 1.0),
            std::clamp(occupancies.load + noise.load, 0.0, 1.0)};
}

void DelayedPosition::advance(const ModelPosition& told)
{
    std::rotate(pipeline_.begin(), pipeline_.begin() + 1, pipeline_.end());
    pipeline_.back() = told;
}

} // namespace fathom
