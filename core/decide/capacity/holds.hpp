#pragma once

#include "core/decide/capacity/availability.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Units that advance reservations keep for the jobs of projects.
namespace fathom {

/// Units that are kept for the jobs of one project. Seconds count from now.
struct Hold {
    std::string project;
    double from_s{};
    double to_s{};
    std::int64_t unit_count{};
};

/// A time in which a unit type takes no work. Seconds count from now.
struct Closure {
    double from_s{};
    double to_s{};
};

/// Lets a job use what is kept for its project: while it has its units (`job`), as many need not be kept free as well.
/// Holds of other projects, and units beyond what its project has kept, stay as they are; a hold that begins before the
/// job or outlasts it is split.
void use_holds(std::vector<Hold>& holds, const Hold& job);

/// The units of a type as the jobs of `project` may have them: what holds keep for other projects is taken.
Availability open_to(std::string_view project, const Availability& availability, std::span<const Hold> holds);

/// The end of the closure that a start at `start_s` waits for, as it begins within a second of that end; 0 when there
/// is none. What a job that waits is told: "starts after the maintenance".
double closed_until(std::span<const Closure> closures, double start_s);

} // namespace fathom
