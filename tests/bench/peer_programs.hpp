#pragma once

#include "core/base/result.hpp"
#include "core/model/formula.hpp"
#include "tests/bench/bare_operators.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fathom::bench {

/// What a benchmark program measured that is an operator of ours at some size.
struct PeerFigure {
    std::string operator_id;
    Parameters parameters;
    double seconds{}; ///< of one execution
    int best_of{1};   ///< it is the best of so many; 1: a mean
    /// Where no operator does the same: a loop of this benchmark that does.
    std::function<std::unique_ptr<BareOperator>()> make_loop{};
};

/// A benchmark program of others.
struct PeerProgram {
    std::string name;
    int cores{1};
    /// Runs it once, on the cores that this process may use.
    /// @error kUnavailable  it is not installed, or fails: with its words.
    std::function<Result<std::vector<PeerFigure>>()> run;
};

/// HPC Challenge in one process (dgemm, fft1d, stream_triad, random_access, random_updates), likwid-bench
/// (stream_triad), and MPI_Allreduce in two (reduction), by the program `allreduce` if it is not empty.
///
/// HPCC's RandomAccess makes updates that need not wait for each other. The same updates of an equal table in a loop of
/// our own are `random_updates`: like beside like. `random_access` puts as many accesses of our operator, each of which
/// waits for the one before, to as much memory beside HPCC's updates: less than 1 by nature, and the smaller, the more
/// accesses the processor has under way at once.
std::vector<PeerProgram> peer_programs(const std::string& allreduce);

} // namespace fathom::bench
