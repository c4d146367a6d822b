#pragma once

#include "core/decide/prediction/device_choice.hpp"
#include "core/decide/routing/route_search.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// Which of CPU and GPU a job goes to at a center that has both (S6, S7); part of core/decide/routing/route.
namespace fathom {

/// What S6 says of a GPU unit type against the fastest CPU unit type of its center.
struct DeviceRuling {
    std::uint32_t cpu{}; ///< index of the unit type
    std::uint32_t gpu{}; ///< index of the unit type
    DeviceTerms terms;
    SpeedupAnswer answer;
};

/// A place that S6 speaks against.
struct SetAside {
    Found found;
    DeviceRuling ruling;
};

/// Whether S6 has a say: the request follows the threshold, is no probe, and names neither a unit type nor a device nor
/// GPU memory itself.
bool follows_ruling(const RouteRequest& request);

/// Takes from the feasible places, which are in order, those that Filter::kSpeedup removes, and puts the others in the
/// order that they have without them:
/// - a GPU unit type whose N against the fastest CPU unit type of its center is not above the threshold, where a CPU
///   place of this center ends at most threshold times as late, and is at most threshold times as bad for the job;
/// - a CPU unit type where N of a GPU place of its center is above the threshold, and that place starts and ends no
///   later and is no worse for the job.
/// So at a threshold of 1 nothing is set aside but for a place that is at least as good; and if the best place that is
/// left were later or worse than the best of all by more than the threshold (by anything where no GPU was the best),
/// nothing is set aside at all. Nor is it where not all of the job was measured on both, or b, which is not measured,
/// could decide otherwise.
/// @param most  of the feasible places are looked at; what is left are some of these, and a center's fastest CPU unit
///              type where GPUs are set aside for it.
std::vector<SetAside> set_devices_aside(const RouteRequest& request, RouteTable::Impl& table, RouteKind& kind,
                                        PlaceChooser& chooser, std::size_t most, RouteSearch& found);

/// "on alpha/gpu the job is 0.495 times as fast as on alpha/core, not more than the threshold 1: …", for people.
std::string ruling_reason(const DeviceRuling& ruling, const UnitTypeList& unit_types);

/// The steps of kSpeedup in a trace: by center, in order of name.
FilterStep speedup_step(const std::vector<SetAside>& aside, const UnitTypeList& unit_types);

/// How fast data leave a unit of the type.
UnitTransfers transfers_of(const UnitTypeView& view);

/// What S6 is asked on for this request, without what a center says.
DeviceTerms device_terms(const RouteRequest& request);

} // namespace fathom
