#pragma once

#include "core/decide/prediction/neighbours.hpp"
#include "core/decide/routing/unit_type_view.hpp"

namespace fathom {

/// What others are expected to hold of a host while a job has units of one of its types.
struct HostLoad {
    HeldCores held;
    /// Σ over the cores that are expected to be held of their jobs' sensitivity: seconds of cores that a bubble of one
    /// core costs them in a second.
    double sensitivity{};
};

/// What others hold of a host on average.
struct HeldOfHost {
    double units{};       ///< of the type
    double other_cores{}; ///< of units of other types
};

/// Beside a job that has so many units. The more is held, the more cores `held` has, and the more bubbles these make.
HostLoad host_load(const UnitTypeView& view, std::int64_t unit_count, const HeldOfHost& held);

/// On average from `start_s` to `end_s`, while a job has so many units: of the other units of the type, and of what
/// units of other types have on the host.
HostLoad host_load(const UnitTypeView& view, std::int64_t unit_count, double start_s, double end_s);

} // namespace fathom
