#pragma once

#include "probes/operators/cpu_implementation.hpp"

#include <string_view>

/// What the MPI operators share: processes that MPI starts (probes/mpi) execute them, and time themselves.
namespace fathom::probes {

/// Between whom.
enum class MpiRanks {
    kTwo, ///< on one host no more are needed; on several hosts rank 0 exchanges with a rank of each other host in turn
    kAll,
};

/// @param kind     of exchange: "latency", "bandwidth", "allreduce" or "alltoall"
/// @param size     its parameter
/// @param threads  processors that may be used on this host, at least 1
std::unique_ptr<ProbeOperator> make_mpi_operator(std::string_view kind, MpiRanks ranks, std::int64_t size, int threads);

/// Bytes that the processes on this host need.
/// @param bytes_each  of one process, as a function of how many there are at most
double mpi_memory(MpiRanks ranks, double (*bytes_each)(double size, double processes), std::int64_t size);

} // namespace fathom::probes
