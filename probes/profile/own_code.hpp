#pragma once

#include "core/decide/probing/match_code.hpp"
#include "core/model/operator_manifest.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::profile {

class ProgramCounters;
struct ObservedCalls;

/// A loop of the program's own code, outside library calls.
struct OwnLoop {
    std::string file;       ///< its name without folders
    std::uint64_t offset{}; ///< of the loop in the file
    double share{};         ///< of the program's thread time
    CodeMix mix;
    std::string operator_id; ///< the nearest one; empty: none is near enough, or the loop only waits
    double similarity{};     ///< to the nearest operator of all, 0..1
    std::string stand_in;    ///< the nearest one of those that devices have, too: it stands for the loop; empty: none
    double stand_in_similarity{}; ///< to that one
};

/// What a program computes outside library calls, found by sampling.
struct OwnCode {
    std::vector<OwnLoop> loops; ///< by falling share, at most 16
    double others{};            ///< of the program's thread time: computing in code that no loop of these is
    std::string why_none;       ///< for people; empty: loops were looked for
};

/// Finds the loops, and the nearest operator of each.
/// @param running  of the program's thread time: computing outside library calls
/// @param cpu_s    processor time of the program and all that it started: what of it was not seen is other code
/// @param called   library functions that were counted: what is seen in the libraries that have them is no code of the
///                 program's own
OwnCode find_own_code(const ProgramCounters& counters, double running, double cpu_s,
                      const std::vector<ObservedCalls>& called, const std::vector<OperatorManifest>& library);

} // namespace fathom::profile
