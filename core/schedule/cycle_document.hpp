#pragma once

#include "core/schedule/schedule.hpp"

#include <string>
#include <string_view>
#include <vector>

/// All that one call of schedule() took, as documents, so that it can be decided again bit for bit, anywhere.
///
/// A cycle refers to a catalog (unit types with their loads, and what was learned from jobs that have run), which many
/// cycles share. The
/// catalog is written in parts. A part whose content has not changed is the same, byte for byte, so that a store that
/// finds parts by their content keeps each once. Documents are bytes with a version; readers refuse what schedule()
/// could not decide on.
namespace fathom {

/// Version of the documents that are written.
inline constexpr std::uint64_t kCycleVersion = 19;
/// The oldest version that is read, so that cycles from before an update can be replayed; older ones are refused.
inline constexpr std::uint64_t kOldestCycleVersion = 2;

/// What a cycle decides on, beside the catalog.
struct CycleMoment {
    Timestamp now{};
    UnitCalendar calendar;
    std::vector<Reservation> reserved; ///< what attempts hold
    std::vector<Reservation> planned;  ///< for jobs of earlier batches of the cycle
    std::vector<KnownGpuRoom> gpu_rooms;
    std::vector<KnownGpus> gpus;
    ScheduleInput input;

    /// How the units are then. Refers to the lists above.
    UnitState unit_state() const
    {
        return {.calendar = &calendar,
                .reserved = reserved,
                .planned = planned,
                .now = now,
                .gpu_rooms = gpu_rooms,
                .gpus = gpus};
    }
};

/// Kinds of jobs are written as numbers, in the order in which they occur, and the loads are the catalog's; nothing
/// else of the moment is lost.
std::string write_cycle(const CycleMoment& moment);
/// @error kInvalid  it is no such document, or none of this version
Result<CycleMoment> read_cycle(std::string_view document);

} // namespace fathom
