#pragma once

#include "core/base/result.hpp"
#include "core/model/formula.hpp"

#include <functional>
#include <string>
#include <vector>

namespace fathom::bench {

/// What a benchmark program measured that is an operator of ours at some size.
struct PeerFigure {
    std::string operator_id;
    Parameters parameters;
    double seconds{}; ///< of one execution
    int best_of{1};   ///< it is the best of so many; 1: a mean
};

/// A benchmark program of others.
struct PeerProgram {
    std::string name;
    int cores{1};
    /// Runs it once, on the cores that this process may use.
    /// @error kUnavailable  it is not installed, or fails: with its words.
    std::function<Result<std::vector<PeerFigure>>()> run;
};

/// HPC Challenge in one process (dgemm, fft1d, stream_triad), likwid-bench (stream_triad), and MPI_Allreduce in two
/// (reduction), by the program `allreduce` if it is not empty. HPCC's RandomAccess counts updates that need not wait
/// for each other; our random_access waits for each: nothing to compare.
std::vector<PeerProgram> peer_programs(const std::string& allreduce);

} // namespace fathom::bench
