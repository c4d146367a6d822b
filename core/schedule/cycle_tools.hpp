#pragma once

#include "core/schedule/decided_ledger.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/wanted_places.hpp"

#include <cstddef>
#include <span>

namespace fathom {

/// What the steps of one schedule() work with, all of which must outlive them; part of core/schedule/schedule.
struct CycleTools {
    const ScheduleInput* input;
    DecidedLedger* ledger; ///< the units and quotas that the starts and plans so far have left
    WantedPlaces* places;  ///< of that ledger

    std::span<const ReadyJob> jobs() const { return input->jobs; }
    const ReadyJob& job(std::size_t index) const { return input->jobs[index]; }
};

} // namespace fathom
