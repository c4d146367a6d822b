#pragma once

#include <cstdint>
#include <vector>

/// The processes that MPI has started.
namespace fathom::probes {

/// What a process knows of all.
struct MpiWorld {
    int rank{}; ///< this process
    int size{}; ///< all
    /// The hosts that they run on, as MPI tells them apart: by shared memory.
    int hosts{};
    /// Whom rank 0 exchanges messages with, in turn: the first rank of each other host; on one host the last rank.
    std::vector<int> peers;
    /// On some host there are more processes than processors that they may use.
    bool is_crowded{};

    /// The place in `peers`; -1 of one that is not in there.
    int peer_index() const;
};

/// Between MPI_Init and MPI_Finalize; every process must call it. Binds each process to a processor of its own among
/// those that it may use, where there are enough.
MpiWorld join_world();

} // namespace fathom::probes
