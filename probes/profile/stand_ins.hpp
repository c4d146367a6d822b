#pragma once

#include "core/model/probe_task.hpp"
#include "probes/profile/profile.hpp"

#include <string>
#include <vector>

namespace fathom::profile {

/// What stands for a part of the remainder: a size that one execution takes milliseconds for, or some tenths of a
/// second.
struct StandIn {
    std::string remainder; ///< OperatorUse::remainder
    std::string id;
    Parameters parameters;
    double share{};       ///< of the program's thread time
    double similarity{1}; ///< of the loops that it stands for, 0..1
};

/// Operators that the remainder may need beside those of library calls.
inline constexpr std::size_t kMaxStandIns = 10;

/// The parts of the remainder that take at least 0.5 % of the time. Loops that were matched stand as their operators,
/// at a size beyond the caches as far as the remainder is bound by memory, at one within as far as it computes; loops
/// that are like none stand as a triad and as sines, the less alike the farther they are from all operators. At most
/// kMaxStandIns, with the shares of the remainder.
std::vector<StandIn> stand_ins(const Remainder& remainder, const OwnCode& code);

/// Every operator and size that stand_ins() may give, each once, without shares.
std::vector<StandIn> possible_stand_ins();

} // namespace fathom::profile
