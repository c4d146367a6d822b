#pragma once

#include "agent/catalog/unit_plan.hpp"
#include "agent/executor/executor.hpp"

namespace fathom::agent {

/// Hands a job the devices of its units, and hides those of others: the variable of each kind of device that this
/// center cuts units from (CUDA_VISIBLE_DEVICES, or what the center describes) names the job's devices, or none,
/// whatever stood there, and the device files of the others are to be hidden. FATHOM_DEVICES has their names. With
/// DeviceSharing::kMps also the share of each GPU's threads and memory. A job whose units have no cores of their own
/// gets the processors that they run on.
/// @param type   one of the plan.
/// @param units  of it, by index; others are ignored.
void pass_devices(RunOrder& run, const UnitPlan& plan, const UnitType& type, const std::vector<std::int64_t>& units);

} // namespace fathom::agent
