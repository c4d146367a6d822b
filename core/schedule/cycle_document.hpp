#pragma once

#include "core/schedule/schedule.hpp"

#include <string>
#include <string_view>
#include <vector>

/// All that one call of schedule() took, as documents, so that it can be decided again bit for bit, anywhere.
///
/// A cycle refers to a catalog (unit types, and what was learned from jobs that have run), which many cycles share. It
/// is written in parts, and what has not changed in it is the same part, byte for byte: who keeps parts by what they
/// contain keeps each once. Documents are bytes with a version; readers take nothing that schedule() could not decide
/// on.
namespace fathom {

/// Of the documents that are written.
inline constexpr std::uint64_t kCycleVersion = 6;
/// Those from here on are read, so that cycles of before an update can be replayed; others are refused.
inline constexpr std::uint64_t kOldestCycleVersion = 2;

/// What a cycle decides on, beside the catalog.
struct CycleMoment {
    Timestamp now{};
    UnitCalendar calendar;
    std::vector<Reservation> reserved; ///< what attempts hold
    std::vector<Reservation> planned;  ///< for jobs that the pass has looked at before
    std::vector<KnownGpuRoom> gpu_rooms;
    ScheduleInput input;
};

/// The jobs' kinds are numbered as they are met; nothing else of the moment is lost.
std::string write_cycle(const CycleMoment& moment);
/// @error kInvalid  it is no such document, or none of this version
Result<CycleMoment> read_cycle(std::string_view document);

} // namespace fathom
