#pragma once

#include "simulator/world/scenario.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

namespace fathom::simulation {

/// In the order in which they are dealt with at one moment.
enum class EventKind : std::uint8_t { kEnd, kRepair, kBreak, kOpen };

/// Something that is going to happen in a simulation.
struct Event {
    double at_s{};
    EventKind kind{};
    std::uint32_t subject{}; ///< job, unit type or center
    std::uint16_t attempt{}; ///< of a job: the end of an attempt that was broken off is none

    /// Whether it comes after the other one. Those that are alike in all of this may come in any order.
    bool operator>(const Event& other) const
    {
        return std::tie(at_s, kind, subject, attempt) > std::tie(other.at_s, other.kind, other.subject, other.attempt);
    }
};

/// The ends of all closures of centers.
std::vector<Event> openings_of(const Network& network);

} // namespace fathom::simulation
